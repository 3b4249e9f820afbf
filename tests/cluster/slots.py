"""Daemons that come back: each on the same addresses, which others reach through relays that a test cuts.

async with open_slots(url, directory, 3) as slots:
    await slots[0].start()
    slots[0].kill()
    slots[0].links.cut()
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from itertools import count
from pathlib import Path

import psycopg
import trio

from tests.cluster.relay import Address, Relay
from tests.serving import SERVE, STOP_SECONDS, environment, first_lines, reserved_port

#: Seconds between two attempts to start a daemon.
AGAIN_SECONDS = 0.2


class Slot:
    """The place of one daemon.

    :ivar links: what other daemons reach its port for links through.
    :ivar process: the daemon; None before the first start.
    :ivar log: what all its processes have logged.
    """

    def __init__(self, number: int, url: str, directory: Path, ports: tuple[int, int], flags: Sequence[str]) -> None:
        self.game_port, self.link_port = ports
        #: A loopback address of its own, by which others know it.
        self.host = f"127.0.1.{number}"
        self.log = directory / f"{number}.log"
        self.links = Relay(lambda: [("127.0.0.1", self.link_port)])
        self.games = Relay(lambda: [self.address])
        self.process: subprocess.Popen[str] | None = None
        self.is_stopped = False
        place = ("--database", url, "--data", str(directory / str(number)), "--reached-at", self.host)
        self._command = [*SERVE, *place, "--port", str(self.game_port), "--link-port", str(self.link_port), *flags]

    @property
    def address(self) -> Address:
        """Where clients reach the daemon itself."""
        return "127.0.0.1", self.game_port

    @property
    def known_as(self) -> str:
        """The daemon's address for clients, as the database has it."""
        return f"{self.host}:{self.game_port}"

    @property
    def lives(self) -> bool:
        """Whether its process runs, and is not stopped by a signal."""
        return self.process is not None and self.process.poll() is None and not self.is_stopped

    async def start(self) -> None:
        """Start the daemon, and return when it serves clients; again if it ends at once, as while the database is down.

        A service manager does the same.
        """
        while not await trio.to_thread.run_sync(self._starts):  # noqa: ASYNC110 (no event says when it may start)
            await trio.sleep(AGAIN_SECONDS)

    def _starts(self) -> bool:
        with self.log.open("a") as log:
            pipe = subprocess.PIPE
            process = subprocess.Popen(self._command, env=environment(), stdout=pipe, stderr=log, text=True)
        try:
            first_lines(process)
        except AssertionError:
            process.kill()
            process.communicate()
            return False
        self.process = process
        return True

    def kill(self) -> None:
        """Kill the daemon, and wait for its end."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process, self.is_stopped = None, False

    def pause(self) -> None:
        """Stop the process, until :meth:`go_on`."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        self.is_stopped = True

    def go_on(self) -> None:
        """Let the process go on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def stop(self) -> int:
        """Drain the daemon, and return its exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=STOP_SECONDS)
        status, self.process = self.process.returncode, None
        return status


class Slots(list[Slot]):
    """All places, and one port that leads to any daemon that lives, as a balancer's does.

    :ivar port: the balancer's, on 127.0.0.1.
    """

    def __init__(self, url: str, slots: Sequence[Slot]) -> None:
        super().__init__(slots)
        self.url = url
        self.port = 0
        self.balancer = Relay(self._in_turn)
        self._turns = count()

    def _in_turn(self) -> list[Address]:
        first = next(self._turns) % len(self)
        return [slot.address for slot in [*self[first:], *self[:first]] if slot.lives]

    def leases(self) -> dict[str, tuple[set[int], float]]:
        """Return by each daemon's address its shards, and the seconds until its lease ends.

        An address that has had two daemons lately has the shards of both, and the shorter lease of those with shards.
        """
        query = (
            "SELECT game, shard, extract(epoch FROM until - clock_timestamp()) FROM shards JOIN daemons USING (daemon)"
        )
        found: dict[str, tuple[set[int], float]] = {}
        with psycopg.connect(self.url) as connection:
            for game, shard, left in connection.execute(query).fetchall():
                shards, least = found.get(game, (set(), float(left)))
                found[game] = shards | {shard}, min(least, float(left))
        return found


@asynccontextmanager
async def open_slots(url: str, directory: Path, number: int, *flags: str) -> AsyncIterator[Slots]:
    """Give places for daemons on one database; at the end all are killed.

    :param directory: an existing one, for their files.
    :param flags: of every daemon's command.
    """
    with ExitStack() as stack:
        slots = []
        for each in range(1, number + 1):
            ports = stack.enter_context(reserved_port()), stack.enter_context(reserved_port())
            slots.append(Slot(each, url, directory, ports, flags))
            stack.callback(slots[-1].kill)
        all_slots = Slots(url, slots)
        async with trio.open_nursery() as nursery:
            all_slots.port = await nursery.start(all_slots.balancer.run, "127.0.0.1", 0)
            for slot in slots:
                await nursery.start(slot.links.run, slot.host, slot.link_port)
                await nursery.start(slot.games.run, slot.host, slot.game_port)
            yield all_slots
            nursery.cancel_scope.cancel()
