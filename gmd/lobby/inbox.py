"""What waits for one player's answer: who has sent how much of it, and whose is to go where there is too much."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from gmd.addresses import source_of

from .fair_order import FairOrder
from .invitation import Invitation


class Asker(NamedTuple):
    """Who has made an invitation.

    :ivar inviter: as :func:`~gmd.lobby.invitation.inviter_of` has it; None for the server and its operator.
    :ivar source: what stands for its address; empty where that is not known, as of all that came before a restart.
    """

    inviter: int | None
    source: str = ""

    @classmethod
    def at(cls, peer: str, inviter: int | None) -> Asker:
        """An inviter whose request comes from a peer, which is host:port, or empty."""
        return cls(inviter, source_of(peer) if peer else "")

    @property
    def home(self) -> object:
        """What is the same for all who share an address; where none is known, everybody has one of their own."""
        return self.source or self.inviter


class _Asked(NamedTuple):
    asker: Asker
    counts: bool


class Inbox:
    """The invitations that wait for one player's answer: those on their way to the log, and the durable ones.

    :ivar shown: the durable ones, in a fair order; their owners are their inviters.
    """

    def __init__(self) -> None:
        self.shown = FairOrder()
        self._asked: dict[int, _Asked] = {}
        self._by_inviter: Counter[int | None] = Counter()
        self._invitations: dict[int, Invitation] = {}

    def __len__(self) -> int:
        return len(self._asked)

    def __contains__(self, game_id: int) -> bool:
        """Whether an invitation waits, be it durable or not."""
        return game_id in self._asked

    def count(self, inviter: int | None) -> int:
        """How many an inviter has sent."""
        return self._by_inviter[inviter]

    def expect(self, game_id: int, asker: Asker, *, counts: bool) -> None:
        """An invitation is made, and may not be durable yet. Said again with its source, it has that from then on.

        :param counts: whether it takes up one of the games that the player takes at a time.
        """
        if game_id not in self._asked:
            self._by_inviter[asker.inviter] += 1
        elif not asker.source:
            return
        self._asked[game_id] = _Asked(asker, counts)

    def show(self, invitation: Invitation) -> None:
        """An invitation that was expected is durable."""
        game_id = invitation.game_id
        self._invitations[game_id] = invitation
        self.shown.put(game_id, self._asked[game_id].asker.inviter)

    def drop(self, game_id: int) -> None:
        """An invitation waits no longer, if it did."""
        if (asked := self._asked.pop(game_id, None)) is None:
            return
        inviter = asked.asker.inviter
        self._by_inviter[inviter] -= 1
        if not self._by_inviter[inviter]:
            del self._by_inviter[inviter]
        self._invitations.pop(game_id, None)
        self.shown.drop(game_id)

    def __getitem__(self, game_id: int) -> Invitation:
        """A durable one."""
        return self._invitations[game_id]

    def to_displace(self, asker: Asker, *, counts: bool) -> int | None:
        """Return the invitation that is to make way for one of an asker's; None where the asker has sent as much.

        That is the newest of the inviter who has sent most, of those at the address from which most came (the longest
        queue drops its tail). The server's own make way for nobody.

        :param counts: whether only those count, and are to go, that take up one of the player's games.
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
