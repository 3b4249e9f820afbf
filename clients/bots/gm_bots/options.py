"""The options of bots that come with gmd, which are given as text: ``minimax:depth=2,seed=7``."""

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
    """:raises BotUnusable: an option is not among those that a bot knows."""
    for name in options:
        if name not in known:
            raise BotUnusable(f"{bot}: {name} is no option of it: there are {', '.join(known)}")


def number(bot: str, options: Mapping[str, str], name: str, least: float, most: float) -> float | None:
    """A number; None where the option is not given.

    :raises BotUnusable: it is none, or not between the two.
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
    """A whole number; None where the option is not given.

    :raises BotUnusable: it is none, or not between the two.
    """
    value = number(bot, options, name, least, most)
    if value is not None and not value.is_integer():
        raise BotUnusable(f"{bot}: {name}={options[name]} is not a whole number")
    return None if value is None else int(value)


def switch(bot: str, options: Mapping[str, str], name: str) -> bool | None:
    """``on`` or ``off``; None where the option is not given.

    :raises BotUnusable: it is neither.
    """
    text = options.get(name)
    if text not in (None, "on", "off"):
        raise BotUnusable(f"{bot}: {name}={text} is neither on nor off")
    return None if text is None else text == "on"
