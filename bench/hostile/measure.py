"""A daemon with honest bots, without an attack and during each attack in turn."""

from __future__ import annotations

import http.client
import json
import select
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import trustme

from bench import servers
from bench.servers import certificate
from gmd.net.lingering import LINGER_SECONDS

from .attacks import ATTACKS, UNDER_TLS

#: The aims during any attack: bytes in memory, and seconds to 99 of 100 replies.
MOST_MEMORY = 1 << 30
MOST_SECONDS = 0.1
#: As addresses of the internet have by default: those here are this machine's.
SHARES = ("--max-connections-per-address", "500", "--http-max-connections-per-address", "500")
#: Seconds between two checks of the daemon, and the timeout of one.
LOOK = 0.25
LOOK_PATIENCE = 10.0
#: The most seconds for the preparation of an attack.
PREPARATION = 60.0


class Met(NamedTuple):
    """The measurements of honest bots and an operator during an attack."""

    #: Seconds to each reply.
    times: Sequence[float]
    #: The troubles, and how often each occurred.
    troubles: dict[str, int]
    #: The daemon's peak memory in bytes, and its memory after the attack.
    memory: int
    afterwards: int
    #: Seconds to each answer of ``/healthz``; infinite if there was none.
    health: Sequence[float]


def measure(seconds: float, names: Sequence[str] = (), checkout: str | None = None) -> None:
    """Print a line for each attack.

    :param seconds: the duration of each.
    :param names: the attacks to run; all if none is named.
    :param checkout: another checkout of gmd, whose daemon is attacked.
    :raises SystemExit: there is no such attack.
    """
    if unknown := set(names) - set(ATTACKS):
        raise SystemExit(f"attack: {', '.join(sorted(unknown))} is not one of {', '.join(ATTACKS)}")
    print(f"{'':17}{'replies':>8}  {'ms to a reply':^24}  {'MiB':^14}  {'/healthz, ms':^16}")
    times = f"{'median':>8}{'99 %':>8}{'worst':>8}"
    print(f"{'beside':17}{'':8}  {times}  {'most':>6}{'after':>8}  {'median':>8}{'worst':>8}  troubles")
    for name in ("nothing", *(names or ATTACKS)):
        _print(name, _meet(name, seconds, checkout))
    print(f"aims: 99 % within {MOST_SECONDS * 1e3:.0f} ms, at most {MOST_MEMORY >> 20:,} MiB, no troubles")


def _print(name: str, met: Met) -> None:
    times, health = sorted(met.times), sorted(met.health)
    share = times[len(times) * 99 // 100]
    troubles = ", ".join(f"{count} {what}" for what, count in met.troubles.items()) or "none"
    too_much = "".join(
        f" ({what})" for what, is_so in (("slow", share > MOST_SECONDS), ("large", met.memory > MOST_MEMORY)) if is_so
    )
    print(
        f"{name:17}{len(times):>8,}  {median(times) * 1e3:>8.1f}{share * 1e3:>8.1f}{times[-1] * 1e3:>8.0f}"
        f"  {met.memory / 2**20:>6.0f}{met.afterwards / 2**20:>8.0f}"
        f"  {median(health) * 1e3:>8.1f}{health[-1] * 1e3:>8.0f}  {troubles}{too_much}",
        flush=True,
    )


def _meet(name: str, seconds: float, checkout: str | None) -> Met:
    with (
        tempfile.TemporaryDirectory(prefix="gmd-bench-") as data,
        certificate(Path(data), trustme.KeyType.ECDSA) as (arguments, trust),
    ):
        is_tls = name in UNDER_TLS
        options = [argument.replace("--tls", "--http-tls") for argument in arguments] if is_tls else []
        with servers.gmd(f"{data}/games", *SHARES, *options, checkout=checkout, separate_loopback=True) as daemon:
            return _meet_daemon(name, seconds, daemon, trust if is_tls else None)


def _meet_daemon(name: str, seconds: float, daemon: servers.Daemon, trust: ssl.SSLContext | None) -> Met:
    """Attack a daemon.

    :param trust: trusts the certificate of its HTTP port; None if that has no TLS.
    """
    with _attack(name, daemon):
        met = _look_at(daemon, seconds, trust)
    time.sleep(LINGER_SECONDS + 1)  # connections that were cut off linger
    return met._replace(afterwards=daemon.resident_bytes())


@contextmanager
def _attack(name: str, daemon: servers.Daemon) -> Iterator[None]:
    """Run an attack while the context is open."""
    if name not in ATTACKS:
        yield
        return
    (host, port), (_, http_port) = daemon.address, daemon.http
    command = [sys.executable, "-m", "bench.hostile.attacks", name, host, str(port), str(http_port)]
    attacker = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        select.select([attacker.stdout], [], [], PREPARATION)  # type: ignore[type-var]
        yield
        if attacker.poll() is not None:
            raise RuntimeError(f"the attack {name} ended too early")
    finally:
        attacker.terminate()
        attacker.wait()


def _look_at(daemon: servers.Daemon, seconds: float, trust: ssl.SSLContext | None) -> Met:
    """Run the bots, and measure memory and health meanwhile."""
    command = [sys.executable, "-m", "bench.hostile.honest", *map(str, daemon.address), str(seconds)]
    bots = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    memory, health = [daemon.resident_bytes()], list[float]()
    asking = threading.Thread(target=_ask_for_health, args=(daemon, bots, health, trust))
    asking.start()
    while not _has_output(bots):
        memory.append(daemon.resident_bytes())
    output, _ = bots.communicate()
    asking.join()
    found = json.loads(output)
    return Met(found["times"], found["troubles"], max(memory), 0, health or [float("inf")])


def _has_output(process: subprocess.Popen[str]) -> bool:
    """Wait a moment, and return whether a process has begun to print, or has ended."""
    assert process.stdout is not None
    return bool(select.select([process.stdout], [], [], LOOK)[0])


def _ask_for_health(
    daemon: servers.Daemon, bots: subprocess.Popen[str], found: list[float], trust: ssl.SSLContext | None
) -> None:
    while bots.poll() is None:
        begun = time.perf_counter()
        try:
            with closing(_health_connection(daemon, trust)) as connection:
                connection.request("GET", "/healthz")
                well = connection.getresponse().status == 200
        except OSError:
            well = False
        found.append(time.perf_counter() - begun if well else float("inf"))
        time.sleep(LOOK)


def _health_connection(daemon: servers.Daemon, trust: ssl.SSLContext | None) -> http.client.HTTPConnection:
    if trust is None:
        return http.client.HTTPConnection(*daemon.http, timeout=LOOK_PATIENCE)
    return http.client.HTTPSConnection(*daemon.http, timeout=LOOK_PATIENCE, context=trust)
