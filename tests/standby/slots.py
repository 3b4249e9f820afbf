"""Daemons on one database, each in a process that comes back on the same ports, by a relay to the database.

async with open_slots(server, url, directory, 2) as slots:
    await slots[0].start()
    slots[0].kill()
    slots[0].database.cut()
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psycopg
import trio

from tests.postgres import Postgres, database_of
from tests.relay import Relay
from tests.serving import SERVE, STOP_SECONDS, environment, reserved_port

#: Seconds between two looks at who serves.
LOOK_SECONDS = 0.02
#: How much of a daemon's log a failed test shows.
SHOWN_CHARACTERS = 20_000


class Slot:
    """The place of one daemon.

    :ivar database: leads to the database.
    :ivar process: the daemon; None before the first start.
    :ivar log: what all its processes have logged.
    """

    def __init__(self, number: int, server: Postgres, url: str, directory: Path, ports: tuple[int, int, int]) -> None:
        self.port, self.health_port, self.database_port = ports
        self.log = directory / f"{number}.log"
        self.database = Relay(lambda: [("127.0.0.1", server.port)])
        self.process: subprocess.Popen[bytes] | None = None
        self.is_stopped = False
        ours = f"{server.tcp_url(url).replace(f':{server.port}/', f':{self.database_port}/')}?sslmode=disable"
        self._command = [
            *(*SERVE, "--database", ours, "--data", str(directory / str(number))),
            *("--port", str(self.port), "--health-port", str(self.health_port), "--max-plies", "20000"),
        ]

    def start(self, *flags: str) -> None:
        """Start the daemon."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self._command, *flags], env=environment(), stdout=subprocess.DEVNULL, stderr=log
            )

    @property
    def pid(self) -> int:
        """The process."""
        assert self.process is not None
        return self.process.pid

    async def probe(self) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of a health check.

        :raises OSError: the port is not open.
        """

        def get() -> tuple[int, dict[str, Any]]:
            connection = HTTPConnection("127.0.0.1", self.health_port)
            with closing(connection):
                connection.request("GET", "/healthz")
                response = connection.getresponse()
                return response.status, json.loads(response.read())

        return await trio.to_thread.run_sync(get)

    async def is_standby(self) -> None:
        """Return when the daemon waits for its turn."""
        while True:
            with suppress(OSError):
                if (await self.probe())[1]["status"] == "standby":
                    return
            await trio.sleep(LOOK_SECONDS)

    def show_log(self) -> None:
        """Print the end of the log, which pytest shows if the test fails."""
        if self.log.exists():
            print(f"--- {self.log.name}\n{self.log.read_text()[-SHOWN_CHARACTERS:]}")

    def kill(self) -> None:
        """Kill the daemon, and wait for its end."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
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
        status = self.process.wait(STOP_SECONDS)
        self.process = None
        return status


class Slots(list[Slot]):
    """All places, on one database."""

    def __init__(self, server: Postgres, url: str, slots: Sequence[Slot]) -> None:
        super().__init__(slots)
        self.server, self.url = server, url

    @property
    def addresses(self) -> str:
        """The addresses of all game ports, as clients take them."""
        return ",".join(f"127.0.0.1:{slot.port}" for slot in self)

    @contextmanager
    def operator(self) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
        """Give a connection to the database."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            yield connection

    async def serving(self) -> Slot:
        """Return the slot whose daemon serves, once there is one that may answer."""
        while True:
            for slot in self:
                if slot.process is not None and not slot.is_stopped:
                    with suppress(OSError):
                        if (await slot.probe())[0] == 200:
                            return slot
            await trio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def open_slots(server: Postgres, url: str, directory: Path, number: int) -> AsyncIterator[Slots]:
    """Give places for daemons on one database; at the end all are killed.

    :param url: the database's.
    :param directory: an existing one, for their files.
    """
    assert database_of(url)
    with ExitStack() as stack:
        slots = []
        for each in range(1, number + 1):
            ports = tuple(stack.enter_context(reserved_port()) for _ in range(3))
            slots.append(Slot(each, server, url, directory, (ports[0], ports[1], ports[2])))
            stack.callback(slots[-1].show_log)
            stack.callback(slots[-1].kill)
        async with trio.open_nursery() as nursery:
            for slot in slots:
                await nursery.start(slot.database.run, "127.0.0.1", slot.database_port)
            yield Slots(server, url, slots)
            nursery.cancel_scope.cancel()
