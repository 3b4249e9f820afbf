"""The times in which an embedded daemon starts and stops, and of a call without a socket."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread
from time import perf_counter

import trio

import gmd

from . import servers


def measure(rounds: int) -> None:
    """Print the times, each with its peer's."""
    bare, light, loaded = (median(_timed(_python, code) for _ in range(rounds)) for code in ("", *_IMPORTS))
    print(f"a bare Python starts in {bare * 1e3:.0f} ms; import gmd adds {(light - bare) * 1e3:.1f} ms,")
    print(f"  the first daemon's imports {(loaded - bare) * 1e3:.0f} ms")
    _print_starts("in memory", gmd.EMBEDDED, rounds * 20)
    with TemporaryDirectory() as data:
        _print_starts("on disk", gmd.Config(port=0, data=data), rounds * 4)
    serve = median(_timed(_serve) for _ in range(rounds))
    print(f"gmd serve, in its own process, starts and stops in {serve * 1e3:.0f} ms")
    _print_calls(rounds * 400)


_IMPORTS = ("import gmd", "import gmd; gmd.background_daemon")


def _timed(function: Callable[..., object], *args: object) -> float:
    begun = perf_counter()
    function(*args)
    return perf_counter() - begun


def _python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


def _serve() -> None:
    with servers.gmd(":memory:", "--no-http"):
        pass


def _bare_thread() -> None:
    """Run an empty trio program in a thread."""
    thread = Thread(target=trio.run, args=(trio.lowlevel.checkpoint,))
    thread.start()
    thread.join()


def _print_starts(where: str, config: gmd.Config, rounds: int) -> None:
    gmd.background_daemon(config).close()  # imports modules, and creates the database
    starts, stops, bare = [], [], []
    for _ in range(rounds):
        begun = perf_counter()
        daemon = gmd.background_daemon(config)
        starts.append(perf_counter() - begun)
        stops.append(_timed(daemon.close))
        bare.append(_timed(_bare_thread))
    print(
        f"a background daemon {where} starts in {median(starts) * 1e3:.2f} ms, stops in {median(stops) * 1e3:.2f} ms; "
        f"a thread with an empty trio program takes {median(bare) * 1e3:.2f} ms"
    )


def _print_calls(rounds: int) -> None:
    async def from_trio(daemon: gmd.Daemon) -> float:
        begun = perf_counter()
        for _ in range(rounds):
            await daemon.ask("state", game_id=1)
        return perf_counter() - begun

    async def nothing(_: gmd.Daemon) -> None:
        pass

    with gmd.background_daemon() as daemon:
        daemon.ask("new_game", player_white=1, player_black=2)
        inside = daemon.run(from_trio) / rounds
        across = median(_timed(lambda: daemon.ask("state", game_id=1)) for _ in range(rounds))
        empty = median(_timed(daemon.run, nothing) for _ in range(rounds))
    print(f"a state without a socket: {inside * 1e6:.0f} us in trio, {across * 1e6:.0f} us from another thread,")
    print(f"  of which {empty * 1e6:.0f} us are for the switch to the daemon's thread and back")
