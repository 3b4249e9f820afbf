"""The index of invitations, and of who has how many games in hand: what the log says, kept in memory.

It follows what has become durable (:meth:`Book.note`). What is on its way there counts already (:meth:`Book.expect`),
so that nobody gets past a limit by asking twice at a time.
"""

from __future__ import annotations

from collections.abc import Iterable

from gmd.games.game import Game
from gmd.players.account import is_registered

from .invitation import Invitation, invitation_of


class _Sets:
    """A set of games for each of some players, and none for those who have none."""

    def __init__(self) -> None:
        self._games: dict[int, set[int]] = {}

    def size(self, player: int) -> int:
        return len(self._games.get(player, ()))

    def put(self, player: int, game_id: int, *, there: bool) -> None:
        """Have a game in a player's set, or not."""
        if there:
            self._games.setdefault(player, set()).add(game_id)
        elif (games := self._games.get(player)) is not None:
            games.discard(game_id)
            if not games:
                del self._games[player]


class Book:
    """For every registered player: the invitations that are not done with, and how many games it has in hand."""

    def __init__(self) -> None:
        #: Those that are pending, or accepted by a player who is not known to be ready; oldest first.
        self._invitations: dict[int, dict[int, Invitation]] = {}
        self._in_hand = _Sets()
        self._out = _Sets()
        #: For each game, the invited who are ready: nobody need be told of it again.
        self._ready: dict[int, set[int]] = {}

    # --- What happens -------------------------------------------------------------------------------------------

    def note(self, game: Game) -> None:
        """A game was made, joined or ended, durably."""
        players = _registered(game.named)
        if players:
            self._count(game, players)
            if game.created.invited:
                self._index(invitation_of(game), players)

    def playing(self, game_id: int, players: Iterable[int | None]) -> None:
        """A live game of the log's, at the start."""
        for player in _registered(players):
            self._in_hand.put(player, game_id, there=True)

    def expect(self, game: Game) -> None:
        """A game is on its way to the log: it counts, and is not shown."""
        self._count(game, _registered(game.named))

    def lost(self, game: Game) -> None:
        """It did not get there."""
        for player in _registered(game.named):
            self._in_hand.put(player, game.id, there=False)
            self._out.put(player, game.id, there=False)

    def ready(self, game: Game, player: int) -> None:
        """An invited player knows of the game, and has begun to act in it, or is done with it."""
        if not game.over and invitation_of(game).accepted_by(player):
            self._ready.setdefault(game.id, set()).add(player)
            if game.begun:
                self._drop(player, game.id)

    def _count(self, game: Game, players: Iterable[int]) -> None:
        counts = not game.over and (game.begun or game.created.lapses is not None)
        for player in players:
            self._in_hand.put(player, game.id, there=counts)
            self._out.put(player, game.id, there=counts and not game.begun and player in game.players)

    def _index(self, invitation: Invitation, players: Iterable[int]) -> None:
        done = invitation.status not in ("pending", "accepted")
        if done:
            self._ready.pop(invitation.game_id, None)
        for player in players:
            waits = not done and (invitation.status == "pending" or self._is_to_be_told(invitation, player))
            self._keep(player, invitation) if waits else self._drop(player, invitation.game_id)

    def _is_to_be_told(self, invitation: Invitation, player: int) -> bool:
        """Whether an invited player may not know yet that it has accepted: the reply may have been lost."""
        return invitation.accepted_by(player) and player not in self._ready.get(invitation.game_id, ())

    def _keep(self, player: int, invitation: Invitation) -> None:
        self._invitations.setdefault(player, {})[invitation.game_id] = invitation

    def _drop(self, player: int, game_id: int) -> None:
        mine = self._invitations.get(player)
        if mine is not None and mine.pop(game_id, None) is not None and not mine:
            del self._invitations[player]

    # --- What is asked ------------------------------------------------------------------------------------------

    def received(self, player: int) -> list[Invitation]:
        """The invitations that wait for a player's answer, oldest first."""
        return [invitation for invitation in self._of(player) if invitation.awaits(player)]

    def sent(self, player: int) -> list[Invitation]:
        """The invitations of games in which the player has its seat, and that wait for another's answer."""
        return [
            invitation
            for invitation in self.pending(player)
            if any(color in invitation.taken for color in invitation.colors_of(player))
        ]

    def accepted(self, player: int) -> list[Invitation]:
        """The invitations that a player has accepted and may not know of: it has not been said to be ready."""
        return [invitation for invitation in self._of(player) if self._is_to_be_told(invitation, player)]

    def pending(self, player: int) -> list[Invitation]:
        """All that a player has sent or received, and that wait for an answer."""
        return [invitation for invitation in self._of(player) if invitation.status == "pending"]

    def in_hand(self, player: int) -> int:
        """How many games a player has: those that are on, and those it invites or is invited to for some time.

        Invitations without an end do not count: anybody may make them, and who does not answer would be shut out.
        """
        return self._in_hand.size(player)

    def out(self, player: int) -> int:
        """How many invitations of a player's wait for others' answers, other than those without an end."""
        return self._out.size(player)

    def _of(self, player: int) -> list[Invitation]:
        return list(self._invitations.get(player, {}).values())


def _registered(players: Iterable[int | None]) -> list[int]:
    return [player for player in players if player is not None and is_registered(player)]
