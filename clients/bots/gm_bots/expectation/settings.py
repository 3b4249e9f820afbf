"""The options of ``expectation``, and the settings of a player that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gm_arena.bot import BotUnusable
from gm_arena.stockfish import NOT_FOUND, stockfish
from gm_bots.options import number, only, switch, whole

NAME = "expectation"
#: More positions, or a greater depth, take minutes a turn.
MAX_POSITIONS, MAX_DEPTH = 10_000, 30
#: As many as there may be moves.
MAX_CANDIDATES = 256
#: An hour: longer than anybody waits for a turn.
MAX_SECONDS = 3600.0
#: As many as any machine has processors.
MAX_ENGINES = 1_024

OPTIONS = (
    "positions",
    "depth",
    "candidates",
    "refined",
    "movetime",
    "engines",
    "ponder",
    "seed",
    "unseen",
    "caution",
    "information",
)


#: The options with which a clock does not say how much is searched: games with the same seed are the same.
FIXING = frozenset({"positions", "depth", "candidates", "refined", "seed"})


@dataclass(frozen=True)
class Settings:
    """The settings of a player.

    :ivar positions: the most positions that are searched for a decision.
    :ivar depth: the depth of these searches, which score every move, in plies.
    :ivar candidates: how many of the best moves are searched once more, deeper.
    :ivar refined: the depth of these second searches; they are deeper where there are few positions.
    :ivar unseen: the assumed probability that the opponent overlooks an attack on a king, until it has answered one.
    :ivar caution: the share of the worst tenth of the positions in a move's value; the rest is the mean of all.
    :ivar information: the expected result that a bit of a sense's information is worth.
    :ivar fixed: whether the numbers of positions and the depths hold with a clock, too, which then only ends searches.
        Otherwise a turn searches as much as its time allows.
    """

    positions: int = 120
    depth: int = 4
    candidates: int = 5
    refined: int = 8
    unseen: float = 0.12
    caution: float = 0.15
    information: float = 0.01
    fixed: bool = False


@dataclass(frozen=True)
class Given:
    """The options, parsed.

    :ivar stockfish: the path of the program.
    :ivar engines: how many of it search at the same time.
    :ivar ponder: whether it thinks in the opponent's time, too.
    :ivar seconds: the most seconds for a turn; None for as many as the clock allows.
    """

    settings: Settings
    stockfish: str
    engines: int
    seed: int | None
    seconds: float | None
    ponder: bool = False


def read(options: Mapping[str, str], engines: int = 1) -> Given:
    """Read the options.

    :param options: ``movetime`` (seconds of a turn), ``engines``, ``ponder`` and ``seed``; the others as in
        :class:`Settings`.
    :param engines: how many search at the same time where neither ``engines`` nor ``seed`` is given. With more than one
        of them, games do not repeat.
    :raises BotUnusable: an option is unknown, its value is not allowed, or Stockfish is not installed.
    """
    only(NAME, options, *OPTIONS)
    settings, seed = _settings(options), whole(NAME, options, "seed", 0, 2**63)
    seconds = number(NAME, options, "movetime", 0.001, MAX_SECONDS)
    path = stockfish()
    if path is None:
        raise BotUnusable(f"{NAME} asks {NOT_FOUND}")
    count = whole(NAME, options, "engines", 1, MAX_ENGINES) or (engines if seed is None else 1)
    return Given(settings, path, count, seed, seconds, switch(NAME, options, "ponder") or False)


def _settings(options: Mapping[str, str]) -> Settings:
    plain = Settings()
    return Settings(
        positions=whole(NAME, options, "positions", 1, MAX_POSITIONS) or plain.positions,
        depth=whole(NAME, options, "depth", 1, MAX_DEPTH) or plain.depth,
        candidates=whole(NAME, options, "candidates", 1, MAX_CANDIDATES) or plain.candidates,
        refined=whole(NAME, options, "refined", 1, MAX_DEPTH) or plain.refined,
        unseen=_or(number(NAME, options, "unseen", 0, 1), plain.unseen),
        caution=_or(number(NAME, options, "caution", 0, 1), plain.caution),
        information=_or(number(NAME, options, "information", 0, 1), plain.information),
        fixed=not options.keys().isdisjoint(FIXING),
    )


def _or(given: float | None, default: float) -> float:
    return default if given is None else given
