"""A leak that tests plant: beliefs that follow from the true position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import chess

from gmd.games import views
from gmd.games.game import Game
from gmd.games.rbc import RbcGame
from gmd.games.rbc_knowledge import Observed

_observed_in_play = views.observed_in_play


def observed_with_whole_board(game: Game, seat: chess.Color) -> tuple[int, Sequence[Observed]]:
    """Return what a seat has observed, as if its sense in this turn had shown the whole board.

    The positions that follow from it always have the true one, so that no request fails.
    """
    ply, observed = _observed_in_play(game, seat)
    if not observed or observed[-1].step != "sense":
        return ply, observed
    board = cast(RbcGame, game).recon.board.as_chess()
    return ply, [*observed[:-1], Observed("sense", [(square, board.piece_at(square)) for square in chess.SQUARES])]
