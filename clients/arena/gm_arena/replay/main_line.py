"""The main line of a PGN of chess, up to its first illegal move."""

from __future__ import annotations

import io

import chess.pgn
from chess import AmbiguousMoveError, Board, IllegalMoveError, Move
from chess.pgn import SKIP, Game, SkipType

from .variant_headers import VariantGame


class BadMove(ValueError):
    """A move that cannot be made. The message names it: ``1... Ke5 is illegal``."""


def read_main_line(pgn: str) -> tuple[Game, BadMove | None]:
    """Read the first game, without its variations.

    :returns: the game up to the first move that cannot be made, and the error of that move; None where all are legal.
    :raises ValueError: there is no game, or its start position or variant is not possible.
    """
    game = chess.pgn.read_game(io.StringIO(pgn), Visitor=_MainLine)
    if game is None:
        raise ValueError("it is empty")
    for error in game.errors:
        if not isinstance(error, BadMove):
            raise error
    return game, next((error for error in game.errors if isinstance(error, BadMove)), None)


class _MainLine(chess.pgn.GameBuilder[Game]):
    """A builder of games that logs nothing."""

    def __init__(self) -> None:
        super().__init__(Game=VariantGame)

    def begin_variation(self) -> SkipType:  # type: ignore[override]  # as visitors may
        """Skip the variation: python-chess loses its place after a variation with an illegal move."""
        return SKIP

    def end_variation(self) -> None:
        """Do nothing: none was begun."""

    def begin_parse_san(self, board: Board, san: str) -> SkipType | None:
        """Skip every move after one that cannot be made."""
        return SKIP if self.game.errors else None

    def parse_san(self, board: Board, san: str) -> Move:
        try:
            return super().parse_san(board, san)
        except ValueError as error:
            number = f"{board.fullmove_number}{'.' if board.turn else '...'}"
            raise BadMove(f"{number} {san} {_trouble(error)}") from error

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def _trouble(error: ValueError) -> str:
    if isinstance(error, AmbiguousMoveError):
        return "is ambiguous"
    return "is illegal" if isinstance(error, IllegalMoveError) else "is not a move"
