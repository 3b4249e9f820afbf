"""The input of a player: a move in any of three notations, or a command."""

from __future__ import annotations

from dataclasses import dataclass

import chess


class NotUnderstood(ValueError):
    """The input is neither a move nor a command. The text is a sentence for the player."""


@dataclass(frozen=True)
class Word:
    """A command other than a move."""

    name: str
    argument: str = ""


HOW_TO_MOVE = "  moves are typed as e4, Nf3, O-O, a8=N, or as e2e4, a7a8n, or as e2 e4"

#: The commands, and what they do.
WORDS = {
    "moves": "list the legal moves; with a square, as in 'moves e2', those from there",
    "hint": "ask what the engine would play",
    "undo": "take back your last move",
    "draw": "offer a draw",
    "resign": "resign the game",
    "new": "begin a new game; with a colour, as in 'new black', play that colour",
    "flip": "turn the board round",
    "help": "show these commands",
    "quit": "leave",
}

#: Short forms of the commands.
_SHORT = {"?": "help", "q": "quit", "exit": "quit", "u": "undo", "h": "hint", "m": "moves", "reset": "new"}


def read(text: str, board: chess.Board) -> chess.Move | Word:
    """Read a line of input.

    Moves are SAN (``Nf3``, ``exd5``, ``O-O``), UCI (``g1f3``), or a square to move from and one to move to with
    anything between (``g1 f3``, ``g1-f3``); a promotion without a piece is to a queen.

    :raises NotUnderstood: the line has no meaning, or names a move that is not legal.
    """
    words = text.split()
    if not words:
        raise NotUnderstood("Type a move, such as e4 or e2e4, or 'help'.")
    name = _SHORT.get(words[0].lower(), words[0].lower())
    if name in WORDS:
        return Word(name, " ".join(words[1:]))
    return _read_move(text.strip(), board)


def _read_move(text: str, board: chess.Board) -> chess.Move:
    squares = text.lower().replace("-", " ").replace("x", " ").replace("=", "").split()
    joined = "".join(squares)
    if len(joined) in (4, 5) and joined[:2] in chess.SQUARE_NAMES and joined[2:4] in chess.SQUARE_NAMES:
        return _from_squares(text, joined, board)
    try:
        return board.parse_san(text)
    except chess.AmbiguousMoveError:
        raise NotUnderstood(f"{text} could be more than one move: {_fitting(text, board)}.") from None
    except chess.IllegalMoveError:
        raise NotUnderstood(f"{text} is not legal here{_why(board)}.") from None
    except chess.InvalidMoveError:
        pass
    try:  # a piece's letter in the wrong case, as in nf3
        return board.parse_san(text[0].upper() + text[1:])
    except ValueError:
        raise NotUnderstood(f"{text!r} is neither a move nor a command; 'help' shows the commands.") from None


def _from_squares(text: str, uci: str, board: chess.Board) -> chess.Move:
    try:
        move = chess.Move.from_uci(uci)
    except ValueError:
        raise NotUnderstood(f"{text}: a pawn becomes a q, r, b or n.") from None
    queening = chess.Move(move.from_square, move.to_square, chess.QUEEN)
    for candidate in [move] if move.promotion else [move, queening]:
        if board.is_legal(candidate):
            return candidate
    raise NotUnderstood(f"{text} is not legal here{_why(board)}.")


def _why(board: chess.Board) -> str:
    return ": you are in check" if board.is_check() else ""


def _fitting(text: str, board: chess.Board) -> str:
    """Return the legal moves of that letter to that square."""
    target = text.rstrip("+#")[-2:]
    sans = [board.san(move) for move in board.legal_moves if chess.square_name(move.to_square) == target]
    return ", ".join(sorted(san for san in sans if san[0] == text[0]))


def legal(board: chess.Board, square: str = "") -> list[str]:
    """Return the legal moves in SAN, sorted; with a square, those from it.

    :raises NotUnderstood: the text is not a square.
    """
    if square and square.lower() not in chess.SQUARE_NAMES:
        raise NotUnderstood(f"{square!r} is not a square.")
    source = chess.parse_square(square.lower()) if square else None
    return sorted(board.san(move) for move in board.legal_moves if source in (None, move.from_square))


def read_color(text: str) -> chess.Color | None:
    """Return the colour that a word names; None for an empty text.

    :raises NotUnderstood: the word is not a colour.
    """
    colors = {"": None, "white": chess.WHITE, "black": chess.BLACK}
    if text.lower() not in colors:
        raise NotUnderstood(f"{text!r} is neither white nor black.")
    return colors[text.lower()]
