"""Lets the daemon's bots play: it answers their invitations, and has a process for each game that needs one.

The keys of their accounts are made anew for each run, and only the daemon has them.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

import trio

from gm_protocol.endings import Cause, Ending, termination_of
from gm_protocol.errors import GmError
from gmd.bots.process import GameProcess
from gmd.event_log.directory import BOTS_TOKEN, write_private
from gmd.event_log.interface import LogUnreachable
from gmd.games.game_note import GameNote
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient, Json, Refused, Sender
from gmd.handlers.services import Services
from gmd.lobby.roster import BotKind, Roster
from gmd.logger import get_logger
from gmd.net import loop_time
from gmd.players.account import Account, Authenticated
from gmd.players.presence import Attendance
from gmd.players.registry import Registry

logger = get_logger(__name__)

#: Games that a bot takes at a time: those without a place wait.
MAX_GAMES = 10_000


def stored_token(directory: Path | None) -> str | None:
    """Return the token of a data directory's bots, which proves that they are the daemon's; None if it has none.

    :raises OSError: the file cannot be read.
    """
    if directory is None:
        return None
    try:
        return (directory / BOTS_TOKEN).read_text("utf-8").strip() or None
    except FileNotFoundError:
        return None


def read_token(directory: Path | None) -> str:
    """Return the token of a data directory's bots; a new one is stored, and readable by its owner only.

    :param directory: None where games are kept in memory.
    :raises OSError: the file cannot be read or written.
    """
    if directory is None:
        return secrets.token_urlsafe()
    if (stored := stored_token(directory)) is not None:
        return stored
    token = secrets.token_urlsafe()
    write_private(directory / BOTS_TOKEN, f"{token}\n".encode())
    return token


async def enlist(kinds: list[BotKind], registry: Registry, token: str, roster: Roster) -> None:
    """Register the bots that are not registered yet, and make all of them the roster.

    A bot whose name belongs to somebody else, or whose key was revoked, is left out.

    :raises LogUnreachable: the database cannot be reached.
    """
    found: dict[int, BotKind] = {}
    for kind in kinds:
        account = await _enlisted(kind, registry, token)
        if account is not None:
            found[account.player] = kind
    roster.replace(found)


async def _enlisted(kind: BotKind, registry: Registry, token: str) -> Account | None:
    """Return the account of a bot; None if it is left out."""
    try:
        account, _ = await registry.register(kind.name, None, token)
        if account.max_games != MAX_GAMES:
            account = await registry.set(account.player, max_games=MAX_GAMES)
    except LogUnreachable:
        raise
    except GmError as error:
        logger.warning("a bot is left out", bot=kind.name, reason=str(error))
        return None
    if account.key is None:
        logger.warning("a bot is left out", bot=kind.name, reason="its key is revoked: gmd rekey gives it another")
        return None
    return account


class Keys:
    """The keys that this run has given to the bots."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._made: dict[int, tuple[str, bytes]] = {}

    async def key_of(self, account: Account) -> str:
        """Return a bot's key; another one where it has none from this run, or where somebody has replaced it."""
        key, stored = self._made.get(account.player, ("", b""))
        if stored == account.key:
            return key
        changed, new = await self._registry.rekey(account.player, None)
        assert new is not None  # only a repeated request has none
        assert changed.key is not None
        self._made[account.player] = new, changed.key
        return new


#: Seconds at least for a process's first move: it has to start, maybe on a busy machine.
START_SECONDS = 60.0
#: Seconds that a process may take to end once its game is over.
END_SECONDS = 10.0
#: Seconds that a bot pauses after a failure; twice as many after each further one.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0


@dataclass(frozen=True)
class BotTimeouts:
    """Seconds without a clock: for a move of a bot, and of its opponent while another game waits for a place."""

    move: float
    idle: float


@dataclass(eq=False)
class _Playing:
    """A game with a process.

    :ivar idle_since: since when it could be left to itself, in trio's time; None while it could not.
    :ivar given_up: why its process was ended before its game.
    """

    player: int
    kind: BotKind
    game_id: int
    key: str = field(repr=False)
    idle_since: float | None = None
    left: bool = False
    given_up: str = ""
    leave: trio.Event = field(default_factory=trio.Event)


