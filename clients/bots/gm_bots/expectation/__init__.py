"""``expectation``: a bot for reconnaissance blind chess that plays for the expected result over the possible positions.

It keeps every possible position with its probability, asks Stockfish for the score of each move in the likeliest ones,
and makes the move with the best expected result. It senses where that rises most. It is faster with numba.

``engine`` talks to Stockfish, ``results`` makes expected results of its scores by the rules of blind chess, ``choice``
combines them over positions for moves and senses, ``knowledge`` keeps the positions, ``likelihood`` their
probabilities, ``thinker`` puts them together, ``settings`` has the options, and ``player`` is the bot. The name
``Expectation`` here is the bot as a player of the package reconchess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .player import Expectation as Expectation
else:
    from gm_bots.reconchess_players import offered

    __dir__, __getattr__ = offered("gm_bots.expectation.player", "Expectation", globals())
