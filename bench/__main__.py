"""``python -m bench``: everything, or the parts named."""

from __future__ import annotations

import argparse

from . import durable, latency, throughput


def main() -> None:
    """Run the parts asked for."""
    parts = {
        "throughput": lambda: throughput.measure(options.moves, options.rounds),
        "durable": lambda: durable.measure(options.moves * 3, options.rounds),
        "late": lambda: latency.late_against_early(games=20),
        "neighbours": lambda: latency.beside_neighbours(games=20),
        "pgn": lambda: latency.beside_large_pgns(games=50),
    }
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)} (default: all)")
    parser.add_argument("--moves", type=int, default=10_000, help="requests a run (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each pair (default: %(default)s)")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(f"PART: {', '.join(sorted(unknown))} is none of {', '.join(parts)}")
    for name in options.parts or parts:
        parts[name]()


main()
