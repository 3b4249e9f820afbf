"""How bots are named on a command line: ``reconchess:my_bot.py``, ``uci:stockfish``, ``codingame:'python3 bot.py'``."""

from __future__ import annotations

from collections.abc import Mapping

from .bot import Bots, BotUnusable

KINDS = ("reconchess", "uci", "codingame")


def bots_of(
    spec: str, *, options: Mapping[str, str], seconds: float | None, depth: int | None, nodes: int | None
) -> Bots:
    """The bots that a text names. What a kind needs is imported for that kind alone.

    :param options: UCI options; like the limits of an engine's thought, they are for engines only.
    :raises BotUnusable: it names none.
    """
    kind, _, what = spec.partition(":")
    if kind not in KINDS or not what:
        raise BotUnusable(
            f"{spec!r} is no bot: it begins with {', '.join(f'{kind}:' for kind in KINDS)} and says which"
        )
    engine_only = {"--option": options, "--movetime": seconds, "--depth": depth, "--nodes": nodes}
    given = [flag for flag, value in engine_only.items() if value]
    if kind != "uci" and given:
        raise BotUnusable(f"{given[0]} is for UCI engines, and {spec} is none")
    if kind == "reconchess":
        from .reconchess_bot import ReconchessBots

        return ReconchessBots(what)
    if kind == "uci":
        from .uci_bot import Limits, UciBots

        return UciBots(what, options, Limits(seconds, depth, nodes))
    from .codingame_bot import CodinGameBots

    return CodinGameBots(what)
