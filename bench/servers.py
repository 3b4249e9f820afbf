"""Servers under test, each in its own process."""

from __future__ import annotations

import http.client
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path

import trustme

_ADDRESS = re.compile(r"([^\s/]+):(\d+)")

#: The daemon's program, with :func:`gmd.net.addresses.separate_loopback`.
_SEPARATE_LOOPBACK = """
from gmd.cli import main
from gmd.net.addresses import separate_loopback
with separate_loopback():
    main(prog_name="gmd")
"""


class Server:
    """A running server.

    :ivar address: its host and port.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address = self._address_in_line(" listening on ")

    def cpu_seconds(self) -> float | None:
        """Return the processor time used so far, in seconds; None if the system does not say (Linux does)."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def main_seconds(self) -> float | None:
        """Return the processor time of its main thread so far, in seconds; None if unknown, as above."""
        pid = self._process.pid
        try:
            return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9
        except OSError:
            return None

    def all_seconds(self) -> float | None:
        """Return the processor time of all its threads and child processes so far, in seconds; None if unknown.

        Only those that still exist are counted.
        """
        try:
            return _thread_seconds(self._process.pid)
        except OSError:
            return None

    def resident_bytes(self) -> int:
        """Return the memory that it holds now, in bytes.

        :raises OSError: the system does not say (Linux does).
        """
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def _address_in_line(self, says: str) -> tuple[str, int]:
        """Read the lines that it prints up to one that says this, and return the last ``host:port`` in that."""
        assert self._process.stdout is not None
        line = next(line for line in self._process.stdout if says in line)
        host, port = _ADDRESS.findall(line)[-1]
        return host, int(port)


def _thread_seconds(pid: int) -> float:
    """Return the processor time of a process's threads and of its children's, in seconds."""
    seconds = 0.0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        seconds += int((thread / "schedstat").read_text().split()[0]) / 1e9
        seconds += sum(_thread_seconds(int(child)) for child in (thread / "children").read_text().split())
    return seconds


class Daemon(Server):
    """A running daemon."""

    @cached_property
    def http(self) -> tuple[str, int]:
        """The host and port of its HTTP server, if that is enabled."""
        return self._address_in_line("HTTP on ")

    def metric(self, name: str) -> float:
        """Return the value of one of its metrics without labels."""
        with closing(http.client.HTTPConnection(*self.http)) as connection:
            connection.request("GET", "/metrics")
            lines = connection.getresponse().read().decode().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


@contextmanager
def running(*arguments: str, checkout: str | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run ``python ARGUMENTS``.

    :param checkout: the folder of another checkout, whose code is run instead of this one's.
    """
    command = [sys.executable, *arguments]
    paths = {} if checkout is None else {"PYTHONPATH": os.pathsep.join([checkout, f"{checkout}/protocol"])}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=checkout,
        env=os.environ | {"GMD_BOTS": "none"} | paths,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextmanager
def gmd(
    data: str = ":memory:", *arguments: str, checkout: str | None = None, separate_loopback: bool = False
) -> Iterator[Daemon]:
    """Run a daemon, in memory or on a data directory; from another checkout, if one is given.

    :param separate_loopback: whether it counts each loopback address as a client of its own.
    """
    command = ("serve", "--port", "0", "--http-port", "0", "--data", data, *arguments)
    program = ("-c", _SEPARATE_LOOPBACK) if separate_loopback else ("-m", "gmd")
    with running(*program, *command, checkout=checkout) as process:
        yield Daemon(process)


@contextmanager
def echo(reply_bytes: int, *, one_shot: bool, commit: bool = False) -> Iterator[Server]:
    """Run the bare echo server.

    :param commit: whether it commits what it reads to SQLite before it answers.
    """
    options = [*(["--one-shot"] if one_shot else []), *(["--commit"] if commit else [])]
    with running("-m", "bench.echo", str(reply_bytes), *options) as process:
        yield Server(process)


@contextmanager
def certificate(directory: Path, key: trustme.KeyType) -> Iterator[tuple[list[str], ssl.SSLContext]]:
    """Create a certificate; yield a daemon's arguments for it, and a context that trusts it."""
    authority = trustme.CA(key_type=key)
    leaf = authority.issue_cert("127.0.0.1", key_type=key)
    both = directory / f"{key.name}.pem"
    leaf.private_key_and_cert_chain_pem.write_to_path(both)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    yield ["--tls-cert", str(both), "--tls-key", str(both)], trust
