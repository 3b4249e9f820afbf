"""The router: answers a client's request here, or has another daemon answer it, and tries again when games move."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial

import chess
import trio
from msgspec import UNSET, structs

from gm_protocol.errors import GmError, Internal, Moved, NoSuchGame
from gm_protocol.lobby import Decline, Seek
from gm_protocol.messages import Request, Wait
from gmd import dispatch
from gmd.requests.context import PendingReply
from gmd.requests.session import ClientSession
from gmd.services import Services

from .calling import AskResult, LinkLost
from .directory import Directory
from .forwarding import (
    ANSWER,
    MADE,
    SHOW,
    Forward,
    Forwarded,
)
from .in_progress import InProgress
from .lane import Flight, Lane
from .links import Links
from .lobby.seeks import Seeks
from .loopback import Loopback
from .made import MAKES
from .many_owners import answer_games
from .remote_session import RemoteSessions
from .results import Results
from .routing import AT_ONCE, OfGame, OfGames, Where, is_repeatable, route_of
from .seek_replies import answer_seek
from .sender import Sender, Unreachable
from .shards import LOBBY, SHARDS, shard_of
from .tenure import NotMine
from .undone import Undone, Unshown, no_owner, subject, unanswered, unknown
from .vitals import ClusterVitals, HttpCounts

#: Seconds for which a request is tried again while its game has no owner, or moves; and between two attempts, if
#: nothing is known to have changed.
PATIENCE_SECONDS = 10.0
RETRY_SECONDS = 0.1
#: Seconds for which a request is tried at all, whatever becomes of the attempts; a ``wait`` has its timeout besides.
LONGEST_SECONDS = 60.0


class Router:
    """What a daemon that is one of several does with requests. It is :attr:`gmd.services.Services.cluster`.

    :ivar sender: forwards requests.
    :ivar seeks: keeps the seeks of this daemon's clients.
    :ivar retried: how many attempts at requests were in vain.
    """

    def __init__(self, directory: Directory, links: Links, pages_key: bytes = b"", *, gives_home: bool = True) -> None:
        """:param pages_key: signs the cookies of visitors, at all daemons.
        :param gives_home: whether clients learn where the owner of a game is.
        """
        self.pages_key = pages_key
        self.http_counts = HttpCounts()
        self.directory = directory
        self.links = links
        self.sender = Sender(directory, links, gives_home=gives_home)
        self.retried = 0
        self.seeks: Seeks | None = None
        #: Returns when the lobby's owner knows who has sessions at this daemon; None where nobody needs to know.
        self.presence_known: Callable[[], Awaitable[None]] | None = None
        #: Called at the lobby's owner with a game and a player who has its result. Set it before :meth:`attach`.
        self.has_result: Callable[[int, int], None] | None = None
        self._in_progress = InProgress()
        self._services: Services | None = None
        self._results: Results  # from attach on

    def attach(self, services: Services) -> None:
        """Begin to answer what other daemons forward. Call it once, before the links run."""
        self._services = services
        self._results = Results(services.arbiter, self.directory, self.links, self.has_result)
        sessions = RemoteSessions(services, self.directory, self.links, self._in_progress)
        self.sender.loopback = Loopback(self.directory.me, sessions.take)

    def interrupt(self) -> None:
        """Have all waits at other daemons end now: this daemon stops."""
        self.sender.interrupt()

    def delivered(self, player: int, game_id: int, seats: Sequence[chess.Color]) -> None:
        """Note that a client has acknowledged the result of a game, for these of its seats."""
        self._results.delivered(player, game_id, seats)

    async def finish(self, shards: Collection[int]) -> None:
        """End the waits in shards that are handed over, and return when the other requests in them are done.

        The directory must not call the shards this daemon's any more.
        """
        await self._in_progress.finish(shards)

    def vitals(self) -> ClusterVitals:
        """Return what this daemon shows of itself among the others."""
        ready, counts = self.directory.ready(), None if self._services is None else self._services.metrics
        lobby = LOBBY in ready
        requests = 0 if counts is None else sum(counts.answered.values()) + sum(counts.refused.values())
        seconds = round(self.directory.lease_seconds, 3)
        return ClusterVitals(
            self.directory.me,
            len(ready) - lobby,
            lobby,
            seconds,
            requests,
            self.links.vitals(),
            self.http_counts.requests,
            self.http_counts.forwarded,
        )

    # --- Answering ----------------------------------------------------------------------------------------------------

    async def answer(
        self, request: Request, session: ClientSession, arrived: float, shows_presence: bool
    ) -> PendingReply:
        """Return the reply to a request, as :func:`gmd.dispatch.answer` does."""
        kind, lane = type(request), session.lane
        if kind in AT_ONCE:
            game_id: int = request.game_id  # type: ignore[attr-defined]
            shard = game_id % SHARDS
            if not self.directory.is_mine(shard):
                reply = self._forward_at_once(request, session, arrived, shows_presence, shard)
                if reply is not None:
                    return reply
            elif (lane is None or lane.is_idle) and session.services.arbiter.at_hand(game_id) is not None:
                return await dispatch.answer(request, session, arrived, shows_presence=shows_presence, here=True)
        if lane is not None and not lane.is_idle:
            await lane.idle()
        if self.seeks is not None and (kind is Seek or (kind is Decline and request.game_id is None)):  # type: ignore[attr-defined]
            again = partial(self.answer_patiently, request, session, arrived, shows_presence)
            return await answer_seek(self.seeks, request, session, again)
        return await self.answer_patiently(request, session, arrived, shows_presence)

    def _forward_at_once(
        self, request: Request, session: ClientSession, arrived: float, shows_presence: bool, shard: int
    ) -> PendingReply | None:
        """Send a request to a game's owner, and return its reply, which has no body yet; None if it has to wait."""
        owner = self.directory.owner_of(shard)
        if owner is None or owner == self.directory.me:
            return None
        try:
            caller = self.links.caller(owner)
        except LinkLost:
            return None
        lane: Lane | None = session.lane
        if lane is None:
            lane = session.lane = Lane(session, self)
        if not caller.has_room or not lane.takes(caller):
            return None
        lane.caller = caller
        player = session.player if request.player is UNSET else request.player
        flight = Flight(lane, request, arrived, shows_presence, player)
        message = self.sender.message(request, session, arrived, shows_presence, lane.id, flight.number, lane.oldest)
        self.sender.forwarded += 1
        caller.post(message, flight.settle)
        return flight.reply

    async def answer_patiently(
        self, request: Request, session: ClientSession, arrived: float, shows_presence: bool
    ) -> PendingReply:
        """Answer a request, and again if its game moves; those of its session before it must have been answered."""
        until: float | None = None
        begun = trio.current_time()
        longest = LONGEST_SECONDS + (_timeout(request, session) if isinstance(request, Wait) else 0.0)
        asked = request
        made: int | None = None
        while True:
            tried = trio.current_time()
            try:
                if made is not None:
                    return await self._show(request, made, session, arrived, shows_presence)
                return await self._answer_once(asked, session, arrived, shows_presence)
            except (Undone, Moved, Unshown) as undone:
                made = undone.game_id if isinstance(undone, Unshown) else None
                self.retried += 1
                now = trio.current_time()
                if until is None or now - tried > RETRY_SECONDS:  # the first attempt in a row that was in vain at once
                    until = now + PATIENCE_SECONDS
                if now >= until:
                    return dispatch.refused(no_owner(request, made), request, arrived)
                if now >= begun + longest:
                    return dispatch.refused(unanswered(request, made), request, arrived)
                await self._change(until)
            except Unreachable:
                return dispatch.refused(no_owner(request), request, arrived)
            except LinkLost:
                error = Moved(f"{subject(request)} was sent to a server that is gone; nobody knows whether it was done")
                return dispatch.refused(error, request, arrived)
            except GmError as error:
                return dispatch.refused(error, request, arrived)
            if isinstance(request, Wait):
                asked = _shortened(request, trio.current_time() - begun, session)

    async def _change(self, until: float) -> None:
        """Wait for a change of the map, or a moment."""
        with trio.move_on_at(min(until, trio.current_time() + RETRY_SECONDS)):
            await self.directory.changed()

    async def _answer_once(
        self, request: Request, session: ClientSession, arrived: float, shows_presence: bool
    ) -> PendingReply:
        """Answer a request as the map is now.

        :raises Undone: it was not carried out, or may be repeated. Moved means the same.
        :raises LinkLost: it was sent, and nobody knows whether it was carried out.
        """
        player = session.player if request.player is UNSET else request.player
        route = route_of(request, player)
        try:
            if route is Where.HERE:
                return await dispatch.answer(request, session, arrived, shows_presence=shows_presence, here=True)
            if isinstance(route, OfGames):
                assert isinstance(request, Wait)
                return await self._answer_games(request, route.game_ids, session, arrived, shows_presence)
            shard = shard_of(route.game_id) if isinstance(route, OfGame) else LOBBY
            if self.directory.owner_of(shard) == self.directory.me:
                return await self.here(request, session, arrived, shows_presence, [shard])
        except NotMine as elsewhere:
            if isinstance(route, OfGame | OfGames):
                raise  # the map has changed
            return await self._show(request, elsewhere.game_id, session, arrived, shows_presence)
        return await self._forward(request, session, arrived, shows_presence, shard)

    async def here(
        self, request: Request, session: ClientSession, arrived: float, shows_presence: bool, shards: Sequence[int]
    ) -> PendingReply:
        """Answer a request here; its shards are this daemon's.

        :raises Moved: they are not any more.
        """
        for shard in shards:
            if not self.directory.is_mine(shard):
                await self.directory.lease_valid()
                if not self.directory.is_mine(shard):
                    raise Undone
        answer = dispatch.answer(request, session, arrived, shows_presence=shows_presence, here=True)
        if isinstance(request, Wait):
            reply = await self._in_progress.wait(shards, answer)
        else:
            reply = await self._in_progress.other(shards, answer)
        if reply.commit is None and not all(map(self.directory.is_mine, shards)):
            await self.directory.lease_valid()  # what is in memory may be out of date
        return reply

    async def _answer_games(
        self, request: Wait, game_ids: list[int], session: ClientSession, arrived: float, shows_presence: bool
    ) -> PendingReply:
        """Answer a wait for several games, which may have several owners."""
        shards = sorted({shard_of(game_id) for game_id in game_ids})
        owners = {self.directory.owner_of(shard) for shard in shards}
        if None in owners:
            raise Undone
        if owners == {self.directory.me}:
            return await self.here(request, session, arrived, shows_presence, shards)
        if len(owners) == 1:
            return await self._forward(request, session, arrived, shows_presence, shards[0])
        try:
            return await answer_games(self.sender, request, game_ids, session, arrived, shows_presence)
        except LinkLost:
            raise Undone from None

    async def _show(
        self, request: Request, game_id: int, session: ClientSession, arrived: float, shows_presence: bool
    ) -> PendingReply:
        """Have a game's owner answer a request that a token, or a wait for any game, has led to the game."""
        makes = type(request) in MAKES
        mode = SHOW if isinstance(request, Wait) else MADE if makes else ANSWER
        try:
            return await self._forward(request, session, arrived, shows_presence, shard_of(game_id), mode, game_id)
        except (Undone, Moved, LinkLost, Unreachable):
            if makes:
                raise Unshown(game_id) from None
            raise
        except NoSuchGame:  # it was pruned meanwhile
            if makes and getattr(request, "token", None) is None:
                raise
            player = session.player if request.player is UNSET else request.player
            self._results.forget(player or 0, game_id)
            raise Undone from None

    # --- Forwarding ---------------------------------------------------------------------------------------------------

    async def _forward(
        self,
        request: Request,
        session: ClientSession,
        arrived: float,
        shows_presence: bool,
        shard: int,
        mode: int = ANSWER,
        game_id: int | None = None,
    ) -> PendingReply:
        """Have the owner of a shard answer a request; that may be this daemon.

        :raises Undone: it was not carried out, or may be repeated.
        :raises LinkLost: it was sent, and nobody knows whether it was carried out.
        """
        owner = self.directory.owner_of(shard)
        if owner is None:
            raise Undone
        message = self.sender.message(request, session, arrived, shows_presence, mode=mode, game_id=game_id)
        try:
            answer = await self._exchange(owner, message, request, session)
        except LinkLost as lost:
            if not lost.sent or is_repeatable(request):
                raise Undone from None
            raise
        if answer.elsewhere is not None:
            session.unacknowledged.last_was_game = answer.last_was_game
            return await self._show(request, answer.elsewhere, session, arrived, shows_presence)
        return self.sender.reply(answer, request, session, arrived, owner)

    async def _exchange(self, owner: int, message: Forward, request: Request, session: ClientSession) -> Forwarded:
        """Send a request to a daemon and return its answer; a wait can be interrupted.

        :raises Moved: it was not carried out.
        :raises GmError: it was refused in another way than by a reply.
        :raises LinkLost: there will be no answer.
        """
        if isinstance(request, Wait):
            [outcome] = await self.sender.wait_at([(owner, message)], session)
        else:
            outcome = await self.sender.ask(owner, message)
        if isinstance(outcome, Forwarded):
            return outcome
        assert isinstance(outcome, Exception)
        raise outcome

    # --- Replies ------------------------------------------------------------------------------------------------------

    def settle(self, reply: PendingReply, outcome: AskResult, session: ClientSession, batch: int) -> bool:
        """Give a reply its body; return whether the request is done with, and need not be sent again."""
        if isinstance(outcome, Forwarded):
            self.sender.fill(reply, outcome, session, batch, session.lane.caller.daemon)
            return True
        request = reply.request
        assert isinstance(request, Request)
        if isinstance(outcome, Moved):
            return False
        if isinstance(outcome, LinkLost):
            if not outcome.sent or is_repeatable(request):
                return False
            outcome = unknown(request)
        error = outcome if isinstance(outcome, GmError) else Internal("another server's answer cannot be read")
        dispatch.settle(reply, error)
        return True

    # --- Requests that were not carried out ---------------------------------------------------------------------------

    def recover(self, lane: Lane) -> None:
        """Send the undone requests of a session again, one after the other."""
        self.links.spawn(self._recover, lane)

    async def _recover(self, lane: Lane) -> None:
        try:
            while lane.undone:
                flight = lane.undone[0]
                reply = await self.answer_patiently(flight.request, lane.session, flight.arrived, flight.shows_presence)
                lane.undone.pop(0)
                self._land(flight, reply)
        finally:
            lane.wake()

    def _land(self, flight: Flight, reply: PendingReply) -> None:
        """Have a reply leave as that of a request which was sent before."""

        def settled(error: GmError | None) -> None:
            dispatch.settle(reply, error)
            flight.reply.body, flight.reply.code = reply.body, reply.code
            flight.land()

        if reply.commit is None:
            settled(None) if reply.code is None else _copy(flight, reply)
        else:
            reply.commit.then(settled)


def _copy(flight: Flight, reply: PendingReply) -> None:
    flight.reply.body, flight.reply.code = reply.body, reply.code
    flight.land()


def _shortened(request: Wait, seconds: float, session: ClientSession) -> Wait:
    """Return a wait that ends at the same time as one that has begun so many seconds ago."""
    return structs.replace(request, timeout=max(0.0, _timeout(request, session) - seconds))


def _timeout(request: Wait, session: ClientSession) -> float:
    longest = session.services.limits.max_wait_seconds
    return longest if request.timeout is None else min(request.timeout, longest)
