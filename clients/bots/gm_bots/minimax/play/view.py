"""The board, the moves and the captured pieces, for a terminal of any kind."""

from __future__ import annotations

import chess
from chess import SquareSet
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gm_arena.board_drawing import BESIDE, Palette, Picture, board_lines, moves_table, piece_text

from .game import Game

#: Full moves shown of a long game: as many as there are ranks; and fewer where they go below the board.
_MOVES_SHOWN, _MOVES_BELOW = 8, 3


def draw(game: Game, *, width: int, flipped: bool = False, palette: Palette | None = None) -> RenderableType:
    """Draw a game.

    :param width: columns of the terminal.
    :param flipped: whether the player's own side is at the top.
    :param palette: the colours of the terminal; None for letters.
    """
    bottom = game.color != flipped
    board = Text("\n").join(board_lines(_picture(game.board), palette, bottom=bottom))
    lines = [_taken(game, not bottom, palette), _status(game)]
    if width < BESIDE:
        return Group(_taken(game, bottom, palette), board, _moves(game, _MOVES_BELOW), *lines)
    sheet = Table.grid(padding=(0, 3))
    sheet.add_row(board, _moves(game, _MOVES_SHOWN))
    return Group(_taken(game, bottom, palette), sheet, *lines)


def _picture(board: chess.Board) -> Picture:
    last = board.peek() if board.move_stack else None
    marked = SquareSet() if last is None else SquareSet([last.from_square, last.to_square])
    king = board.king(board.turn) if board.is_check() else None
    return Picture(board.piece_map(), marked, SquareSet() if king is None else SquareSet([king]))


def _moves(game: Game, most: int) -> Table:
    """Return the last moves, White's and Black's side by side."""
    root = game.board.root()
    return moves_table(game.sans(), root.fullmove_number, most, turn=root.turn)


def _taken(game: Game, color: chess.Color, palette: Palette | None) -> Text:
    """Return the pieces that a side has lost."""
    return Text("  " + " ".join(piece_text(piece, palette) for piece in game.taken(color)))


def _status(game: Game) -> Text:
    if game.result is not None:
        score, reason = game.result
        verdict = {"1-0": "White wins", "0-1": "Black wins"}.get(score, "Draw")
        return Text(f"{verdict}: {score}, {reason}", "bold")
    side = "White" if game.board.turn else "Black"
    return Text(f"{side} to move{', in check' if game.board.is_check() else ''}", "bold")
