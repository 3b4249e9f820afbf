"""The invitations that wait for one player's answer, and the choice of the one to displace when they are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from gmd.addresses import source_of

from .fair_order import FairOrder
from .invitation import Invitation


class Asker(NamedTuple):
    """The inviter of an invitation, and its address.

    :ivar inviter: as :func:`~gmd.lobby.invitation.inviter_of` returns it; None for the server and its operator.
    :ivar source: its address, as :func:`gmd.addresses.source_of` returns it; empty if unknown, as after a restart.
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
