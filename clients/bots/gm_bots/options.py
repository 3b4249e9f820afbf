"""The options of bots that come with gmd, given as text: ``minimax:depth=2,seed=7``."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gm_arena.bot import BotUnusable
from gm_arena.specs import read_options


def from_environment(variable: str) -> dict[str, str]:
    """Return the options that an environment variable holds, as text: ``depth=2,seed=7``; none where it is not set.

    :raises BotUnusable: a part of it is not NAME=VALUE.
    """
    return read_options(variable, os.environ.get(variable, ""))


def only(bot: str, options: Mapping[str, str], *known: str) -> None:
    """Check that a bot knows all options.

    :raises BotUnusable: it does not know one.
    """
    for name in options:
        if name not in known:
            raise BotUnusable(f"{bot}: unknown option {name}; known are {', '.join(known)}")


def number(bot: str, options: Mapping[str, str], name: str, least: float, most: float) -> float | None:
    """Return an option as a number; None where it is not given.

    :raises BotUnusable: it is not a number, or not within the limits.
    """
    text = options.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        raise BotUnusable(f"{bot}: {name}={text} is not a number") from None
    if not least <= value <= most:
        raise BotUnusable(f"{bot}: {name}={text} is not from {least:g} to {most:g}")
    return value


def whole(bot: str, options: Mapping[str, str], name: str, least: int, most: int) -> int | None:
    """Return an option as a whole number; None where it is not given.

    :raises BotUnusable: it is not a whole number, or not within the limits.
    """
    value = number(bot, options, name, least, most)
    if value is not None and not value.is_integer():
        raise BotUnusable(f"{bot}: {name}={options[name]} is not a whole number")
    return None if value is None else int(value)


def switch(bot: str, options: Mapping[str, str], name: str) -> bool | None:
    """Return whether an option is ``on``, not ``off``; None where it is not given.

    :raises BotUnusable: it is neither.
    """
    text = options.get(name)
    if text not in (None, "on", "off"):
        raise BotUnusable(f"{bot}: {name}={text} is neither on nor off")
    return None if text is None else text == "on"
