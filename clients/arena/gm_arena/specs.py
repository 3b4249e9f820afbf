"""The names of bots on a command line: ``reconchess:my_bot.py``, ``uci:stockfish``, ``codingame:'python3 bot.py'``.

For commands that take several bots, an engine may have its own settings: ``uci[movetime=0.1,Hash=16]:stockfish``.

reconchess's own bots have the names of their classes, such as ``TroutBot``. Installed bots have names of their own,
such as ``minimax`` or ``minimax:depth=2,seed=7``: :mod:`gm_arena.bot`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gm_recon import Player

from .bot import Bots, BotUnusable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

KINDS = ("reconchess", "uci", "codingame")

#: reconchess's own bots, by the names of their classes.
RECONCHESS = {
    "RandomBot": "reconchess:reconchess.bots.random_bot",
    "AttackerBot": "reconchess:reconchess.bots.attacker_bot",
    "TroutBot": "reconchess:reconchess.bots.trout_bot",
}

#: The group of entry points of installed bots.
GROUP = "gmd.bots"

_WITH_SETTINGS = re.compile(r"(?P<kind>[^\[\]:]+)\[(?P<settings>[^\]]*)\](?P<rest>:.*)", re.DOTALL)


def bots_of(
    spec: str,
    *,
    options: Mapping[str, str] | None = None,
    seconds: float | None = None,
    depth: int | None = None,
    nodes: int | None = None,
    max_memory: int | None = None,
) -> Bots:
    """Return the bots that a text names. A kind's dependencies are imported for that kind alone.

    :param options: UCI options, or those of an installed bot, which those in the text override; like the limits on an
        engine's thought, they are for these two kinds alone.
    :param max_memory: bytes for each process of a bot; installed bots are trusted and have no limit.
    :raises BotUnusable: the text names no bot.
    """
    spec, settings = split_settings(RECONCHESS.get(spec, spec))
    kind, _, what = spec.partition(":")
    limits = {"movetime": seconds, "depth": depth, "nodes": nodes}
    if settings and kind != "uci":
        raise BotUnusable(f"{kind}[...]: only UCI engines have settings in brackets")
    if kind not in KINDS and kind in _installed().names:
        given = {name: f"{value:g}" if name == "movetime" else str(value) for name, value in limits.items() if value}
        make: Callable[..., Bots] = _installed()[kind].load()
        return make(**{**given, **(options or {}), **read_options(spec, what)})
    if kind not in KINDS or not what:
        raise BotUnusable(_unknown(spec, kind))
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
        return UciBots(what, {**(options or {}), **settings}, own, max_memory=max_memory)
    from .codingame_bot import CodinGameBots

    return CodinGameBots(what, max_memory=max_memory)


def _unknown(spec: str, kind: str) -> str:
    """Return the error for a text that names no bot."""
    from difflib import get_close_matches

    installed = sorted(_installed().names)
    meant = get_close_matches(kind, [*KINDS, *installed, *RECONCHESS], n=1) if kind not in KINDS else []
    return (
        f"{spec!r} is not a bot: write reconchess:FILE, uci:COMMAND, codingame:COMMAND, "
        f"or one of {', '.join([*installed, *RECONCHESS])}" + (f"; did you mean {meant[0]}?" if meant else "")
    )


def takes_limits(spec: str) -> bool:
    """Return whether a text names an engine or an installed bot: only these take limits of thought and options."""
    return split_settings(spec)[0].partition(":")[0] not in ("reconchess", "codingame")


def split_settings(spec: str) -> tuple[str, dict[str, str]]:
    """Return a text without its settings in brackets, and these settings.

    :raises BotUnusable: one of them is not NAME=VALUE.
    """
    match = _WITH_SETTINGS.fullmatch(spec)
    if match is None:
        return spec, {}
    return match["kind"] + match["rest"], read_options(spec, match["settings"])


def read_options(spec: str, text: str) -> dict[str, str]:
    """Parse a text such as ``depth=2,seed=7``.

    :param spec: the spec that the text comes from, for the error.
    :raises BotUnusable: a part of it is not NAME=VALUE.
    """
    options = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not name.strip() or not equals:
            raise BotUnusable(f"{spec}: {part!r} is not NAME=VALUE")
        options[name.strip()] = value.strip()
    return options


def _positive(settings: dict[str, str], name: str) -> float | None:
    """Remove a setting from the others and return it as a number above 0; None where it is not given.

    :raises BotUnusable: it is not such a number.
    """
    text = settings.pop(name, None)
    if text is None:
        return None
    try:
        number = float(text) if name == "movetime" else int(text)
    except ValueError:
        number = 0
    if not number > 0:
        raise BotUnusable(f"{name}={text} is not a {'number' if name == 'movetime' else 'whole number'} above 0")
    return number


def _installed() -> EntryPoints:
    """Return the entry points of installed bots."""
    from importlib.metadata import entry_points  # slow to import, and a bot in a file needs none

    return entry_points(group=GROUP)


def players_of(bot: str | Bots) -> Callable[[], Player]:
    """Return what makes players (:class:`gm_recon.Player`), each for one game in this process.

    :param bot: a name as for ``gmd match``: ``random``, ``recon-zero:checkpoint=latest.pt``, ``reconchess:FILE``, or of
        another entry point of ``gmd.bots`` whose bots are :class:`~gm_arena.player_bot.PlayerBots`; or what makes bots.
    :raises BotUnusable: the text names no bot, or one that is no player of RBC.
    """
    if isinstance(bot, str):
        bot = bots_of(bot)
    if "rbc" not in bot.variants:
        raise BotUnusable(f"{bot.name} plays {', '.join(sorted(bot.variants))}, and not RBC")
    make: Callable[[], Player] | None = getattr(bot, "player", None)
    if make is None:
        raise BotUnusable(f"{bot.name} is no gm_recon.Player, and plays on a server only")
    return make
