"""An active daemon, its standby and their database fail again and again under load: nothing is lost or done twice."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import chess
import psycopg
import pytest
import trio

from tests.postgres import Postgres, own_postgres, require_postgres
from tests.proofs import cases
from tests.serving import environment
from tests.standby.pairs import Action, Pair, Played, replay
from tests.standby.slots import Slot, Slots, open_slots

#: Faults of one run.
FAULTS = 20
#: Pairs of players, half of which play reconnaissance blind chess.
PAIRS = 6
#: The longest game, in plies.
LENGTH = 40
#: The actions that all players together have acknowledged between two faults: at least one, at most this many.
MOST_BETWEEN = 60
#: The lease, in seconds, as it is by default.
LEASE = 2.0
#: Seconds for which a process is stopped, connections to the database are cut, and the database is down.
PAUSES, CUTS, OUTAGES = (2.2, 5.0), (0.1, 5.0), (0.0, 3.0)
#: Seconds by which a clock may run longer than its player measures: the clocks of several processes are rounded.
EPSILON = 0.05
#: The longest that the whole test may take for one fault, in seconds.
PATIENCE_SECONDS = 60


class Outage(NamedTuple):
    """A time in which certainly nobody served: no clock ran."""

    begin: float
    end: float


class Faults:
    """Lets things fail one after the other, as a seed decides; the next one before the last has recovered for long.

    :ivar takeovers: for each kind the seconds from the faults to the first action begun since that was acknowledged.
    :ivar outages: when certainly nobody served.
    """

    def __init__(self, seed: str, slots: Slots) -> None:
        self.takeovers: defaultdict[str, list[float]] = defaultdict(list)
        self.outages: list[Outage] = []
        self.acknowledged = 0
        self._rng = random.Random(seed)
        self._slots = slots
        self._left = 0
        self._since = 0.0
        self._due = trio.Event()

    def note(self, pair: int, begun: float) -> None:
        """Count an acknowledged action."""
        self.acknowledged += 1
        if begun >= self._since:
            self._left -= 1
            if self._left <= 0:
                self._due.set()

    async def run(self, number: int) -> None:
        """Make so many faults, of all kinds in turn, and return when play goes on after the last."""
        kinds = [self._kill, self._pause, self._cut, self._crash_database, self._end_session, self._crash_both]
        for each in range(number):
            if each % len(kinds) == 0:
                self._rng.shuffle(kinds)
            fault = kinds[each % len(kinds)]
            active = await self._slots.serving()
            began = trio.current_time()
            async with trio.open_nursery() as nursery:
                await nursery.start(fault, active, self._rng.random())
                self._since = trio.current_time()
                await self._progress(1)
                self.takeovers[fault.__name__.strip("_")].append(trio.current_time() - began)
            await self._progress(self._rng.randint(1, MOST_BETWEEN))

    async def _progress(self, actions: int) -> None:
        """Return after some acknowledged actions that were begun since the fault."""
        self._left, self._due = actions, trio.Event()
        await self._due.wait()

    async def _kill(self, active: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        """Kill the daemon; the other one takes over, or if part is small itself, as it is started again at once."""
        began, pid = trio.current_time(), active.pid
        active.kill()
        self._note_outage(began, pid)
        task_status.started()
        await trio.sleep(part)
        active.start()

    async def _pause(self, active: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        """Stop the process for longer than its lease, and let it go on."""
        began = trio.current_time()
        active.pause()
        self._note_outage(began, active.pid)
        task_status.started()
        await trio.sleep(_between(PAUSES, part))
        active.go_on()

    def _note_outage(self, began: float, pid: int) -> None:
        """Note that a process has ended or stopped between a time and now.

        The next daemon opens a lease after it has raised the term: that may have been before, as where the session of
        the lock was ended, and the one that served did not know it yet.
        """
        stopped = trio.current_time()
        with self._slots.operator() as operator:
            row = operator.execute("SELECT name, extract(epoch FROM clock_timestamp() - since) FROM server").fetchone()
        assert row is not None
        raised = began if str(row[0]).endswith(f"/{pid}") else stopped - float(str(row[1]))
        self.outages.append(Outage(stopped, min(began, raised) + LEASE))

    async def _cut(self, active: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        active.database.cut()
        task_status.started()
        await trio.sleep(_between(CUTS, part))
        active.database.mend()

    async def _crash_database(self, active: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        await trio.to_thread.run_sync(self._slots.server.stop, "immediate")
        began = trio.current_time()
        task_status.started()
        await trio.sleep(_between(OUTAGES, part))
        # Until its lease has run out, the daemon's clocks go on, and players think.
        self.outages.append(Outage(began + LEASE, trio.current_time()))
        await trio.to_thread.run_sync(self._slots.server.start)

    async def _end_session(self, active: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        """End the session of the lock."""
        with self._slots.operator() as operator:
            operator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
                " AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        task_status.started()

    async def _crash_both(self, active: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        """Cut the daemon off, and have the database crash meanwhile."""
        active.database.cut()
        await trio.to_thread.run_sync(self._slots.server.stop, "immediate")
        task_status.started()
        await trio.to_thread.run_sync(self._slots.server.start)
        await trio.sleep(_between(CUTS, part))
        active.database.mend()

    def told(self) -> str:
        """Return the median and the worst takeover of each kind."""
        return "; ".join(
            f"{kind}: {len(seconds)}, median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s"
            for kind, seconds in sorted(self.takeovers.items())
        )


def _between(limits: tuple[float, float], part: float) -> float:
    return limits[0] + part * (limits[1] - limits[0])


def _seconds_out(action: Action, outages: list[Outage]) -> float:
    """Return the seconds of all outages while an action was awaited."""
    seconds, covered = 0.0, action.since
    for begin, end in sorted((max(action.since, out.begin), min(action.acknowledged, out.end)) for out in outages):
        seconds += max(0.0, end - max(begin, covered))
        covered = max(covered, end)
    return seconds


def _events(url: str) -> dict[int, list[dict[str, object]]]:
    """Return the events of all games, which must be numbered without gaps."""
    found: dict[int, list[dict[str, object]]] = {}
    with psycopg.connect(url) as connection:
        for game_id, seq, event in connection.execute("SELECT game_id, seq, event FROM events ORDER BY 1, 2"):
            assert seq == len(found.setdefault(game_id, [])), (game_id, seq)
            found[game_id].append(event if isinstance(event, dict) else json.loads(event))
    return found


def _check_game(game: Played, events: list[dict[str, object]], outages: list[Outage]) -> None:
    """Check that the log has what the players know, once and in order, and charges no outage."""
    done = [event for event in events if event["event"] in ("sensed", "moved", "ended")]
    actions = sorted(game.actions, key=lambda action: (action.ply, action.event != "sensed"))  # replies may be late
    assert len(done) == len(actions), (game.game_id, done, actions)
    for event, action in zip(done, actions, strict=True):
        assert event["event"] == action.event, (game.game_id, event, action)
        if action.event == "sensed":
            square = event.get("square")
            assert action.what == (None if square is None else chess.square_name(int(str(square))))
        if action.event == "moved":
            assert event["move"] == (action.what or "0000"), (game.game_id, event, action)
        out = _seconds_out(action, outages)
        measured = action.acknowledged - action.since
        charged = float(str(event.get("seconds", 0.0)))
        assert charged <= measured - out + EPSILON, (game.game_id, action, charged, measured, out)
    for state in game.over:
        assert "timeout" not in str(state["termination"]), state
    if game.variant == "standard":
        board = replay([str(event["move"]) for event in done if event["event"] == "moved"])
        assert board.fen() == game.over[0]["fen"] == game.over[1]["fen"]


def _check(url: str, pairs: list[Pair], outages: list[Outage]) -> None:
    events = _events(url)
    games = [game for pair in pairs for game in pair.games]
    assert {game.game_id for game in games} == events.keys()
    assert len(games) == len(events)
    for game in games:
        _check_game(game, events[game.game_id], outages)
    command = [sys.executable, "-m", "gmd", "check", "--database", url]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def _server() -> Iterator[tuple[Postgres, str]]:
    require_postgres()
    with own_postgres() as server:
        yield server, server.new_database()


async def fail_again_and_again(directory: Path, seed: str, number: int) -> str:
    """Run a daemon and its standby under load through so many faults, and check everything; return what there was."""
    with _server() as (server, url):
        async with open_slots(server, url, directory, 2) as slots:
            for slot in slots:
                slot.start()
            faults = Faults(seed, slots)
            pairs = [Pair(each, slots.addresses, faults.note, LENGTH) for each in range(PAIRS)]
            began = trio.current_time()
            with trio.fail_after(number * PATIENCE_SECONDS):
                async with trio.open_nursery() as nursery:
                    for pair in pairs:
                        nursery.start_soon(pair.play)
                    await faults.run(number)
                    for pair in pairs:
                        pair.stops = True
            seconds = trio.current_time() - began
            for slot in slots:
                assert await trio.to_thread.run_sync(slot.stop) == 0
        await trio.to_thread.run_sync(_check, url, pairs, faults.outages)
        logged = "".join(slot.log.read_text() for slot in slots)
        assert "Traceback" not in logged, logged
    games = sum(len(pair.games) for pair in pairs)
    return f"{faults.told()}; {faults.acknowledged} actions of {games} games in {seconds:.0f} s"


@pytest.mark.slow
async def test_whatever_fails_nothing_is_lost_and_nobody_is_charged(tmp_path: Path) -> None:
    for part in range(cases(1)):
        directory = tmp_path / str(part)
        directory.mkdir()
        print(await fail_again_and_again(directory, f"faults {part}", FAULTS))
