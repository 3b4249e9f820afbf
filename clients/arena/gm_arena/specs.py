"""How bots are named on a command line: ``reconchess:my_bot.py``, ``uci:stockfish``, ``codingame:'python3 bot.py'``.

Bots that are installed have names of their own, such as ``minimax`` or ``minimax:depth=2,seed=7``: entry points of the
group ``gmd.bots``, functions that take options as text by keyword, return :class:`~gm_arena.bot.Bots` and raise
:class:`~gm_arena.bot.BotUnusable` for options that they do not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points

from .bot import Bots, BotUnusable

KINDS = ("reconchess", "uci", "codingame")

#: The entry points of bots that are installed.
GROUP = "gmd.bots"


def bots_of(
    spec: str, *, options: Mapping[str, str], seconds: float | None, depth: int | None, nodes: int | None
) -> Bots:
    """The bots that a text names. What a kind needs is imported for that kind alone.

    :param options: UCI options, or those of an installed bot; like the limits of an engine's thought, they are for
        these two only.
    :raises BotUnusable: it names none.
    """
    kind, _, what = spec.partition(":")
    limits = {"movetime": seconds, "depth": depth, "nodes": nodes}
    if kind not in KINDS and entry_points(group=GROUP, name=kind):
        given = {name: f"{value:g}" if name == "movetime" else str(value) for name, value in limits.items() if value}
        return installed_bots(kind, {**given, **_read_options(spec, what), **options})
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

        return ReconchessBots(what)
    if kind == "uci":
        from .uci_bot import Limits, UciBots

        return UciBots(what, options, Limits(seconds, depth, nodes))
    from .codingame_bot import CodinGameBots

    return CodinGameBots(what)


def installed_bots(name: str, options: Mapping[str, str]) -> Bots:
    """The bots behind an entry point.

    :raises BotUnusable: it does not take these options.
    """
    make = next(iter(entry_points(group=GROUP, name=name))).load()
    bots: Bots = make(**options)
    return bots


def _read_options(spec: str, text: str) -> dict[str, str]:
    """``depth=2,seed=7``."""
    options = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not name.isidentifier() or not equals:
            raise BotUnusable(f"{spec}: {part!r} is not NAME=VALUE")
        options[name] = value
    return options
