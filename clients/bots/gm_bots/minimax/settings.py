"""The options of ``minimax`` as a bot, given as text: ``minimax:depth=2,seed=7``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gm_bots.options import number, only, switch, whole

from .engine import Options
from .features import Features
from .scores import MAX_DEPTH
from .uci import HASH, MARGIN, SEED

NAME = "minimax"

#: An hour: longer than anybody waits for a move.
MAX_SECONDS = 3600.0

KNOWN = ("depth", "nodes", "movetime", "seed", "margin", "hash", "check_extension")


@dataclass(frozen=True)
class Settings:
    """The options given; None for those that are not.

    :ivar depth: the most plies.
    :ivar nodes: the most positions.
    :ivar seconds: the most seconds for a move, also with a clock.
    :ivar seed: seeds the choice among moves of nearly the same score.
    :ivar margin: by how much such a move may be worse than the best, in hundredths of a pawn.
    :ivar hash_mebibytes: the most mebibytes of the transposition table.
    :ivar check_extension: whether a side in check gets an extra ply.
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
        """Read the options from text.

        :raises BotUnusable: an option is unknown, or its value is not allowed.
        """
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
        """Return the options given, except the limits and the seed, as UCI options of the engine."""
        given = {"Margin": self.margin, "Hash": self.hash_mebibytes, "CheckExtension": self.check_extension}
        return {name: str(value).lower() for name, value in given.items() if value is not None}

    def search_options(self, seed: int | None) -> Options:
        """Return the options for the engine in this process.

        :param seed: the game's own seed; None always plays the best move.
        """
        return Options(
            seed=seed,
            margin=MARGIN.default if self.margin is None else self.margin,
            hash_mebibytes=HASH.default if self.hash_mebibytes is None else self.hash_mebibytes,
            features=Features(check_extension=self.check_extension is not False),
        )
