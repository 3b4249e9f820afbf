"""CodinGame's chess protocol, without I/O: what a referee writes to a bot, and how it reads what the bot writes.

Source of the rules: the statement of CodinGame's chess puzzle, and where that leaves a question open, its referee.
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

#: After so many moves of each player a game is drawn, on CodinGame.
MAX_MOVES = 125

#: Characters of an unknown word, and such words, that are shown.
MAX_SHOWN = 100

_MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbn]?|[PNBRQ]@[a-h][1-8]")


class BadAnswer(Exception):
    """A line of a bot's that the protocol does not know, or does not allow now."""


class IllegalMove(BadAnswer):
    """A move that is none of the legal ones."""


def constants(*, crazyhouse: bool, max_moves: int) -> str:
    """What a bot is told before its first game, to answer with its configuration."""
    return f"2\ncrazyHouse {int(crazyhouse)}\nmaxMoves {max_moves}\n"


class Configuration(NamedTuple):
    """What a bot has asked for: inputs, in its order, and words that are no inputs, which CodinGame passes over."""

    inputs: list[str]
    unknown: list[str]


def read_configuration(line: str) -> Configuration:
    """Return what a bot's first line asks for. Of the unknown words it keeps what is worth showing."""
    words = line.split()
    unknown = [word[:MAX_SHOWN] for word in words if word not in INPUTS][:MAX_SHOWN]
    return Configuration([word for word in words if word in INPUTS], unknown)


@dataclass(frozen=True)
class Position:
    """What a bot may be told of in its turn.

    :ivar board: with the opponent's last move on its stack, if there was one.
    :ivar draw_offered: by the opponent, with its last move.
    :ivar game: the number of the game, from 1 on.
    :ivar score: the bot's and its opponent's, in half-points.
    """

    board: chess.Board
    draw_offered: bool = False
    game: int = 1
    score: tuple[int, int] = (0, 0)


def inputs(configuration: Sequence[str], position: Position) -> str:
    """The lines of a turn."""
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
    """Six fields: castling as the rooks' files, a before h, White's first; en passant after every double step.

    In crazyhouse the pieces in hand are a ninth row, as CodinGame's referee writes them: ``/NQp``, or just ``/``.
    """
    fields = board.fen(shredder=True, en_passant="fen").split(" ")
    fields[2] = "".join(sorted(fields[2]))
    if isinstance(board, CrazyhouseBoard):
        fields[0] = f"{fields[0].partition('[')[0]}/{_in_hand(board)}"
    return " ".join(fields)


def _in_hand(board: CrazyhouseBoard) -> str:
    """White's pieces in hand, then Black's, from pawns to queens."""
    return "".join(
        chess.Piece(kind, color).symbol() * board.pockets[color].count(kind)
        for color in chess.COLORS
        for kind in range(chess.PAWN, chess.KING)
    )


def legal_moves(board: chess.Board) -> list[str]:
    """All legal moves, as :func:`write_move` writes them."""
    return [write_move(board, move) for move in board.legal_moves]


def write_move(board: chess.Board, move: chess.Move) -> str:
    """UCI, but castling is the king taking its own rook, whatever the variant."""
    return board.uci(move, chess960=True)


def last_move(board: chess.Board) -> str:
    """The opponent's last move, or ``none``."""
    if not board.move_stack:
        return "none"
    before = board.copy(stack=1)
    move = before.pop()
    return write_move(before, move)


class Action(Enum):
    """What a bot may do in its turn."""

    MOVE = "move"
    RANDOM = "random"
    RESIGN = "resign"
    ACCEPT_DRAW = "draw"


@dataclass(frozen=True)
class Answer:
    """A bot's answer to its inputs.

    :ivar move: as the bot wrote it, which need not be legal.
    :ivar offers_draw: with its move.
    :ivar comment: for those who watch.
    """

    action: Action
    move: str | None = None
    offers_draw: bool = False
    comment: str = ""


def read_answer(line: str, *, draw_offered: bool) -> Answer:
    """The meaning of a line.

    :raises BadAnswer: it has none, or accepts a draw that is not offered.
    """
    word, _, comment = line.partition(" ")
    if word == "resign":
        return Answer(Action.RESIGN, comment=comment)
    if word == "draw":
        if not draw_offered:
            raise BadAnswer("'draw' accepts an offer, and there is none")
        return Answer(Action.ACCEPT_DRAW, comment=comment)
    text = word.removesuffix("=")
    if text == "random":
        return Answer(Action.RANDOM, None, text != word, comment)
    if not _MOVE.fullmatch(text):
        raise BadAnswer(f"{line[:100]!r} is no move, and none of 'random', 'resign' and 'draw'")
    return Answer(Action.MOVE, text, text != word, comment)


def read_move(board: chess.Board, text: str) -> chess.Move:
    """A move as :func:`legal_moves` writes it.

    :raises IllegalMove: it is not legal. A king that goes two squares to castle is not, either.
    """
    for move in board.legal_moves:
        if write_move(board, move) == text:
            return move
    raise IllegalMove(f"{text!r} is no legal move in {fen(board)}")
