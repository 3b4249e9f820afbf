"""Benchmarks, each compared with its peer in the same run: ``python -m bench``, or only the PARTs named."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from . import durable, env, postgres, recon, strength, throughput, turns, watching
from .hostile import measure as hostile

PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "throughput": lambda options: throughput.measure(options.moves, options.rounds),
    "durable": lambda options: durable.measure(durable.MANY_GAMES, options.moves * 3, options.rounds),
    "few": lambda options: durable.measure(durable.FEW_CLIENTS, options.moves, options.rounds),
    "postgres": lambda options: postgres.measure(options.moves * 3, options.rounds),
    "turns": lambda options: turns.measure(options.rounds, options.against),
    "watching": lambda options: watching.measure(options.rounds),
    "recon": lambda options: recon.measure(options.moves // 100, options.rounds),
    "env": lambda options: env.measure(options.rounds),
}

#: Long benchmarks, which run only if they are named.
LONG: dict[str, Callable[[argparse.Namespace], None]] = {
    "strength": lambda options: strength.measure(options.games),
    "hostile": lambda options: hostile.measure(options.seconds, options.attack, options.against),
}


def main() -> None:
    """Run the requested parts."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)} (default: all of these), {', '.join(LONG)}"
    )
    parser.add_argument("--moves", type=int, default=10_000, help="requests per run (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each pair (default: %(default)s)")
    parser.add_argument("--games", type=int, default=40, help="games per match in strength (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=20, help="duration of each attack (default: %(default)s)")
    parser.add_argument(
        "--attack", action="append", default=[], metavar="NAME", help="run only this attack; repeat for more"
    )
    parser.add_argument("--against", metavar="DIR", help="another checkout of gmd, whose server is measured in turn")
    options = parser.parse_args()
    if unknown := set(options.parts) - {*PARTS, *LONG}:
        parser.error(f"PART: {', '.join(sorted(unknown))} is not one of {', '.join([*PARTS, *LONG])}")
    for name in options.parts or PARTS:
        (PARTS | LONG)[name](options)


main()
