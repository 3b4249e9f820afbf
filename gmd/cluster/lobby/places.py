"""One count of the games of each address: a daemon asks the lobby's owner for a place before it creates a game."""

from __future__ import annotations

from itertools import count

import trio

from gm_protocol.errors import Internal, Moved
from gmd.cluster.directory import Directory
from gmd.cluster.link_messages import Done
from gmd.cluster.links import Incoming, LinkLost, Links
from gmd.cluster.shards import LOBBY
from gmd.quotas import Place, Quotas

from .messages import PlaceFilled, PlaceFree, TakeGame
from .reporter import Reporter

#: Seconds for which the lobby's owner is waited for, and seconds between two attempts.
PATIENCE = 10.0
AGAIN_SECONDS = 0.2


class NoPlace(Internal):
    """The silence of the lobby's owner: nothing was done. Clients get the code of what is to be sent again."""

    code = Moved.code


class Places:
    """The places for games that this daemon takes; and as the lobby's owner, those that it gives to others."""

    def __init__(self, quotas: Quotas, directory: Directory, links: Links, reporter: Reporter) -> None:
        self._quotas = quotas
        self._directory = directory
        self._links = links
        self._reporter = reporter
        self._numbers = count(1)
        #: As the lobby's owner: the places that are taken and neither filled nor free, by daemon and its number for
        #: the place: the quotas' number, and the peer.
        self._taken: dict[int, dict[int, tuple[int, str]]] = {}
        links.take_asks(TakeGame, self._take_ask)  # at once, and so before a note behind it
        links.on_note(PlaceFilled, self._on_filled)
        links.on_note(PlaceFree, self._on_free)

    def follow(self) -> None:
        """Follow another owner of the lobby, or become it."""
        is_mine = self._reporter.lobby == self._directory.me
        self._quotas.reserve = None if is_mine else self._reserve
        for daemon in [*self._taken]:
            self.forget(daemon)
        if not is_mine:
            self._quotas.forget_games()

    def forget(self, daemon: int) -> None:
        """Free the places of a daemon that is dead."""
        for place, peer in self._taken.pop(daemon, {}).values():
            self._quotas.give_place_back(place, peer, failed=True)

    async def _reserve(self, peer: str) -> Place:
        number = next(self._numbers)
        in_doubt: set[int] = set()  # daemons that may have given the place, and whose answer has not come
        with trio.CancelScope(shield=True):  # a place that nobody gets would be lost
            try:
                with trio.move_on_after(PATIENCE):
                    lobby = await self._take(number, peer, in_doubt)
                    in_doubt.discard(lobby)
                    return _Taken(number, lobby, self._links)
            finally:
                for daemon in in_doubt:  # behind the ask, if that comes at all
                    self._links.tell(daemon, PlaceFree(number, failed=True))
        raise NoPlace("the server that counts the games of an address did not answer; nothing was done: send it again")

    async def _take(self, number: int, peer: str, in_doubt: set[int]) -> int:
        """Take a place; return the daemon that has given it.

        :param in_doubt: gets the daemons that are being asked, and whose answers were lost.
        :raises TooMany: as :meth:`gmd.quotas.Quotas.check_game` does.
        """
        while True:
            lobby = self._directory.owner_of(LOBBY)
            if lobby is not None:
                in_doubt.add(lobby)
                ask = TakeGame(peer, number)
                try:
                    if lobby == self._directory.me:
                        self._give_place(ask, lobby)
                    else:
                        await self._links.ask(lobby, ask)
                    return lobby
                except (LinkLost, Moved):
                    pass
            with trio.move_on_after(AGAIN_SECONDS):
                await self._directory.changed()

    # --- At the lobby's owner -------------------------------------------------------------------------------------

    def _take_ask(self, ask: TakeGame, incoming: Incoming) -> None:
        self._give_place(ask, incoming.daemon)
        incoming.answer(Done())

    def _give_place(self, ask: TakeGame, daemon: int) -> None:
        if self._directory.owner_of(LOBBY) != self._directory.me:
            raise Moved("the lobby has another owner among the servers; nothing was done; send it again")
        taken = self._taken.setdefault(daemon, {})
        if ask.place not in taken:
            taken[ask.place] = self._quotas.take_place(ask.peer), ask.peer

    def _on_filled(self, note: PlaceFilled, daemon: int) -> None:
        if (taken := self._taken.get(daemon, {}).pop(note.place, None)) is not None:
            self._quotas.fill_place(taken[0], note.game_id)

    def _on_free(self, note: PlaceFree, daemon: int) -> None:
        if (taken := self._taken.get(daemon, {}).pop(note.place, None)) is not None:
            self._quotas.give_place_back(*taken, failed=note.failed)


class _Taken:
    """A place that this daemon has got."""

    def __init__(self, place: int, lobby: int, links: Links) -> None:
        self._place, self._lobby, self._links = place, lobby, links

    def made(self, game_id: int) -> None:
        self._links.tell(self._lobby, PlaceFilled(self._place, game_id))

    def free(self, *, failed: bool) -> None:
        self._links.tell(self._lobby, PlaceFree(self._place, failed))
