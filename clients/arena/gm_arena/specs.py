"""How bots are named on a command line: ``reconchess:my_bot.py``, ``uci:stockfish``, ``codingame:'python3 bot.py'``.

An engine may have settings of its own, for commands that take several bots: ``uci[movetime=0.1,Hash=16]:stockfish``.

Bots that are installed have names of their own, such as ``minimax`` or ``minimax:depth=2,seed=7``: entry points of the
group ``gmd.bots``, functions that take options as text by keyword, return :class:`~gm_arena.bot.Bots` and raise
:class:`~gm_arena.bot.BotUnusable` for options that they do not know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import entry_points

from .bot import Bots, BotUnusable

KINDS = ("reconchess", "uci", "codingame")

#: The entry points of bots that are installed.
GROUP = "gmd.bots"

_WITH_SETTINGS = re.compile(r"(?P<kind>[^\[\]:]+)\[(?P<settings>[^\]]*)\](?P<rest>:.*)", re.DOTALL)


def bots_of(
    spec: str,
    *,
    options: Mapping[str, str],
    seconds: float | None,
    depth: int | None,
    nodes: int | None,
    max_memory: int | None = None,
) -> Bots:
    """The bots that a text names. What a kind needs is imported for that kind alone.

    :param options: UCI options, or those of an installed bot; like the limits of an engine's thought, they are for
        these two only.
    :param max_memory: bytes that each process of such a bot may have; those that are installed are trusted.
    :raises BotUnusable: it names none.
    """
    spec, settings = split_settings(spec)
    kind, _, what = spec.partition(":")
    limits = {"movetime": seconds, "depth": depth, "nodes": nodes}
    if settings and kind != "uci":
        raise BotUnusable(f"{kind}[...]: only UCI engines have settings in brackets")
    if kind not in KINDS and entry_points(group=GROUP, name=kind):
        given = {name: f"{value:g}" if name == "movetime" else str(value) for name, value in limits.items() if value}
        return installed_bots(kind, {**given, **read_options(spec, what), **options})
    if kind not in KINDS or not what:
        raise BotUnusable(
            f"{spec!r} is no bot: it begins with {', '.join(f'{kind}:' for kind in KINDS)} and says which, "
            f"or is one of {', '.join(sorted(entry_points(group=GROUP).names))}"
        )
    if kind != "uci" and (given_flags := [f"--{name}" for name, value in limits.items() if value]):
        raise BotUnusable(f"{given_flags[0]} is for engines, and {spec} is none")
    if kind != "uci" and options:
        raise BotUnusable(f"--option is for engines, and {spec} is none")
    if kind == "reconchess":
        from .reconchess_bot import ReconchessBots

        return ReconchessBots(what, max_memory=max_memory)
    if kind == "uci":
        from .uci_bot import Limits, UciBots

        own = Limits(
            seconds=_positive(settings, "movetime") or seconds,
            depth=int(_positive(settings, "depth") or 0) or depth,
            nodes=int(_positive(settings, "nodes") or 0) or nodes,
        )
        return UciBots(what, {**options, **settings}, own, max_memory=max_memory)
    from .codingame_bot import CodinGameBots

    return CodinGameBots(what, max_memory=max_memory)


def takes_limits(spec: str) -> bool:
    """Whether a text names an engine, or an installed bot: what limits of thought and options are for."""
    return split_settings(spec)[0].partition(":")[0] not in ("reconchess", "codingame")


def split_settings(spec: str) -> tuple[str, dict[str, str]]:
    """A text without its settings in brackets, and these.

    :raises BotUnusable: one of them is not NAME=VALUE.
    """
    match = _WITH_SETTINGS.fullmatch(spec)
    if match is None:
        return spec, {}
    settings = {}
    for part in filter(None, match["settings"].split(",")):
        name, equals, value = part.partition("=")
        if not name.strip() or not equals:
            raise BotUnusable(f"{spec}: {part!r} is not NAME=VALUE")
        settings[name.strip()] = value.strip()
    return match["kind"] + match["rest"], settings


def installed_bots(name: str, options: Mapping[str, str]) -> Bots:
    """The bots behind an entry point.

    :raises BotUnusable: it does not take these options.
    """
    make = next(iter(entry_points(group=GROUP, name=name))).load()
    bots: Bots = make(**options)
    return bots


def read_options(spec: str, text: str) -> dict[str, str]:
    """Return what a text such as ``depth=2,seed=7`` says.

    :param spec: where the text is from, for the error.
    :raises BotUnusable: a part of it is not NAME=VALUE.
    """
    options = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not name.isidentifier() or not equals:
            raise BotUnusable(f"{spec}: {part!r} is not NAME=VALUE")
        options[name] = value
    return options


def _positive(settings: dict[str, str], name: str) -> float | None:
    """A setting that is a number above 0, taken out of the others.

    :raises BotUnusable: it is none.
    """
    text = settings.pop(name, None)
    if text is None:
        return None
    try:
        number = float(text) if name == "movetime" else int(text)
    except ValueError:
        number = 0
    if not number > 0:
        raise BotUnusable(f"{name}={text} is no {'number' if name == 'movetime' else 'whole number'} above 0")
    return number
