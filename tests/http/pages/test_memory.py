"""What a player of blind chess may remember: it follows from what the player has observed."""

from __future__ import annotations

import chess

from gmd.games.rbc_knowledge import Observed
from gmd.http.pages.memory import Memory


def window(around: chess.Square, **pieces: str) -> Observed:
    """Return a sense that has shown these pieces: squares with symbols."""
    shown = {chess.parse_square(name): chess.Piece.from_symbol(symbol) for name, symbol in pieces.items()}
    squares = chess.SquareSet(chess.BB_KING_ATTACKS[around] | chess.BB_SQUARES[around])
    return Observed("sense", [(square, shown.get(square)) for square in squares])


def own_move(uci: str, capture: chess.Square | None = None) -> Observed:
    return Observed("move", move=(chess.Move.from_uci(uci), chess.Move.from_uci(uci), capture))


def remembered(memory: Memory) -> dict[str, tuple[str, int]]:
    return {chess.square_name(square): (symbol, age) for square, symbol, age in memory.sight().remembered}


def test_piece_is_remembered_with_its_age_until_its_square_is_known_anew() -> None:
    memory = Memory("4k3/8/8/3n3r/8/8/8/R3K2R", chess.WHITE, knows_all=True)
    assert remembered(memory) == {"d5": ("n", 0), "h5": ("r", 0), "e8": ("k", 0)}
    memory.learn([window(chess.D5, e6="n"), own_move("e1g1")])
    sight = memory.sight()
    assert (sight.placement, sight.last_move) == ("8/8/4n3/8/8/8/8/R4RK1", "e1g1")
    assert remembered(memory) == {"h5": ("r", 0), "e8": ("k", 0)}
    memory.learn([Observed("opponent", opponent_capture=chess.A1)])
    sight = memory.sight()
    assert (sight.placement, sight.lost, sight.window) == ("8/8/8/8/8/8/8/5RK1", chess.A1, frozenset())
    assert remembered(memory) == {"h5": ("r", 1), "e6": ("n", 1), "e8": ("k", 1)}
    memory.learn([Observed("sense"), own_move("f1f8"), Observed("opponent")])
    assert remembered(memory) == {"h5": ("r", 2), "e6": ("n", 2), "e8": ("k", 2)}
    memory.learn([window(chess.B2, a1="r"), own_move("f8e8", chess.E8)])
    assert remembered(memory) == {"h5": ("r", 2), "e6": ("n", 2)}
    assert memory.sight().placement == "4R3/8/8/8/8/8/8/r5K1"


def test_square_that_a_piece_passes_is_known_to_be_empty() -> None:
    memory = Memory("4k3/8/8/4n3/8/8/8/4R1K1", chess.WHITE, knows_all=True)
    memory.learn([Observed("sense"), own_move("e1e7")])
    assert remembered(memory) == {"e8": ("k", 0)}
