"""An in-memory index of the log's invitations, and of the number of games that each player has in hand.

It is updated when changes become durable (:meth:`Book.note`). Games that are not durable yet count already
(:meth:`Book.expect`), so that concurrent requests cannot exceed a limit. An inbox has the invitations that wait for one
player's answer, in a fair order, and chooses the one to displace when they are too many.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from gmd.games.game_note import GameNote
from gmd.lobby.invitation import Invitation, counts_in_hand, invitation_of, inviter_of
from gmd.net.addresses import source_of
from gmd.players.account import is_registered


class Place(NamedTuple):
    """A game's place in the order: its round, and within the round its id."""

    round: int
    game_id: int


class _Rounds:
    """The rounds in which one owner has a game; the lowest free round is taken next."""

    __slots__ = ("free", "next")

    def __init__(self) -> None:
        self.next = 0
        self.free: list[int] = []

    def take(self) -> int:
        if self.free:
            return heappop(self.free)
        self.next += 1
        return self.next - 1

    def give_back(self, number: int) -> None:
        heappush(self.free, number)

    @property
    def empty(self) -> bool:
        return len(self.free) == self.next


class FairOrder:
    """Games in rounds, each of which has at most one game of each owner.

    A game takes the first round in which its owner has none, and stays there. So its place is valid as long as it is in
    the order; as the start of a page, the place is valid for ever. A new owner's first game comes after at most one
    game of each other owner. A change takes logarithmic time in the number of games, and moves part of a list.
    """

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._of: dict[int, tuple[Place, Hashable]] = {}
        self._rounds: dict[Hashable, _Rounds] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, game_id: object) -> bool:
        return game_id in self._of

    def __iter__(self) -> Iterator[int]:
        """Yield all games, in the order."""
        return (place.game_id for place in self._places)

    def put(self, game_id: int, owner: Hashable) -> None:
        """Add an owner's game; one that is in the order already keeps its place."""
        if game_id not in self._of:
            place = Place(self._rounds.setdefault(owner, _Rounds()).take(), game_id)
            self._of[game_id] = place, owner
            insort(self._places, place)

    def drop(self, game_id: int) -> None:
        """Remove a game, if it is in the order."""
        if (found := self._of.pop(game_id, None)) is None:
            return
        place, owner = found
        del self._places[bisect_left(self._places, place)]
        rounds = self._rounds[owner]
        rounds.give_back(place.round)
        if rounds.empty:
            del self._rounds[owner]

    def page(self, size: int, after: Place | None = None) -> tuple[list[int], Place | None]:
        """Return at most ``size`` games after a place; and the last one's place, None if no more follow."""
        start = 0 if after is None else bisect_right(self._places, after)
        end = min(start + size, len(self._places))
        found = [place.game_id for place in self._places[start:end]]
        return found, self._places[end - 1] if start < end < len(self._places) else None


class Asker(NamedTuple):
    """The inviter of an invitation, and its address.

    :ivar inviter: as :func:`~gmd.lobby.invitation.inviter_of` returns it; None for the server and its operator.
    :ivar source: its address, as :func:`gmd.net.addresses.source_of` returns it; empty if unknown, as after a restart.
    """

    inviter: int | None
    source: str = ""

    @classmethod
    def at(cls, peer: str, inviter: int | None) -> Asker:
        """Return the asker for an inviter and its peer, which is host:port or empty."""
        return cls(inviter, source_of(peer) if peer else "")

    @property
    def home(self) -> object:
        """The address, which inviters may share; if it is unknown, the inviter."""
        return self.source or self.inviter


class _Asked(NamedTuple):
    asker: Asker
    counts: bool


class Inbox:
    """The invitations that wait for one player's answer, durable or not.

    :ivar shown: the durable ones, in a fair order; their owners are their inviters.
    """

    def __init__(self) -> None:
        self.shown = FairOrder()
        self._asked: dict[int, _Asked] = {}
        self._by_inviter: Counter[int | None] = Counter()
        self._invitations: dict[int, Invitation] = {}

    def __len__(self) -> int:
        return len(self._asked)

    @property
    def game_ids(self) -> Collection[int]:
        """The games of all invitations, durable or not."""
        return self._asked

    def __contains__(self, game_id: int) -> bool:
        """Return whether an invitation waits, durable or not."""
        return game_id in self._asked

    def count(self, inviter: int | None) -> int:
        """Return how many invitations an inviter has sent."""
        return self._by_inviter[inviter]

    def expect(self, game_id: int, asker: Asker, *, counts: bool) -> None:
        """Add an invitation that may not be durable yet; a second call with a source sets the source.

        :param counts: whether it counts towards the player's limit of games.
        """
        if game_id not in self._asked:
            self._by_inviter[asker.inviter] += 1
        elif not asker.source:
            return
        self._asked[game_id] = _Asked(asker, counts)

    def show(self, invitation: Invitation) -> None:
        """Show an expected invitation, now that it is durable."""
        game_id = invitation.game_id
        self._invitations[game_id] = invitation
        self.shown.put(game_id, self._asked[game_id].asker.inviter)

    def drop(self, game_id: int) -> None:
        """Remove an invitation, if it waits."""
        if (asked := self._asked.pop(game_id, None)) is None:
            return
        inviter = asked.asker.inviter
        self._by_inviter[inviter] -= 1
        if not self._by_inviter[inviter]:
            del self._by_inviter[inviter]
        self._invitations.pop(game_id, None)
        self.shown.drop(game_id)

    def __getitem__(self, game_id: int) -> Invitation:
        """Return a durable invitation."""
        return self._invitations[game_id]

    def to_displace(self, asker: Asker, *, counts: bool) -> int | None:
        """Return the invitation to displace for one of an asker; None if the asker has sent as many as the others.

        It is the newest of the inviter who has sent most, at the address from which most came (the longest queue drops
        its tail). The server's own invitations are never displaced.

        :param counts: whether to consider only invitations that count towards the player's limit of games.
        """
        asked = {game_id: each.asker for game_id, each in self._asked.items() if each.counts or not counts}
        homes = Counter(each.home for each in asked.values())
        inviters = Counter(each.inviter for each in asked.values())
        clients = {game_id: each for game_id, each in asked.items() if each.inviter is not None}
        if not clients:
            return None

        def weight(game_id: int) -> tuple[int, int, int]:
            return homes[clients[game_id].home], inviters[clients[game_id].inviter], game_id

        found = max(clients, key=weight)
        at_home = homes[asker.home] + (asker.home != clients[found].home)
        return found if weight(found)[:2] > (at_home, inviters[asker.inviter] + 1) else None


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

        :param source: the inviter's address, as :func:`gmd.net.addresses.source_of` returns it.
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
