"""Lets the daemon's bots play: it answers their invitations, and has a process for each game that needs one."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf

import trio

from gm_protocol.endings import Cause, Ending, termination_of
from gm_protocol.errors import GmError, NoSuchGame
from gmd.bots.accounts import Keys
from gmd.bots.process import GameProcess
from gmd.games.game_note import GameNote, note_of
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient, Refused
from gmd.handlers.services import Services
from gmd.lobby.bot_queue import BotGame
from gmd.lobby.roster import BotKind
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.play.watchers import Subscription
from gmd.players.account import Authenticated
from gmd.players.presence import Attendance

logger = get_logger(__name__)

#: Seconds at least for a process's first move: it has to start, maybe on a busy machine.
START_SECONDS = 60.0
#: Seconds that a process may take to end once its game is over.
END_SECONDS = 10.0
#: Seconds that a bot pauses after a failure; twice as many after each further one.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
#: Seconds without a move of the opponent after which a bot that cannot rejoin its game resigns it to make room.
ABANDONED_SECONDS = 600.0
#: Seconds after which a bot looks for its games even without a notification.
LOOK_SECONDS = 60.0


@dataclass(frozen=True)
class BotTimeouts:
    """Seconds for a move of a bot without a clock, and for its opponent's while another game waits for a place."""

    move: float
    idle: float


@dataclass(eq=False)
class _Playing:
    """A game with a process.

    :ivar idle_since: since when its opponent could have moved, in trio's time; None while it could not.
    :ivar given_up: why its process was ended before its game.
    """

    game: BotGame
    kind: BotKind
    key: str = field(repr=False)
    idle_since: float | None = None
    left: bool = False
    given_up: str = ""
    leave: trio.Event = field(default_factory=trio.Event)

    @property
    def player(self) -> int:
        """The bot's id."""
        return self.game.player

    @property
    def game_id(self) -> int:
        """The game's id."""
        return self.game.game_id


