"""CodinGame's chess protocol, without I/O: the lines that a referee writes, and how it reads a bot's lines.

Source of the rules: the statement of CodinGame's chess puzzle; where it leaves a question open, the site's referee.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import chess
from chess.variant import CrazyhouseBoard

#: The inputs a bot may ask for.
INPUTS = ("fen", "moves", "lastmove", "draw", "game", "score")

#: CodinGame draws a game after so many moves of each player.
MAX_MOVES = 125

#: The most unknown words that are shown, and the most characters of each.
MAX_SHOWN = 100

_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbn]?|[PNBRQ]@[a-h][1-8]")


class BadAnswer(Exception):
    """A bot's line that the protocol does not know, or does not allow now."""


class IllegalMove(BadAnswer):
    """A move that is not legal."""


def constants(*, crazyhouse: bool, max_moves: int) -> str:
    """Return the lines that a bot reads before its first game, and answers with its configuration."""
    return f"2\ncrazyHouse {int(crazyhouse)}\nmaxMoves {max_moves}\n"


class Configuration(NamedTuple):
    """The inputs that a bot asked for, in its order, and the unknown words, which CodinGame ignores."""

    inputs: list[str]
    unknown: list[str]


def read_configuration(line: str) -> Configuration:
    """Return what a bot's first line asks for. Unknown words are cut to what is worth showing."""
    words = line.split()
    unknown = [word[:MAX_SHOWN] for word in words if word not in INPUTS][:MAX_SHOWN]
    return Configuration([word for word in words if word in INPUTS], unknown)


@dataclass(frozen=True)
class Position:
    """The facts that a bot may ask for in its turn.

    :ivar board: with the opponent's last move on its stack, if there was one.
    :ivar draw_offered: whether the opponent offered a draw with its last move.
    :ivar game: the number of the game, from 1 on.
    :ivar score: the bot's score and its opponent's, in half-points.
    """

    board: chess.Board
    draw_offered: bool = False
    game: int = 1
    score: tuple[int, int] = (0, 0)


def inputs(configuration: Sequence[str], position: Position) -> str:
    """Return the lines of a turn."""
    return "".join(f"{_input(name, position)}\n" for name in configuration)


def _input(name: str, position: Position) -> str:
    match name:
        case "fen":
            return fen(position.board)
        case "moves":
            moves = legal_moves(position.board)
            return "\n".join([str(len(moves)), *moves])
        case "lastmove":
            return last_move(position.board)
        case "draw":
            return str(int(position.draw_offered))
        case "game":
            return str(position.game)
        case _:
            return "{} {}".format(*position.score)


def fen(board: chess.Board) -> str:
    """Return a FEN: castling by the rooks' files, a before h, White first; en passant after every double step.

    In crazyhouse the pieces in hand are a ninth row, as CodinGame's referee writes them: ``/NQp``, or just ``/``.
    """
    fields = board.fen(shredder=True, en_passant="fen").split(" ")
    fields[2] = "".join(sorted(fields[2]))
    if isinstance(board, CrazyhouseBoard):
        fields[0] = f"{fields[0].partition('[')[0]}/{_in_hand(board)}"
    return " ".join(fields)


def _in_hand(board: CrazyhouseBoard) -> str:
    """Return White's pieces in hand, then Black's, from pawns to queens."""
    return "".join(
        chess.Piece(kind, color).symbol() * board.pockets[color].count(kind)
        for color in chess.COLORS
        for kind in range(chess.PAWN, chess.KING)
    )


def legal_moves(board: chess.Board) -> list[str]:
    """Return all legal moves, as :func:`write_move` writes them."""
    return [write_move(board, move) for move in board.legal_moves]


def write_move(board: chess.Board, move: chess.Move) -> str:
    """Return a move in UCI, with castling as the king taking its own rook in every variant."""
    return board.uci(move, chess960=True)


def last_move(board: chess.Board) -> str:
    """Return the opponent's last move, or ``none``."""
    if not board.move_stack:
        return "none"
    before = board.copy(stack=1)
    move = before.pop()
    return write_move(before, move)


class Action(Enum):
    """The actions that a bot may take in its turn."""

    MOVE = "move"
    RANDOM = "random"
    RESIGN = "resign"
    ACCEPT_DRAW = "draw"


@dataclass(frozen=True)
class Answer:
    """A bot's answer to its inputs.

    :ivar move: the move as the bot wrote it, which need not be legal.
    :ivar offers_draw: whether the bot offers a draw with its move.
    :ivar comment: a comment for spectators.
    """

    action: Action
    move: str | None = None
    offers_draw: bool = False
    comment: str = ""


def read_answer(line: str, *, draw_offered: bool) -> Answer:
    """Parse a bot's line.

    :raises BadAnswer: the line has no meaning, or accepts a draw that was not offered.
    """
    word, _, comment = line.partition(" ")
    if word == "resign":
        return Answer(Action.RESIGN, comment=comment)
    if word == "draw":
        if not draw_offered:
            raise BadAnswer("'draw' accepts an offer, but none was made")
        return Answer(Action.ACCEPT_DRAW, comment=comment)
    text = word.removesuffix("=")
    if text == "random":
        return Answer(Action.RANDOM, None, text != word, comment)
    if not _MOVE.fullmatch(text):
        raise BadAnswer(f"{line[:100]!r} is not a move, 'random', 'resign' or 'draw'")
    return Answer(Action.MOVE, text, text != word, comment)


def read_move(board: chess.Board, text: str) -> chess.Move:
    """Parse a move as :func:`legal_moves` writes it.

    :raises IllegalMove: the move is not legal. Castling written as a king's move of two squares is not legal, either.
    """
    for move in board.legal_moves:
        if write_move(board, move) == text:
            return move
    raise IllegalMove(f"{text!r} is not a legal move in {fen(board)}")
