"""The options of ``minimax`` as a bot, which are given as text: ``minimax:depth=2,seed=7``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gm_bots.options import number, only, switch, whole

from .engine import Options
from .features import Features
from .scores import MAX_DEPTH
from .uci import HASH, MARGIN, SEED

NAME = "minimax"

#: An hour: longer than any move takes that somebody waits for.
MAX_SECONDS = 3600.0

KNOWN = ("depth", "nodes", "movetime", "seed", "margin", "hash", "check_extension")


@dataclass(frozen=True)
class Settings:
    """What was asked for; None where nothing was.

    :ivar depth: plies, at most.
    :ivar nodes: positions, at most.
    :ivar seconds: for a move, at most, with a clock too.
    :ivar seed: of what chooses among moves of nearly the same score.
    :ivar margin: how much worse such a move may be, in hundredths of a pawn.
    :ivar hash_mebibytes: what the transposition table may grow to.
    :ivar check_extension: whether a side in check is given a ply more.
    """

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    seed: int | None = None
    margin: int | None = None
    hash_mebibytes: int | None = None
    check_extension: bool | None = None

    @classmethod
    def read(cls, options: Mapping[str, str]) -> Settings:
        """:raises BotUnusable: there is one that is unknown, or has no such value."""
        only(NAME, options, *KNOWN)
        return cls(
            seconds=number(NAME, options, "movetime", 0.001, MAX_SECONDS),
            depth=whole(NAME, options, "depth", 1, MAX_DEPTH),
            nodes=whole(NAME, options, "nodes", 1, 2**63),
            seed=whole(NAME, options, "seed", SEED.least, SEED.most),
            margin=whole(NAME, options, "margin", MARGIN.least, MARGIN.most),
            hash_mebibytes=whole(NAME, options, "hash", HASH.least, HASH.most),
            check_extension=switch(NAME, options, "check_extension"),
        )

    def uci_options(self) -> dict[str, str]:
        """What was asked for, but the limits and the seed, as options of the engine by UCI."""
        given = {"Margin": self.margin, "Hash": self.hash_mebibytes, "CheckExtension": self.check_extension}
        return {name: str(value).lower() for name, value in given.items() if value is not None}

    def search_options(self, seed: int | None) -> Options:
        """The same for the engine in this process.

        :param seed: the game's own; None has it always play the best move.
        """
        return Options(
            seed=seed,
            margin=MARGIN.default if self.margin is None else self.margin,
            hash_mebibytes=HASH.default if self.hash_mebibytes is None else self.hash_mebibytes,
            features=Features(check_extension=self.check_extension is not False),
        )
