"""Words of fastchess and cutechess that mean here what they mean there: ``--each tc=10+0.1``, ``--rounds``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click

from ..command_line import parse_clock
from .words import Words, count, number

#: Games of a round, as of fastchess, and of a match without ``--rounds``: each opening with both colours.
GAMES = 2


def _clock(text: str) -> dict[str, float]:
    """Parse a time control; ``inf`` is none."""
    return parse_clock("none" if text == "inf" else text)


def _seconds(text: str) -> float:
    if not 0.0 < (seconds := number(text)) < float("inf"):
        raise ValueError("not a number of seconds above 0")
    return seconds


def _protocol(text: str) -> str:
    if text != "uci":
        raise ValueError("not uci, the only protocol of engines here")
    return text


EACH = Words(
    "--each",
    {"tc": _clock, "st": _seconds, "depth": count(1), "nodes": count(1), "timemargin": count(0), "proto": _protocol},
    (),
    "--each tc=10+0.1 option.Hash=64",
    any_after="option.",
)

#: The setting that each of these words is.
_SETTINGS = {"tc": "clock", "st": "movetime", "depth": "depth", "nodes": "nodes", "timemargin": "margin"}


def resolved(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``gmd match`` with ``--each`` and ``--rounds`` in their own words.

    :raises click.UsageError: an option says a second time what another one has said.
    """
    settings = {name: value for name, value in given.items() if name not in ("each", "rounds", "config")}
    for word, value in EACH.read(given["each"]).items():
        if word.startswith("option."):
            settings["options"] = (*settings["options"], f"{word.removeprefix('option.')}={value}")
            continue
        if word == "proto":
            continue
        name = _SETTINGS[word]
        if settings[name]:
            raise click.UsageError(f"--each {word}= sets what {name} has set already: give only one of them")
        settings[name] = value
    settings["games"] = (settings["games"] or GAMES) * (given["rounds"] or 1)
    if settings["concurrency"] is None:
        settings["concurrency"] = 1 if settings["ray"] is None else 0
    if settings["ray"] is None:
        settings["concurrency"] = settings["concurrency"] or os.cpu_count() or 1
    return settings
