"""``expectation``: a bot for reconnaissance blind chess that plays for the expected result over the possible positions.

It keeps every possible position, asks Stockfish for the score of each move in a sample of them, and makes the move with
the best mean. It senses where the mean of that best move rises most. It needs Stockfish, and is faster with numba.

``engine`` talks to Stockfish, ``results`` makes expected results of its scores by the rules of blind chess, ``choice``
combines them over positions, ``sensing`` chooses the sense, ``knowledge`` keeps the positions, ``player`` is a player
without a server, ``settings`` its options, ``bot`` the bot on a server.

``Expectation`` is the bot as a player of the package reconchess; its module is imported when the name is first used.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reconchess_player import Expectation as Expectation

_PLAYER = "Expectation"


def __dir__() -> list[str]:
    """List the player, too, if reconchess is installed: ``reconchess.load_player`` looks through this list."""
    return sorted({*globals(), *([_PLAYER] if find_spec("reconchess") else [])})


if not TYPE_CHECKING:  # otherwise mypy would accept any name from this module

    def __getattr__(name: str) -> object:
        if name != _PLAYER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .reconchess_player import Expectation

        return Expectation
