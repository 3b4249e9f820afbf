"""Positions that the games of a match begin with: out of files of PGN or EPD, or Chess960's."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import chess
import chess.pgn

from gmd.games.pgn_file import split_pgn
from gmd.games.variants import VARIANTS

from ..boards import board_of


class OpeningsUnusable(Exception):
    """A file of openings that cannot be read, or has none. The message says which line or game is at fault."""


@dataclass(frozen=True)
class Opening:
    """Where a game begins.

    :ivar name: for people: a number in the file, or of a start position, and what the file calls it.
    :ivar fen: the position; None for the variant's own.
    :ivar moves: made from there, in UCI, which no clock is charged for.
    :ivar position: Chess960's number, in place of all that.
    """

    name: str
    fen: str | None = None
    moves: tuple[str, ...] = ()
    position: int | None = None

    def fields(self, variant: str) -> dict[str, Any]:
        """The fields of ``new_game``."""
        if self.position is not None:
            return {"position": self.position}
        fen = {} if self.fen is None else {"fen": self.fen}
        if not self.moves:
            return fen
        board = self.board(variant)
        return {**fen, "pgn": board.root().variation_san(board.move_stack)}  # the server reads SAN

    def board(self, variant: str) -> chess.Board:
        """The position with which the players begin, behind the moves.

        :raises ValueError: a move is not legal in the variant.
        """
        board = board_of(variant, self.fen or starting_fen(variant))
        for uci in self.moves:
            board.push(board.parse_uci(uci))
        return board


def starting_fen(variant: str) -> str:
    """The position a variant begins with where nothing else is said."""
    return (
        board_of("crazyhouse", f"{chess.STARTING_BOARD_FEN}[] w KQkq - 0 1").fen()
        if variant == "crazyhouse"
        else (chess.STARTING_FEN)
    )


def openings_for(
    variant: str, file: Path | None, *, plies: int | None, seed: int, in_order: bool, most: int | None = None
) -> list[Opening]:
    """The openings of a match, in the order in which they are played; after the last comes the first again.

    Of a file only those are looked at that are played: there are books of hundreds of thousands.

    :param file: PGN, or EPD or FEN, one a line; None for the variant's start, which in Chess960 are all 960.
    :param plies: of a PGN's games, at most so many.
    :param in_order: as they stand in the file, and not drawn by the seed.
    :param most: how many are played at most; None for all.
    :raises OpeningsUnusable: the file has none, or one that no game can begin with.
    """
    made: Sequence[Callable[[], Opening]]
    if file is not None:
        made = _in_file(variant, file, plies)
    elif variant == "chess960":
        made = [partial(Opening, f"position {number}", position=number) for number in range(960)]
    else:
        made = [partial(Opening, "start")]
    if not made:
        raise OpeningsUnusable(f"openings: {file} has no openings in it")
    order = list(range(len(made)))
    if not in_order:
        random.Random(f"openings {seed}").shuffle(order)
    return [made[number]() for number in order[:most]]


def _in_file(variant: str, file: Path, plies: int | None) -> list[Callable[[], Opening]]:
    """What makes each opening of a file."""
    try:
        text = file.read_text("utf-8-sig", "replace")  # old files of PGN are in Latin-1, and only names show that
    except OSError as error:
        raise OpeningsUnusable(f"openings: {file}: {error.strerror}") from None
    if file.suffix.lower() == ".pgn":
        games = enumerate(split_pgn(io.StringIO(text)), 1)
        return [
            partial(_checked, f"{file}, game {number}", variant, _opening_of, number, game, plies)
            for number, game in games
        ]
    lines = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1))
    return [
        partial(_checked, f"{file}, line {number}", variant, _position, number, line) for number, line in lines if line
    ]


def _checked(where: str, variant: str, read: Callable[..., Opening], *arguments: Any) -> Opening:
    """An opening that a game can begin with.

    :raises OpeningsUnusable: it is none.
    """
    try:
        opening = read(variant, *arguments)
        board = opening.board(variant)
    except ValueError as error:
        raise OpeningsUnusable(f"openings: {where}: {error}") from None
    if variant != "rbc" and (outcome := board.outcome(claim_draw=False)) is not None:
        over = outcome.termination.name.lower().replace("_", " ")
        raise OpeningsUnusable(f"openings: {where}: no game can begin with it, which is over: {over}")
    return opening


def _position(variant: str, number: int, line: str) -> Opening:
    """EPD or FEN: behind the fourth field come two numbers, or operations, of which the ``id`` counts."""
    fields = line.split()
    if len(fields) >= 6 and fields[4].isdecimal() and fields[5].isdecimal():
        fen, name = " ".join(fields[:6]), ""
    else:
        fen = " ".join([*fields[:4], "0", "1"])
        board = chess.Board(chess960=True)
        name = str(board.set_epd(line).get("id", "")) if variant != "crazyhouse" else ""
    board_of(variant, fen)  # which refuses what is no position
    return Opening(f"{number}: {name}" if name else str(number), fen)


def _opening_of(variant: str, number: int, text: str, plies: int | None) -> Opening:
    game = chess.pgn.read_game(io.StringIO(text))
    if game is None:
        raise ValueError("there is no game in it")
    if game.errors:
        raise ValueError(str(game.errors[0]))
    name = game.headers.get("Opening") or game.headers.get("ECO")
    name = f"{number}: {name}" if name else str(number)
    start, board = game.board(), game.board()
    moves = []
    for move in list(game.mainline_moves())[:plies]:
        if move not in board.legal_moves:
            raise ValueError(f"{board.uci(move)} is not a legal move in {board.fen()}")
        moves.append(board.uci(move))
        board.push(move)
    if not VARIANTS[variant].loads_moves:
        return Opening(name, board.fen())
    fen = None if start.fen() == starting_fen(variant) else start.fen()
    return Opening(name, fen, tuple(moves))
