"""The board, the moves and the pieces taken, for a terminal of any kind."""

from __future__ import annotations

import chess
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .game import Game

#: The colours of squares: light, dark; of the last move's: light, dark; and of a king in check.
_SQUARES = ("on #d8c3a0", "on #a67b52")
_MOVED = ("on #d6cf6a", "on #a9a13c")
_CHECKED = "on #c8504a"
_PIECES = {chess.WHITE: "bold #ffffff", chess.BLACK: "bold #101010"}

#: Moves shown of a long game: as many as there are ranks; and below the board, where they take lines of their own.
_MOVES_SHOWN, _MOVES_BELOW = 8, 3

#: Columns that the board and the moves take beside each other.
_BESIDE = 52


def draw(game: Game, *, width: int, flipped: bool = False, plain: bool = False) -> RenderableType:
    """All there is to see of a game.

    :param width: columns that there are.
    :param flipped: whether the player's own side is at the top.
    :param plain: letters in place of coloured squares, for what is no terminal, or cannot show colours.
    """
    bottom = game.color != flipped
    board: RenderableType = _board(game, bottom, plain)
    lines = [_taken(game, not bottom, plain), _status(game)]
    if width < _BESIDE:
        return Group(_taken(game, bottom, plain), board, _moves(game, _MOVES_BELOW), *lines)
    sheet = Table.grid(padding=(0, 3))
    sheet.add_row(board, _moves(game, _MOVES_SHOWN))
    return Group(_taken(game, bottom, plain), sheet, *lines)


def _board(game: Game, bottom: chess.Color, plain: bool) -> Text:
    ranks, files = range(8) if not bottom else range(7, -1, -1), range(8) if bottom else range(7, -1, -1)
    text = Text(no_wrap=True)
    for rank in ranks:
        text.append(f"{rank + 1} ")
        for file in files:
            _add_square(text, game.board, chess.square(file, rank), plain)
        text.append("\n")
    return text.append(
        "  " + "".join(f"{chess.FILE_NAMES[file]} " if plain else f" {chess.FILE_NAMES[file]} " for file in files)
    )


def _add_square(text: Text, board: chess.Board, square: chess.Square, plain: bool) -> None:
    piece = board.piece_at(square)
    if plain:
        text.append(f"{piece.symbol() if piece else '.'} ")
        return
    dark = not chess.BB_SQUARES[square] & chess.BB_LIGHT_SQUARES
    style = _SQUARES[dark]
    if board.move_stack and square in (board.peek().from_square, board.peek().to_square):
        style = _MOVED[dark]
    if board.is_check() and square == board.king(board.turn):
        style = _CHECKED
    symbol = chess.UNICODE_PIECE_SYMBOLS[piece.symbol().lower()] if piece else " "  # filled: the colour says whose
    text.append(f" {symbol} ", f"{_PIECES[piece.color]} {style}" if piece else style)


def _moves(game: Game, most: int) -> Table:
    """The last moves, White's and Black's beside each other."""
    table = Table.grid(padding=(0, 2))
    root = game.board.root()
    sans = ([] if root.turn else ["..."]) + game.sans()
    pairs = [(number, sans[2 * number : 2 * number + 2]) for number in range((len(sans) + 1) // 2)]
    for number, pair in pairs[-most:]:
        table.add_row(f"{root.fullmove_number + number}.", *pair)
    return table


def _taken(game: Game, color: chess.Color, plain: bool) -> Text:
    """The pieces that a side has lost."""
    pieces = game.taken(color)
    return Text("  " + " ".join(piece.symbol() if plain else piece.unicode_symbol() for piece in pieces))


def _status(game: Game) -> Text:
    if game.result is not None:
        score, reason = game.result
        verdict = {"1-0": "White wins", "0-1": "Black wins"}.get(score, "Draw")
        return Text(f"{verdict}: {score}, {reason}", "bold")
    side = "White" if game.board.turn else "Black"
    return Text(f"{side} to move{', in check' if game.board.is_check() else ''}", "bold")


def can_color(console: Console) -> bool:
    """Whether coloured squares can be shown: a terminal, with colours, and an encoding that has chess pieces."""
    return console.is_terminal and console.color_system is not None and console.encoding.lower().startswith("utf")