class Supervisor:
    """Runs the bots of the services' roster.

    :param path: the Unix socket that their processes connect to.
    :param local: sends the bots' own requests.
    """

    def __init__(self, services: Services, local: InProcessClient, path: str, timeouts: BotTimeouts) -> None:
        self._services, self._local, self._path, self._timeouts = services, local, path, timeouts
        self._roster, self._registry = services.roster, services.authenticator.registry
        self._keys = Keys(self._registry)
        self._playing: list[_Playing] = []
        self._queue = trio.StrictFIFOLock()
        self._changed = trio.Event()
        self._pauses: dict[int, float] = {}

    async def run(self) -> None:
        """Play until cancelled. Games in progress are then left as they are."""
        async with trio.open_nursery() as nursery:
            for player, kind in list(self._roster.bots()):
                nursery.start_soon(self._attend, player, kind, nursery)

    async def _attend(self, player: int, kind: BotKind, nursery: trio.Nursery) -> None:
        """Play the games of one bot, as they become due."""
        visit = Attendance(self._services.lobby.presence)
        try:
            while (account := self._registry.get(player)) is not None and account.key is not None:
                visit.enter(Authenticated(player, account.key))
                try:
                    due = await self._next_due(account)
                    if due is not None:
                        await self._take(account, kind, due, nursery)
                except (GmError, Refused) as error:
                    logger.warning("a bot could not go on", bot=kind.name, reason=str(error))
                    await self._pause(player)
                except Exception:  # a bug here must not end the daemon
                    logger.exception("a bot could not go on", bot=kind.name)
                    await trio.sleep(LONGEST_PAUSE)
        finally:
            visit.leave()
        self._roster.drop(player)
        logger.warning("a bot plays no more: its key was revoked", bot=kind.name)

    async def _next_due(self, account: Account, seconds: float | None = None) -> Json | None:
        """Return the state of a game that waits for a bot and has no process; None if there is none after a while."""
        busy = [game_id for player, game_id in self._roster.running if player == account.player]
        fields = {"any": True, "except": busy, "brief": True, "timeout": seconds}
        reply = await self._local.ask(Authority.CLIENT, "wait", fields, _sender(account))
        state: Json | None = reply["state"]
        return state if state is not None and state["phase"] != "over" else None

    async def _take(self, account: Account, kind: BotKind, due: Json, nursery: trio.Nursery) -> None:
        """Begin to play the game that is due, or another one if that is due when there is a place."""
        if due["variant"] not in kind.variants:
            await self._refuse(account, kind, due)
            return
        async with self._place(kind, due["game_id"]):
            found = await self._next_due(account, 0)
            if found is None or found["variant"] not in kind.variants:
                return
            # Before the next wait, which a new key would end.
            key = await self._keys.key_of(self._registry.get(account.player) or account)
            game = _Playing(account.player, kind, found["game_id"], key)
            self._playing.append(game)
            self._roster.running.add((game.player, game.game_id))
        nursery.start_soon(self._play, game)
        if pause := self._pauses.get(account.player):
            await trio.sleep(pause)

    async def _refuse(self, account: Account, kind: BotKind, due: Json) -> None:
        """Decline a game of a variant that the bot does not play."""
        logger.info("a bot declines", bot=kind.name, game_id=due["game_id"], variant=due["variant"])
        await self._services.lobby.decline(due["game_id"], account.player, loop_time.now())

    # --- Places -------------------------------------------------------------------------------------------------

    def _place(self, kind: BotKind, game_id: int) -> _PlaceQueue:
        return _PlaceQueue(self, kind, game_id)

    async def wait_for_place(self, kind: BotKind, game_id: int) -> None:
        """Return when fewer games have processes than may; meanwhile, end a process whose game stands still."""
        if len(self._playing) >= self._roster.at_once:
            logger.info("a game waits for a bot", bot=kind.name, game_id=game_id, playing=len(self._playing))
        while len(self._playing) >= self._roster.at_once:
            with trio.move_on_after(self._leave_one()):
                await self._changed.wait()

    def _leave_one(self) -> float:
        """End the process of the game that has stood still the longest; return after how many seconds to look again."""
        still = [game for game in self._playing if game.idle_since is not None and not game.left]
        if not still:
            return self._timeouts.idle
        longest = min(still, key=lambda game: game.idle_since or 0.0)
        assert longest.idle_since is not None
        seconds = longest.idle_since + self._timeouts.idle - trio.current_time()
        if seconds > 0:
            return seconds
        longest.left = True
        longest.leave.set()
        return self._timeouts.idle

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
            self._roster.running.discard((game.player, game.game_id))
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
        logger.info("a bot makes room: its opponent has not moved", bot=game.kind.name, game_id=game.game_id)
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
                    game.idle_since = None if mine or clocked or not game.kind.rejoins else since
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
        """Resign a bot's game, or decline it if it has not begun; the bot pauses before its next one."""
        self._roster.failures += 1
        self._pauses[game.player] = min(2 * self._pauses.get(game.player, FIRST_PAUSE / 2), LONGEST_PAUSE)
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

    async def _pause(self, player: int) -> None:
        await trio.sleep(self._pauses.get(player, FIRST_PAUSE))


class _PlaceQueue:
    """The queue for a place: entered by the first in it, once there is a place."""

    def __init__(self, supervisor: Supervisor, kind: BotKind, game_id: int) -> None:
        self._supervisor, self._kind, self._game_id = supervisor, kind, game_id

    async def __aenter__(self) -> None:
        await self._supervisor._queue.acquire()
        try:
            await self._supervisor.wait_for_place(self._kind, self._game_id)
        except BaseException:
            self._supervisor._queue.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._supervisor._queue.release()


def _sender(account: Account) -> Sender:
    """Return a bot as the sender of a request, which shows nobody that it has seen a game."""
    assert account.key is not None
    return Sender(Authenticated(account.player, account.key), "", loop_time.now(), shows_presence=False)


def _is_due(game: GameNote, player: int) -> bool:
    """Return whether a game waits for a player: to take its seat, or to move."""
    if game.over:
        return False
    seats = game.seats(player)
    return not seats or (game.begun and game.turn in seats)