class Supervisor:
    """Runs the bots of the services' roster.

    :param path: the Unix socket that their processes connect to.
    :param local: sends the bots' own requests.
    """

    def __init__(self, services: Services, local: InProcessClient, path: str, timeouts: BotTimeouts) -> None:
        self._services, self._local, self._path, self._timeouts = services, local, path, timeouts
        self._roster, self._registry = services.roster, services.authenticator.registry
        self._queue = services.roster.queue
        self._keys = Keys(self._registry)
        self._playing: list[_Playing] = []
        self._changed = trio.Event()
        #: For each bot: its presence, what wakes it to look for its games, its last pause, and when that ends.
        self._visits: dict[int, Attendance] = {}
        self._looking: dict[int, Subscription] = {}
        self._pauses: dict[int, float] = {}
        self._paused_until: dict[int, float] = {}
        self._registry.when_changed(self._account_changed)

    async def run(self) -> None:
        """Play until cancelled. Games in progress are then left as they are."""
        async with trio.open_nursery() as nursery:
            for player, kind in list(self._roster.bots()):
                nursery.start_soon(self._attend, player, kind)
            nursery.start_soon(self._give_places, nursery)

    # --- The games of a bot -------------------------------------------------------------------------------------

    async def _attend(self, player: int, kind: BotKind) -> None:
        """Be present as one bot, and have its games wait for places as they become due."""
        visit = self._visits[player] = Attendance(self._services.lobby.presence)
        with self._services.arbiter.watchers.watching_player(player) as subscription:
            self._looking[player] = subscription
            try:
                while (account := self._registry.get(player)) is not None and account.key is not None:
                    if not visit.stands:
                        visit.enter(Authenticated(player, account.key))
                    subscription.forget()
                    pause = await self._pause_after(player, kind, self._look)
                    await trio.sleep(pause)
                    with trio.move_on_after(0 if pause else LOOK_SECONDS):
                        await subscription.wait()
                    if subscription.interrupted:  # the daemon stops
                        return
            finally:
                visit.leave()
        self._roster.drop(player)
        logger.warning("a bot plays no more: its key was revoked", bot=kind.name)

    async def _pause_after(self, player: int, kind: BotKind, work: Callable[[int, BotKind], Awaitable[None]]) -> float:
        """Do some work for a bot; return how many seconds it pauses if that fails, else 0.

        A bug in it must not end the daemon.
        """
        try:
            await work(player, kind)
        except (GmError, Refused) as error:
            logger.warning("a bot could not go on", bot=kind.name, reason=str(error))
            return self._pauses.get(player, FIRST_PAUSE)
        except Exception:
            logger.exception("a bot could not go on", bot=kind.name)
            return LONGEST_PAUSE
        return 0.0

    async def _look(self, player: int, kind: BotKind) -> None:
        """Have the bot's games that are due wait for places, and no others."""
        due = await self._services.arbiter.turns.all_due(player)
        self._queue.keep(player, set(due))
        for game_id in due:
            if (player, game_id) not in self._queue:
                await self._receive(player, kind, game_id)
                await trio.lowlevel.checkpoint()
        self._note_change()

    async def _receive(self, player: int, kind: BotKind, game_id: int) -> None:
        """Have a game that is due wait for a place; decline one that the bot does not play."""
        turns = self._services.arbiter.turns
        try:
            live = await self._services.arbiter.live_game(game_id)
        except NoSuchGame:  # it was pruned meanwhile
            turns.forget(game_id, [player])
            return
        game = note_of(live.game)
        if game.over:
            turns.knows(player, live)
        elif game.options.variant not in kind.variants:
            logger.info("a bot declines", bot=kind.name, game_id=game_id, variant=game.options.variant)
            await self._services.lobby.decline(game_id, player, loop_time.now())
        else:
            opponent = next((other for other in game.named if other not in (None, player)), None)
            source = self._services.lobby.quotas.games.source(game_id)
            self._queue.add(BotGame(player, game_id, opponent, source))

    def _account_changed(self, player: int) -> None:
        """Have a bot whose key was replaced stay present."""
        account, visit = self._registry.get(player), self._visits.get(player)
        if account is not None and account.key is not None and visit is not None:
            visit.enter(Authenticated(player, account.key))
        self._look_again(player)

    def _look_again(self, player: int) -> None:
        """Have a bot look for its games: they may have changed, or its account has."""
        if (subscription := self._looking.get(player)) is not None:
            subscription.notify()

    # --- Places -------------------------------------------------------------------------------------------------

    async def _give_places(self, nursery: trio.Nursery) -> None:
        """Start the games that wait, each as soon as there is a place; meanwhile, end processes that hold one idly."""
        kinds, told = dict(self._roster.bots()), None
        while True:
            game = self._next()
            if game is None:
                await self._wait_for_change(self._until_unpaused())
                continue
            kind = kinds[game.player]
            if not self._roster.is_full():
                pause = await self._pause_after(game.player, kind, partial(self._start, game, nursery))
                self._paused_until[game.player] = trio.current_time() + pause
                continue
            if game != told:
                told, playing = game, self._queue.playing
                logger.info("a game waits for a bot", bot=kind.name, game_id=game.game_id, playing=playing)
            await self._wait_for_change(self._make_room_for(game))

    def _next(self) -> BotGame | None:
        """Return the first waiting game of a bot that does not pause."""
        now = trio.current_time()
        return next((game for game in self._queue.order() if self._paused_until.get(game.player, 0.0) <= now), None)

    def _until_unpaused(self) -> float:
        """Return after how many seconds the next pause of a bot ends; infinity if none pauses."""
        now = trio.current_time()
        return min((until - now for until in self._paused_until.values() if until > now), default=inf)

    async def _start(self, game: BotGame, nursery: trio.Nursery, player: int, kind: BotKind) -> None:
        """Give a game its place, if it still waits for the bot."""
        account = self._registry.get(player)
        if account is None or account.key is None:
            self._queue.drop(game)
            return
        key = await self._keys.key_of(account)
        if not _is_due(await self._services.lobby.look(game.game_id), player):
            self._queue.drop(game)
            return
        self._queue.start(game)
        playing = _Playing(game, kind, key)
        self._playing.append(playing)
        nursery.start_soon(self._play, playing)

    def _make_room_for(self, game: BotGame) -> float:
        """End a process whose place a waiting game should have; return after how many seconds to look again.

        It is that of an address, or a player, which has more places than the waiting one's; else the one whose opponent
        has not moved for too long.
        """
        if any(playing.left for playing in self._playing):  # it ends soon, which is a change
            return inf
        now = trio.current_time()
        until = {playing: self._may_stay_until(playing, game) for playing in self._playing}
        first = min(until, key=until.__getitem__)
        if until[first] <= now:
            first.left = True
            first.leave.set()
            return inf
        return until[first] - now

    def _may_stay_until(self, playing: _Playing, game: BotGame) -> float:
        """Return until when a process keeps its place if nothing happens and a game waits, in trio's time."""
        if playing.idle_since is None:
            return inf
        if not playing.kind.rejoins:
            return playing.idle_since + max(self._timeouts.idle, ABANDONED_SECONDS)
        if self._queue.should_yield(playing.game, game):
            return playing.idle_since
        return playing.idle_since + self._timeouts.idle

    async def _wait_for_change(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await self._changed.wait()

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    # --- A game -------------------------------------------------------------------------------------------------

    async def _play(self, game: _Playing) -> None:
        """Have a process play a game, and resign for it if it fails."""
        try:
            status, tail = await self._run_process(game)
            if not game.left:
                await self._settle(game, status, tail)
            elif not game.kind.rejoins:
                await self._give_up(game)
        except (GmError, OSError) as error:
            logger.error(
                "a bot's game could not be played", bot=game.kind.name, game_id=game.game_id, reason=str(error)
            )
            await self._fail(game)
        except Exception:  # a bug here must not end the daemon
            logger.exception("a bot's game failed", bot=game.kind.name, game_id=game.game_id)
            await self._fail(game)
        finally:
            self._playing.remove(game)
            self._queue.end(game.game)
            self._look_again(game.player)
            self._note_change()

    async def _run_process(self, game: _Playing) -> tuple[int, str]:
        """Return the exit status of a game's process, and the end of what it wrote."""
        spec = game.kind.spec
        if game.kind.seeded:
            spec += f",seed={1 + secrets.randbelow(2**31 - 1)}"
        process = await GameProcess.start(
            {"path": self._path, "player": game.player, "key": game.key, "game_id": game.game_id, "bot": spec}
        )
        logger.info("a bot begins", bot=game.kind.name, game_id=game.game_id, pid=process.pid)
        status = 0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, game, process)
            nursery.start_soon(self._leave_when_told, game, process)
            status = await process.run()
            nursery.cancel_scope.cancel()
        return status, process.tail.decode("utf-8", "replace").strip()

    async def _leave_when_told(self, game: _Playing, process: GameProcess) -> None:
        await game.leave.wait()
        logger.info("a bot makes room for another game", bot=game.kind.name, game_id=game.game_id)
        await process.leave()

    async def _watch(self, game: _Playing, process: GameProcess) -> None:
        """Note when the game stands still, and kill a process that hangs."""
        seen = (-1, False)
        since, timeout = trio.current_time(), max(START_SECONDS, self._timeouts.move)
        with self._services.arbiter.watchers.spectating([game.game_id]) as subscription:
            while True:
                now = await self._services.lobby.look(game.game_id)
                mine, clocked = _is_due(now, game.player), now.options.clock is not None
                if (now.ply, mine) != seen:
                    if seen[1] and now.ply > seen[0]:
                        timeout = self._timeouts.move
                    seen, since = (now.ply, mine), trio.current_time()
                    game.idle_since = None if mine or now.over else since
                    self._note_change()
                limit = END_SECONDS if now.over else timeout
                left = since + limit - trio.current_time() if now.over or (mine and not clocked) else 60.0
                if left <= 0:
                    game.given_up = "" if now.over else f"no move in {limit:g} seconds"
                    await process.kill()
                    return
                with trio.move_on_after(left):
                    await subscription.wait()
                if subscription.interrupted:
                    return

    async def _settle(self, game: _Playing, status: int, tail: str) -> None:
        """Note how a process has ended; if its game has not, the bot loses it."""
        now = await self._services.lobby.look(game.game_id)
        if now.over and not status:
            self._pauses.pop(game.player, None)
            logger.info("a bot has finished", bot=game.kind.name, game_id=game.game_id)
            return
        reason = game.given_up or (f"exit status {status}" if status >= 0 else f"signal {-status}")
        logger.error("a bot failed", bot=game.kind.name, game_id=game.game_id, reason=reason, details=tail)
        await self._fail(game)

    async def _fail(self, game: _Playing) -> None:
        """Give up a bot's game; the bot pauses before its next one."""
        self._roster.failures += 1
        pause = self._pauses[game.player] = min(2 * self._pauses.get(game.player, FIRST_PAUSE / 2), LONGEST_PAUSE)
        self._paused_until[game.player] = trio.current_time() + pause
        await self._give_up(game)

    async def _give_up(self, game: _Playing) -> None:
        """Resign a bot's game, or decline it if it has not begun."""
        try:
            now = await self._services.lobby.look(game.game_id)
            if not now.over and not now.begun:
                await self._services.lobby.decline(game.game_id, game.player, loop_time.now())
            elif not now.over:
                ending = Ending.by(Cause.RESIGNATION, now.seats(game.player)[0])
                fields = {"game_id": game.game_id, "termination": termination_of(ending)}
                await self._local.ask(Authority.OPERATOR, "end_game", fields)
        except (GmError, Refused) as error:  # it has ended meanwhile, or cannot be written
            logger.warning("a bot's game was not ended", game_id=game.game_id, reason=str(error))


def _is_due(game: GameNote, player: int) -> bool:
    """Return whether a game waits for a player: to take its seat, or to move."""
    if game.over:
        return False
    seats = game.seats(player)
    return not seats or (game.begun and game.turn in seats)
