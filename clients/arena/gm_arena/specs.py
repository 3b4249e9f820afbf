"""How bots are named on a command line: ``reconchess:my_bot.py``, ``uci:stockfish``, ``codingame:'python3 bot.py'``, and
the bots that packages bring along, by their names: ``minimax:depth=2``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import cast

from .bot import Bots, BotUnusable

KINDS = ("reconchess", "uci", "codingame")

#: The group of entry points that bring bots along. Each is a function that is given what stands behind the colon, which
#: may be nothing, and returns a :class:`~gm_arena.bot.Bots`, or raises :class:`~gm_arena.bot.BotUnusable`.
BUNDLED = "gmd.bots"

#: uci[movetime=0.1,Hash=16]:stockfish
_WITH_SETTINGS = re.compile(r"(?P<kind>[^\[\]:]+)\[(?P<settings>[^\]]*)\](?P<rest>:.*)?", re.DOTALL)


@dataclass(frozen=True)
class Engines:
    """What is asked of UCI engines.

    :ivar options: UCI options.
    :ivar seconds: for a move, where the game has no clock.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    depth: int | None = None
    nodes: int | None = None

    def overridden(self, settings: Mapping[str, str]) -> Engines:
        """With settings of one engine's own: ``movetime``, ``depth``, ``nodes``, or options.

        :raises BotUnusable: a limit is no number above 0.
        """
        rest = dict(settings)
        seconds = _positive("movetime", rest.pop("movetime", None), float) or self.seconds
        depth = _positive("depth", rest.pop("depth", None), int) or self.depth
        nodes = _positive("nodes", rest.pop("nodes", None), int) or self.nodes
        return Engines({**self.options, **rest}, seconds, depth, nodes)

    @property
    def flags(self) -> list[str]:
        """The options of the command line that ask for anything."""
        given = {"--option": self.options, "--movetime": self.seconds, "--depth": self.depth, "--nodes": self.nodes}
        return [flag for flag, value in given.items() if value]


def bots_of(spec: str, engines: Engines | None = None, *, max_memory: int | None = None) -> Bots:
    """The bots that a text names. What a kind needs is imported for that kind alone.

    :param engines: for engines only.
    :param max_memory: bytes that each process of a bot's may have.
    :raises BotUnusable: it names none.
    """
    engines = engines or Engines()
    spec, settings = split_settings(spec)
    kind, _, what = spec.partition(":")
    if settings and kind != "uci":
        raise BotUnusable(f"{kind}[...]: only UCI engines have settings in brackets")
    if kind in KINDS and not what:
        raise BotUnusable(f"{spec!r} is no bot: it says not which")
    match kind:
        case "uci":
            from .uci_bot import Limits, UciBots

            own = engines.overridden(settings)
            return UciBots(what, own.options, Limits(own.seconds, own.depth, own.nodes), max_memory=max_memory)
        case "reconchess":
            from .reconchess_bot import ReconchessBots

            return ReconchessBots(what, max_memory=max_memory)
        case "codingame":
            from .codingame_bot import CodinGameBots

            return CodinGameBots(what, max_memory=max_memory)
    return _bundled(kind, what)


def is_engine(spec: str) -> bool:
    """Whether a text names a UCI engine."""
    return split_settings(spec)[0].startswith("uci:")


def split_settings(spec: str) -> tuple[str, dict[str, str]]:
    """A text without its settings in brackets, and these.

    :raises BotUnusable: one of them is not NAME=VALUE.
    """
    match = _WITH_SETTINGS.fullmatch(spec)
    if match is None:
        return spec, {}
    settings = {}
    for text in filter(None, match["settings"].split(",")):
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BotUnusable(f"{spec}: {text!r} is not NAME=VALUE")
        settings[name.strip()] = value.strip()
    return match["kind"] + (match["rest"] or ""), settings


def _bundled(name: str, arguments: str) -> Bots:
    found = entry_points(group=BUNDLED, name=name)
    if not found:
        known = [*(f"{kind}:" for kind in KINDS), *sorted(entry_points(group=BUNDLED).names)]
        raise BotUnusable(f"{name!r} is no bot: it begins with {', '.join(known)}")
    return cast(Bots, next(iter(found)).load()(arguments))


def _positive[N: (int, float)](name: str, text: str | None, kind: type[N]) -> N | None:
    if text is None:
        return None
    try:
        number = kind(text)
    except ValueError:
        number = kind(0)
    if not number > 0:
        raise BotUnusable(f"{name}={text} is no number above 0")
    return number
