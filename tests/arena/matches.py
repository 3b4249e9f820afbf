"""``gmd match`` as its users run it, for tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.arena.playing import BOTS
from tests.cli.commands import gmd

#: Seconds after which a match of these tests counts as hung.
PATIENCE = 7_200

#: The fields that differ between two runs of one match: times, dates, and the server's ids.
OF_THE_RUN = ("started", "seconds", "times", "game_id", "pgn")

#: A bot that plays what the server draws for it, which the seed decides.
AT_RANDOM = "codingame:bash -c 'echo fen; while read; do echo random; done'"
#: Two bots in the match's process that play at random, which the seed decides.
TWO = ("one=random", "two=random")
SHORT = ("--variant", "standard", "--max-moves", 12)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "gmd", "match", *map(str, arguments)]


def run(*arguments: object) -> tuple[int, str, str]:
    """Run the command to its end in this process; return its exit status, its output and its standard error."""
    return gmd("match", *arguments)


def played(path: Path, *arguments: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Run a match into a file; return its games and the summary."""
    status, _, complaints = run(*arguments, "--json-out", path)
    assert status == 0, complaints
    return games(path), summary(path)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def games(path: Path) -> list[dict[str, Any]]:
    return [line for line in lines(path) if "game" in line]


def summary(path: Path) -> dict[str, Any]:
    (found,) = [line["summary"] for line in lines(path) if "summary" in line]
    return dict(found)


def same_whenever(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return games without the fields that differ between two runs."""
    return [{name: value for name, value in record.items() if name not in OF_THE_RUN} for record in records]


def nuisance(trouble: str = "nothing") -> str:
    """Return a bot that plays the alphabetically first move, and causes the trouble in its second turn."""
    return f"{trouble}=codingame:{sys.executable} {BOTS / 'nuisance.py'} {trouble}"
