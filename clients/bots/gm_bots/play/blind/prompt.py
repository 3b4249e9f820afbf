"""The input of a player of blind chess: a square to sense, a move to request, or a command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import chess
from chess import Board, Move, Square

from gm_bots.minimax.play.prompt import NotUnderstood, Word

HELP = (
    "  First sense: type a square, and you see it and the eight around it.",
    "  Then ask for a move: e2e4, e2 e4, e4, Nf3, exd5, O-O, a8=N. Your own pieces",
    "  decide what you may ask for; you learn what comes of it. There is no",
    "  check: the game ends when a king is captured.",
)

#: The meaning of the board's marks: where squares have colours, and in letters.
COLORED_LEGEND = (
    "  You do not see grey squares. A piece there is where you last saw it; the",
    "  small number says how many of your turns ago. A ? is a piece of unknown kind.",
    "  Marked: your last move, and where you have just lost a piece.",
)
LETTERED_LEGEND = (
    "  A dot is an empty square that you see. A number next to a piece says how many",
    "  of your turns ago you last saw it. A ? is a piece of unknown kind.",
    "  Brackets: your last move.",
)

#: The commands, and what they do.
WORDS = {
    "pass": "sense nothing, or move nothing",
    "moves": "list the moves you may ask for; with a square, as in 'moves e2', those from there",
    "resign": "resign the game",
    "new": "begin a new game; with a colour, as in 'new black', play that colour",
    "flip": "turn the board round",
    "help": "show these commands",
    "quit": "leave",
}

#: Short forms of the commands.
_SHORT = {"?": "help", "q": "quit", "exit": "quit", "m": "moves", "reset": "new", "--": "pass", "0000": "pass"}

_SAN = re.compile(r"([KQRBN])?([a-h])?([1-8])?[x:]?([a-h][1-8])(?:=?([QRBN]))?[+#]?")
_SQUARES = re.compile(r"([a-h][1-8])[-x ]*([a-h][1-8]) *=?([a-z])?", re.IGNORECASE)
_LETTERS = {"K": chess.KING, "Q": chess.QUEEN, "R": chess.ROOK, "B": chess.BISHOP, "N": chess.KNIGHT}

Pass = Literal["pass"]
PASS: Pass = "pass"


def _read_word(text: str) -> Word | Pass | None:
    name, *rest = text.split()
    name = _SHORT.get(name.lower(), name.lower())
    if name == PASS:
        return PASS
    return Word(name, " ".join(rest)) if name in WORDS else None


def read_sense(text: str) -> Square | Pass | Word:
    """Read the input for a sense.

    :raises NotUnderstood: it has no meaning.
    """
    if not text.strip():
        raise NotUnderstood("Type the square to sense around, such as e5, or 'help'.")
    if (word := _read_word(text)) is not None:
        return word
    if text.strip().lower() not in chess.SQUARE_NAMES:
        raise NotUnderstood(f"{text.strip()!r} is neither a square nor a command; 'help' shows the commands.")
    return chess.parse_square(text.strip().lower())


def read_move(text: str, own: Board, actions: Sequence[Move]) -> Move | Pass | Word:
    """Read the input for a move.

    A move is UCI, two squares, or SAN as far as the player can know it. A promotion without a piece is to a queen.

    :param own: the player's pieces.
    :param actions: the moves that may be requested.
    :raises NotUnderstood: it has no meaning, or names no move, or several.
    """
    if not text.strip():
        raise NotUnderstood("Type a move to ask for, such as e2e4, Nf3 or exd5, or 'help'.")
    if (word := _read_word(text)) is not None:
        return word
    text = text.strip()
    fitting = _by_squares(text, actions)
    if fitting is None:
        fitting = _by_san(text, own, actions)
        if not fitting and text[0].islower():  # perhaps a piece's letter in the wrong case, as in nf3
            fitting = _by_san(text[0].upper() + text[1:], own, actions) or fitting
    if fitting is None:
        raise NotUnderstood(f"{text!r} is neither a move nor a command; 'help' shows the commands.")
    if not fitting:
        raise NotUnderstood(f"{text} is not a move that your pieces could make; 'moves' lists those.")
    if len(fitting) > 1:
        named = ", ".join(sorted(move.uci() for move in fitting))
        raise NotUnderstood(f"{text} could be more than one move: {named}.")
    return fitting[0]


def _by_squares(text: str, actions: Sequence[Move]) -> list[Move] | None:
    """Return the moves that two squares name; None if the text is not two squares."""
    match = _SQUARES.fullmatch(text)
    if match is None:
        return None
    source, target = (chess.parse_square(name.lower()) for name in match.group(1, 2))
    return _promoting([move for move in actions if (move.from_square, move.to_square) == (source, target)], match[3])


def _by_san(text: str, own: Board, actions: Sequence[Move]) -> list[Move] | None:
    """Return the moves that a text names in SAN; None if it is not SAN."""
    castle = text.upper().replace("0", "O")
    if castle in ("O-O", "O-O-O"):
        kingside = castle == "O-O"
        return [move for move in actions if own.is_castling(move) and own.is_kingside_castling(move) == kingside]
    match = _SAN.fullmatch(text)
    if match is None:
        return None
    letter, file, rank, target, promotion = match.groups()
    found = [
        move
        for move in actions
        if chess.square_name(move.to_square) == target
        and own.piece_type_at(move.from_square) == _LETTERS.get(letter or "", chess.PAWN)
        and not own.is_castling(move)
        and (file or rank or letter or _straight(move))
        and (file is None or chess.square_name(move.from_square)[0] == file)
        and (rank is None or chess.square_name(move.from_square)[1] == rank)
    ]
    return _promoting(found, promotion)


def _straight(move: Move) -> bool:
    return chess.square_file(move.from_square) == chess.square_file(move.to_square)


def _promoting(moves: list[Move], letter: str | None) -> list[Move]:
    """Return the moves that promote to a given piece. Without one it is a queen, or the moves do not promote.

    reconchess lists captures on the last rank without a piece, too, and makes them promote to a queen.
    """
    wanted = [move for move in moves if move.promotion == _LETTERS.get((letter or "Q").upper())]
    return wanted if wanted or letter else [move for move in moves if move.promotion is None]


def listed(own: Board, actions: Sequence[Move], square: str = "") -> str:
    """Return the moves that may be requested, by piece: ``knight g1: e2 f3 h3; ...``.

    :raises NotUnderstood: the text is not a square.
    """
    if square and square.lower() not in chess.SQUARE_NAMES:
        raise NotUnderstood(f"{square!r} is not a square.")
    targets: dict[Square, dict[str, None]] = {}
    for move in actions:
        if not square or chess.square_name(move.from_square) == square.lower():
            targets.setdefault(move.from_square, {})[chess.square_name(move.to_square)] = None
    if not targets:
        return f"Nothing can move from {square}." if square else "Nothing can move."
    parts = [
        f"{chess.piece_name(own.piece_type_at(source) or chess.PAWN)} {chess.square_name(source)}: "
        + " ".join(sorted(names))
        for source, names in sorted(targets.items())
    ]
    return "You may ask for: " + "; ".join(parts)
