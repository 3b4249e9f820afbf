"""The way of a request to the daemon that answers it, and of its answer into a reply."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import trio
from msgspec import UNSET

from gm_protocol.codec import encode
from gm_protocol.messages import Request, Wait
from gmd import loop_time
from gmd.requests.context import PendingReply
from gmd.requests.session import ClientSession

from .calling import AskResult, Caller, LinkLost
from .directory import Directory
from .forwarding import (
    ANSWER,
    LAST_WAS_GAME,
    OPERATOR,
    OVERSEES,
    SHOWS_PRESENCE,
    STRICT,
    VISITS,
    Forward,
    Forwarded,
)
from .home import with_home
from .links import Links
from .loopback import Loopback
from .waits import RemoteWaits

#: Seconds for which a request waits for the link to a living daemon.
LINK_SECONDS = 10.0


class Unreachable(Exception):
    """An error: the link to a living daemon cannot be used for long; nothing was sent."""


async def _room(caller: Caller | Loopback) -> None:
    """Return when a link has room.

    :raises Unreachable: it has none for long.
    :raises LinkLost: its daemon is gone.
    """
    if caller.has_room:
        return
    with trio.move_on_after(LINK_SECONDS):
        await caller.room()
        return
    raise Unreachable


class Sender:
    """Forwards requests over links, and to this daemon itself where others answer parts of them.

    :ivar forwarded: how many messages it has sent so far.
    :ivar loopback: the way to this daemon.
    """

    def __init__(self, directory: Directory, links: Links, *, gives_home: bool = True) -> None:
        self.directory = directory
        self.gives_home = gives_home
        self.forwarded = 0
        self.loopback: Loopback | None = None
        self._links = links
        self._waits: set[RemoteWaits] = set()
        self._stops = False

    def interrupt(self) -> None:
        """Have all waits at other daemons end now: this daemon stops."""
        self._stops = True
        for wait in [*self._waits]:
            wait.interrupt()

    # --- Sending ------------------------------------------------------------------------------------------------------

    def caller(self, owner: int) -> Caller | Loopback:
        """Return the way to a daemon.

        :raises LinkLost: it does not live.
        """
        if owner == self.directory.me:
            assert self.loopback is not None
            return self.loopback
        return self._links.caller(owner)

    async def ask(self, owner: int, message: Forward) -> AskResult:
        """Send a request to a daemon and return what became of it."""
        caller = self.caller(owner)
        await _room(caller)
        outcomes: list[AskResult] = []
        settled = trio.Event()

        def settle(outcome: AskResult) -> None:
            outcomes.append(outcome)
            settled.set()

        self.forwarded += 1
        caller.post(message, settle)
        await settled.wait()
        return outcomes[0]

    async def ask_all(self, messages: Sequence[tuple[int, Forward]]) -> list[AskResult]:
        """Send requests to daemons at once and return what became of each."""
        outcomes: dict[int, AskResult] = {}
        unreachable: list[Unreachable] = []

        async def ask(index: int, owner: int, message: Forward) -> None:
            try:
                outcomes[index] = await self.ask(owner, message)
            except LinkLost as lost:
                outcomes[index] = lost
            except Unreachable as error:
                unreachable.append(error)

        async with trio.open_nursery() as nursery:
            for index, (owner, message) in enumerate(messages):
                nursery.start_soon(ask, index, owner, message)
        if unreachable:
            raise unreachable[0]
        return [outcomes[index] for index in range(len(messages))]

    async def wait_at(self, messages: Sequence[tuple[int, Forward]], session: ClientSession) -> list[AskResult | None]:
        """Send waits to daemons; return what became of each, once one shows a game or has failed, or all are answered.

        :raises LinkLost: nothing was sent.
        """
        callers = [self.caller(owner) for owner, _ in messages]
        for caller in callers:
            await _room(caller)
        waits = RemoteWaits()
        self._waits.add(waits)
        try:
            for caller, (_, message) in zip(callers, messages, strict=True):
                if not caller.has_room:
                    raise LinkLost(caller.daemon, sent=False)
                waits.post(caller, message)
            self.forwarded += len(messages)
            if self._stops:
                waits.interrupt()
            async with session.attending(waits):
                return await waits.outcomes()
        finally:
            self._waits.discard(waits)
            waits.close()

    def message(
        self,
        request: Request,
        session: ClientSession,
        arrived: float,
        shows_presence: bool,
        lane: int = 0,
        number: int = 0,
        oldest: int = 0,
        mode: int = ANSWER,
        game_id: int | None = None,
    ) -> Forward:
        """Return a request as it is forwarded."""
        authenticated, player = session.authenticated, session.player
        without: tuple[int, ...] = ()
        if isinstance(request, Wait) and request.any and session.unacknowledged:
            acting = player if request.player is UNSET else request.player
            without = () if acting is None else tuple(session.unacknowledged.to(acting))
        return Forward(
            encode(request),
            max(0.0, loop_time.now() - arrived),
            player,
            None if authenticated is None else authenticated.key,
            _rights(session, shows_presence),
            session.peer,
            lane,
            number,
            oldest,
            mode,
            game_id,
            without,
        )

    # --- Answers ------------------------------------------------------------------------------------------------------

    def reply(
        self, answer: Forwarded, request: Request, session: ClientSession, arrived: float, owner: int
    ) -> PendingReply:
        """Return the reply that another daemon has given."""
        player = session.player if request.player is UNSET else request.player
        since = loop_time.now() if isinstance(request, Wait) else arrived
        reply = PendingReply(b"", request, since, None, None, None, player)
        self.fill(reply, answer, session, session.unacknowledged.next_batch(), owner)
        if answer.proved is not None and session.authenticated is not None:
            self._prove(session, answer.proved)
        return reply

    def fill(self, reply: PendingReply, answer: Forwarded, session: ClientSession, batch: int, owner: int) -> None:
        """Give a reply what another daemon has answered.

        :param batch: the number of the batch of replies that it goes with.
        """
        reply.body, reply.code = answer.body, answer.code
        home = self.directory.peers().get(owner) if self.gives_home and session.strict else None
        if answer.code is None and home is not None:
            reply.body = with_home(answer.body, type(reply.request), home.game)
        game_id = getattr(reply.request, "game_id", None)
        if game_id is not None and reply.player is not None:
            if answer.plays:
                session.plays = game_id, reply.player
            elif answer.code is None:
                session.plays = None
        for shown in answer.shown:
            seats = [chess.WHITE if seat else chess.BLACK for seat in shown.seats]
            session.unacknowledged.show_elsewhere(shown.player, shown.game_id, seats, batch)
        session.unacknowledged.last_was_game = answer.last_was_game

    def _prove(self, session: ClientSession, key: bytes) -> None:
        """Note that the session's player has a new key, which the lobby's owner has given it."""
        assert session.authenticated is not None
        session.authenticated = session.authenticated._replace(key=key)
        if session.visit is not None:
            session.visit.enter(session.authenticated)


def _rights(session: ClientSession, shows_presence: bool) -> int:
    rights = 0
    if session.is_operator:
        rights |= OPERATOR
    if session.oversees:
        rights |= OVERSEES
    if session.strict:
        rights |= STRICT
    if shows_presence:
        rights |= SHOWS_PRESENCE
    if session.unacknowledged.last_was_game:
        rights |= LAST_WAS_GAME
    if session.visit is not None and session.visit.player is not None and session.visit.player == session.player:
        rights |= VISITS
    return rights
