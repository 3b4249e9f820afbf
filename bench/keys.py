"""The cost of authentication, for right and wrong keys and for unknown players, compared with the digest alone."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from statistics import median

import trio

from gm_protocol.errors import Unauthorized
from gmd.players.account import FIRST_PLAYER
from gmd.players.authenticator import Authenticator
from gmd.players.registry import Registry
from gmd.players.store import MemoryPlayers

#: The number of registered players.
PLAYERS = 1_000


def measure(checks: int, rounds: int) -> None:
    """Print the medians of the rounds, in microseconds per check."""
    trio.run(_measure, checks, rounds)


async def _measure(checks: int, rounds: int) -> None:
    registry = Registry(MemoryPlayers(), PLAYERS)
    key = ""
    for number in range(PLAYERS):
        account, given = await registry.register(f"bot-{number}", None, None)
        key = given or ""
    authenticator = Authenticator(registry, 10**9, 10**9)
    authenticated = authenticator.authenticated(account)

    def attempt(player: int, key: str | None) -> Callable[[], None]:
        def run() -> None:
            with suppress(Unauthorized):
                authenticator.admit(player, key, None, "")

        return run

    cases: dict[str, Callable[[], object]] = {
        "SHA-256 alone": lambda: hashlib.sha256(key.encode()).digest(),
        "a right key": lambda: authenticator.admit(account.player, key, None, ""),
        "a session's proof": lambda: authenticator.admit(account.player, None, authenticated, ""),
        "a wrong key, refused": attempt(account.player, key[:-1]),
        "an unused id, refused": attempt(FIRST_PLAYER + PLAYERS, key),
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, run in cases.items():
            begin = time.process_time()
            for _ in range(checks):
                run()
            times[name].append((time.process_time() - begin) / checks * 1e6)
    print(f"{'a key':24}{'us':>8}{'of SHA-256':>12}")
    for name, each in times.items():
        print(f"{name:24}{median(each):>8.2f}{median(each) / median(times['SHA-256 alone']):>12.1f}")
