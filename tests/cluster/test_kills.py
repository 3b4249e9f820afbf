"""Daemons, their links and their database fail again and again under load: nothing is lost, and nobody is charged."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import chess
import psycopg
import pytest
import trio

from gmd.cluster.leases import LEASE_SECONDS
from gmd.cluster.shards import shard_of
from tests.cluster.bots_with_clocks import Action, Pair, Played, replay
from tests.cluster.slots import Slot, Slots, open_slots
from tests.helpers_proof import proof_size
from tests.postgres import Postgres, own_postgres, require_postgres
from tests.serving import environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux listens on all of 127.0.0.0/8 at once")

#: Faults of one test: several tests run beside each other. The ten of the ordinary run are of all kinds.
FAULTS = proof_size(small=10, full=30, share=30)
#: Pairs of players, half of which play reconnaissance blind chess.
PAIRS = 6
#: The longest game, in plies.
LENGTH = 40
#: The actions that all players together have acknowledged between two faults: at least one, at most this many.
MOST_BETWEEN = 60
#: Of so many faults one is followed by a time in which every pair goes on.
SETTLES = 5
#: Seconds for which a process is stopped, links are cut, and the database is down: a lease lasts two.
PAUSES, CUTS, OUTAGES = (2.2, 3.5), (0.1, 3.0), (0.0, 3.0)
#: Seconds by which a clock may run longer than its player measures: the clocks of several processes are rounded.
EPSILON = 0.05
#: The longest that the whole test may take for one fault, in seconds.
PATIENCE_SECONDS = 120


class Outage:
    """A time in which some shards certainly had no owner that served them: no clock of their games ran.

    :ivar shards: None for all.
    """

    def __init__(self, begin: float, end: float, shards: set[int] | None = None) -> None:
        self.begin, self.end, self.shards = begin, end, shards

    def within(self, game_id: int, since: float, until: float) -> tuple[float, float]:
        """Return when its part between two instants begins and ends, for a game; the end may come before."""
        if self.shards is not None and shard_of(game_id) not in self.shards:
            return since, since
        return max(since, self.begin), min(until, self.end)


class Faults:
    """Lets things fail, as a seed decides: the next one before the last has recovered, but no daemon twice at a time.

    :ivar made: how many of each kind there were.
    :ivar outages: when whose games certainly could not be served.
    """

    def __init__(self, seed: str, slots: Slots, server: Postgres) -> None:
        self.made: Counter[str] = Counter()
        self.outages: list[Outage] = []
        self.acknowledged = 0
        self._rng = random.Random(seed)
        self._slots, self._server = slots, server
        self._locks = {slot: trio.Lock() for slot in slots}
        self._database, self._links = trio.Lock(), trio.Lock()
        self._left = 0
        self._awaited: set[int] = set()
        self._due = trio.Event()

    def note(self, pair: int) -> None:
        """Count an acknowledged action of a pair."""
        self.acknowledged += 1
        self._left -= 1
        self._awaited.discard(pair)
        if self._left <= 0 and not self._awaited:
            self._due.set()

    async def run(self, number: int) -> None:
        """Make so many faults, and return when every pair goes on after the last."""
        kinds = [self._kill, self._kill, self._kill, self._pause, self._cut, self._crash_database]
        async with trio.open_nursery() as nursery:
            for _ in range(number):
                fault, slot, part = self._rng.choice(kinds), self._rng.choice(self._slots), self._rng.random()
                self.made[fault.__name__.strip("_")] += 1
                await nursery.start(fault, slot, part)
                await self._progress(set(range(PAIRS)) if self._rng.randrange(SETTLES) == 0 else set())
        await self._progress(set(range(PAIRS)))

    async def _progress(self, pairs: set[int]) -> None:
        """Return after some acknowledged actions, and some of each of these pairs."""
        self._left, self._awaited, self._due = self._rng.randint(1, MOST_BETWEEN), pairs, trio.Event()
        await self._due.wait()

    async def _kill(self, slot: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        async with self._locks[slot]:
            assert slot.lives
            slot.kill()
            task_status.started()
            await self._note_lease(slot)
            await slot.start()

    async def _pause(self, slot: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        async with self._locks[slot]:
            slot.pause()
            task_status.started()
            await self._note_lease(slot)
            await trio.sleep(_between(PAUSES, part))
            slot.go_on()

    async def _cut(self, slot: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        async with self._links:
            cut = self._slots if part < 0.5 else [slot]
            for each in cut:
                each.links.cut()
            task_status.started()
            await trio.sleep(_between(CUTS, part))
            for each in cut:
                each.links.mend()

    async def _crash_database(self, slot: Slot, part: float, *, task_status: trio.TaskStatus[None]) -> None:
        async with self._database:
            await trio.to_thread.run_sync(self._server.stop, "immediate")
            task_status.started()
            begin = trio.current_time()
            await trio.sleep(_between(OUTAGES, part))
            # Until the leases have run out, the owners' clocks go on, and players think.
            self.outages.append(Outage(begin + LEASE_SECONDS, trio.current_time()))
            await trio.to_thread.run_sync(self._server.start)

    async def _note_lease(self, slot: Slot) -> None:
        """Note that the games of a daemon that has just ended have no owner until its lease has run out."""
        began = trio.current_time()
        try:
            leases = await trio.to_thread.run_sync(self._slots.leases)
        except psycopg.OperationalError:
            return  # the database is down, which counts by itself
        shards, left = leases.get(slot.known_as, (set(), 0.0))
        self.outages.append(Outage(began, began + left, shards))


def _between(limits: tuple[float, float], part: float) -> float:
    return limits[0] + part * (limits[1] - limits[0])


def _seconds_out(game_id: int, action: Action, outages: list[Outage]) -> float:
    """Return the seconds of all outages for a game while an action was awaited."""
    parts = sorted(outage.within(game_id, action.since, action.acknowledged) for outage in outages)
    seconds, covered = 0.0, action.since
    for begin, end in parts:
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
        out = _seconds_out(game.game_id, action, outages)
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
    """Run three daemons under load through so many faults, and check everything; return what there was."""
    with _server() as (server, url):
        async with open_slots(url, directory, 3) as slots:
            for slot in slots:
                await slot.start()
            faults = Faults(seed, slots, server)
            pairs = [Pair(each, lambda: slots.port, faults.note, LENGTH) for each in range(PAIRS)]
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
    return f"{dict(faults.made)}, {faults.acknowledged} actions of {games} games in {seconds:.0f} s"


@pytest.mark.long
@pytest.mark.proof
@pytest.mark.seconds(30)
@pytest.mark.parametrize("part", range(proof_size(small=1, full=10, share=1)))
async def test_whatever_fails_nothing_is_lost_and_nobody_is_charged(tmp_path: Path, part: int) -> None:
    print(await fail_again_and_again(tmp_path, f"faults {part}", FAULTS))
