"""An in-memory index of the log's invitations, and of the number of games that each player has in hand.

It is updated when changes become durable (:meth:`Book.note`). Games that are not durable yet count already
(:meth:`Book.expect`), so that concurrent requests cannot exceed a limit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gmd.games.game_note import GameNote
from gmd.players.account import is_registered

from .fair_order import FairOrder, Place
from .inbox import Asker, Inbox
from .invitation import Invitation, counts_in_hand, invitation_of, inviter_of


class _Sets:
    """A set of games for each player; players with empty sets take no memory."""

    def __init__(self) -> None:
        self._games: dict[int, set[int]] = {}

    def games(self) -> set[int]:
        return set().union(*self._games.values())

    def size(self, player: int) -> int:
        return len(self._games.get(player, ()))

    def put(self, player: int, game_id: int, *, there: bool) -> None:
        """Add a game to a player's set, or remove it."""
        if there:
            self._games.setdefault(player, set()).add(game_id)
        elif (games := self._games.get(player)) is not None:
            games.discard(game_id)
            if not games:
                del self._games[player]


class _Outbox:
    """The durable invitations that a player has sent: it has its seat in their games."""

    def __init__(self) -> None:
        #: The owners are the opponents.
        self.shown = FairOrder()
        self.invitations: dict[int, Invitation] = {}


