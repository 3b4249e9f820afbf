"""What several of the arena's commands take, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import click

from gm_protocol.clock_text import CLOCK_TEXTS, read_clock_text
from gm_protocol.messages import Variant

#: Where a key may stand that is not to be seen among the arguments of running programs; gmcat reads it too.
KEY_VARIABLE = "GM_KEY"

#: Seconds.
POSITIVE = click.FloatRange(0, min_open=True)

#: Every variant that there is.
VARIANTS = click.Choice(get_args(Variant))


def read_clock(ctx: click.Context, param: click.Parameter, text: str | None) -> dict[str, float] | None:
    """The field of ``new_game``; empty for no clock, None where nothing is said."""
    if text is None or text == "none":
        return None if text is None else {}
    try:
        clock = read_clock_text(text)
        if not all(seconds or name == "increment" for name, seconds in clock.items()):
            raise ValueError
        return clock
    except ValueError:
        raise click.BadParameter(f"{text!r} is none of {CLOCK_TEXTS}, and none; times are above 0") from None


def who_plays(player: str, key: str | None) -> dict[str, Any]:
    """A player, by its number or its registered name, as ``hello`` wants it."""
    number = player.removeprefix("-").isdecimal()
    who: dict[str, Any] = {"player": int(player)} if number else {"name": player}
    key = read_key(key, KEY_VARIABLE, "--key")
    return {**who, "key": key} if key else who


def read_key(key: str | None, variable: str, option: str) -> str | None:
    """A key as it is given: itself, or @FILE; where nothing is given, what a variable of the environment has.

    :raises click.UsageError: the file cannot be read.
    """
    key = os.environ.get(variable) if key is None else key
    if key is None or not key.startswith("@"):
        return key
    try:
        return Path(key[1:]).read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise click.UsageError(f"{option}: {key[1:]}: {getattr(error, 'strerror', None) or error}") from None


def read_options(texts: Iterable[str]) -> dict[str, str]:
    """What ``--option NAME=VALUE`` says, each time that it is given."""
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--option: {text!r} is not NAME=VALUE")
        options[name] = value
    return options