class Book:
    """For every registered player: its open invitations, and how many games it has in hand."""

    def __init__(self) -> None:
        self._inboxes: dict[int, Inbox] = {}
        self._outboxes: dict[int, _Outbox] = {}
        #: The invitations that a player has accepted and that it may not know of, as it is not ready.
        self._accepted: dict[int, dict[int, Invitation]] = {}
        self._in_hand = _Sets()
        #: Pending games by inviter, who may have no seat in them.
        self._out = _Sets()
        #: For each game, the invited players who are ready: they need not be shown the invitation again.
        self._ready: dict[int, set[int]] = {}

    # --- Updates ------------------------------------------------------------------------------------------------

    def note(self, game: GameNote) -> None:
        """Update the index when a game was created, joined or ended, once that is durable."""
        players = _registered(game.named)
        if players:
            self._count(game, players, "")
            if game.created.invited:
                self._index(invitation_of(game), players)

    def playing(self, game_id: int, players: Iterable[int | None]) -> None:
        """Count a live game from the log, at the daemon's start."""
        for player in _registered(players):
            self._in_hand.put(player, game_id, there=True)

    def expect(self, game: GameNote, source: str = "") -> None:
        """Count a new game that is not durable yet; it is not shown.

        :param source: the inviter's address, as :func:`gmd.addresses.source_of` returns it.
        """
        self._count(game, _registered(game.named), source)

    def lost(self, game: GameNote) -> None:
        """Remove an expected game whose commit has failed."""
        for player in _registered(game.named):
            self._in_hand.put(player, game.id, there=False)
            self._drop_received(player, game.id)
        if (inviter := inviter_of(game.created)) is not None:
            self._out.put(inviter, game.id, there=False)

    def ready(self, game: GameNote, player: int) -> None:
        """Note that an invited player knows of a game: it has begun to act in it, or has finished with it."""
        if not game.over and invitation_of(game).accepted_by(player):
            self._ready.setdefault(game.id, set()).add(player)
            if game.begun:
                self._drop_accepted(player, game.id)

    def _count(self, game: GameNote, players: Iterable[int], source: str) -> None:
        pending = not game.over and not game.begun
        counts = not game.over and (game.begun or counts_in_hand(game.created))
        asker = Asker(inviter_of(game.created) if game.created.invited else None, source)
        for player in players:
            self._in_hand.put(player, game.id, there=counts)
            if pending and game.waits_unbegun(player):
                inbox = self._inboxes.setdefault(player, Inbox())
                inbox.expect(game.id, asker, counts=counts)
            else:
                self._drop_received(player, game.id)
        if asker.inviter is not None:
            self._out.put(asker.inviter, game.id, there=pending)

    def _index(self, invitation: Invitation, players: Iterable[int]) -> None:
        if invitation.status not in ("pending", "accepted"):
            self._ready.pop(invitation.game_id, None)
        for player in players:
            inbox = self._inboxes.get(player)
            if inbox is not None and invitation.game_id in inbox:
                inbox.show(invitation)
            if invitation.status == "pending" and invitation.seats(player):
                outbox = self._outboxes.setdefault(player, _Outbox())
                outbox.invitations[invitation.game_id] = invitation
                outbox.shown.put(invitation.game_id, invitation.opponent_of(player, seated=True))
            else:
                self._drop_sent(player, invitation.game_id)
            if self._is_to_be_shown(invitation, player):
                self._accepted.setdefault(player, {})[invitation.game_id] = invitation
            else:
                self._drop_accepted(player, invitation.game_id)

    def _is_to_be_shown(self, invitation: Invitation, player: int) -> bool:
        """Return whether a player who has accepted may not know it, because the reply may have been lost."""
        is_on = invitation.status in ("pending", "accepted")
        return is_on and invitation.accepted_by(player) and player not in self._ready.get(invitation.game_id, ())

    def _drop_received(self, player: int, game_id: int) -> None:
        if (inbox := self._inboxes.get(player)) is not None:
            inbox.drop(game_id)
            if not inbox:
                del self._inboxes[player]

    def _drop_sent(self, player: int, game_id: int) -> None:
        outbox = self._outboxes.get(player)
        if outbox is not None and outbox.invitations.pop(game_id, None) is not None:
            outbox.shown.drop(game_id)
            if not outbox.invitations:
                del self._outboxes[player]

    def _drop_accepted(self, player: int, game_id: int) -> None:
        mine = self._accepted.get(player)
        if mine is not None and mine.pop(game_id, None) is not None and not mine:
            del self._accepted[player]

    # --- Queries ------------------------------------------------------------------------------------------------

    def waiting(self, player: int) -> Collection[int]:
        """Return the games of the invitations that wait for a player's answer, in the fair order."""
        inbox = self._inboxes.get(player)
        return () if inbox is None else inbox.shown

    def received(self, player: int) -> list[Invitation]:
        """Return the invitations that wait for a player's answer, oldest first."""
        inbox = self.inbox(player)
        return [inbox[game_id] for game_id in sorted(inbox.shown)]

    def sent(self, player: int) -> list[Invitation]:
        """Return the invitations in whose games a player has its seat, and that wait for an answer, oldest first."""
        outbox = self._outboxes.get(player)
        return [] if outbox is None else [outbox.invitations[game_id] for game_id in sorted(outbox.shown)]

    def received_page(self, player: int, size: int, after: Place | None) -> tuple[list[Invitation], Place | None]:
        """Return a page of those received, chosen in the fair order and sorted oldest first; and where the next page
        begins, None at the end.
        """
        inbox = self.inbox(player)
        found, last = inbox.shown.page(size, after)
        return [inbox[game_id] for game_id in sorted(found)], last

    def sent_page(self, player: int, size: int, after: Place | None) -> tuple[list[Invitation], Place | None]:
        """Return a page of those sent, in the same way."""
        outbox = self._outboxes.get(player) or _Outbox()
        found, last = outbox.shown.page(size, after)
        return [outbox.invitations[game_id] for game_id in sorted(found)], last

    def accepted(self, player: int) -> list[Invitation]:
        """Return the invitations that a player has accepted and may not know of: it is not ready."""
        return list(self._accepted.get(player, {}).values())

    def pending(self, player: int) -> list[int]:
        """Return the games of all pending invitations that a player has sent or received."""
        outbox = self._outboxes.get(player) or _Outbox()
        return sorted({*self.inbox(player).shown, *outbox.shown})

    def inbox(self, player: int) -> Inbox:
        """Return the invitations that wait for a player's answer."""
        return self._inboxes.get(player) or Inbox()

    def beyond(self, limit: int) -> list[int]:
        """Return the games of clients' invitations that exceed a limit for one player: the last in the fair order.

        There are such invitations only in a log written before the limit existed, or with a higher limit.
        """
        deep = [inbox for inbox in self._inboxes.values() if len(inbox) > limit]
        return [
            game_id for inbox in deep for game_id in list(inbox.shown)[limit:] if inbox[game_id].inviter is not None
        ]

    def unfinished(self) -> set[int]:
        """Return the games that somebody has in hand, or that are invitations."""
        pending = (game_id for inbox in self._inboxes.values() for game_id in inbox.game_ids)
        return self._in_hand.games() | self._out.games() | set(pending)

    def in_hand(self, player: int) -> int:
        """Return how many games a player has in hand: live ones, and pending ones of the lobby's."""
        return self._in_hand.size(player)

    def out(self, inviter: int) -> int:
        """Return how many invitations of an inviter wait for answers, by whichever request they were made."""
        return self._out.size(inviter)


def _registered(players: Iterable[int | None]) -> list[int]:
    return [player for player in players if player is not None and is_registered(player)]
