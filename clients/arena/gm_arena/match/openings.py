"""Start positions of a match's games: from files of PGN or EPD, or Chess960's."""

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

from gmd.games.notation import split_pgn
from gmd.games.variants import VARIANTS

from ..boards import board_of


class OpeningsUnusable(Exception):
    """A file of openings cannot be read, or has none. The message names the line or the game."""


@dataclass(frozen=True)
class Opening:
    """The beginning of a game.

    :ivar name: a name for people: a number in the file or of a start position, and the file's own name of it.
    :ivar fen: the position; None for the variant's own.
    :ivar moves: moves from there, in UCI, which no clock is charged for.
    :ivar position: Chess960's number, in place of the others.
    """

    name: str
    fen: str | None = None
    moves: tuple[str, ...] = ()
    position: int | None = None

    def fields(self, variant: str) -> dict[str, Any]:
        """Return the fields of ``new_game``."""
        if self.position is not None:
            return {"position": self.position}
        fen = {} if self.fen is None else {"fen": self.fen}
        if not self.moves:
            return fen
        board = self.board(variant)
        return {**fen, "pgn": board.root().variation_san(board.move_stack)}  # the server reads SAN

    def board(self, variant: str) -> chess.Board:
        """Return the position in which the players begin, after the moves.

        :raises ValueError: a move is not legal in the variant.
        """
        board = board_of(variant, self.fen or starting_fen(variant))
        for uci in self.moves:
            board.push(board.parse_uci(uci))
        return board


def starting_fen(variant: str) -> str:
    """Return the default start position of a variant."""
    return (
        board_of("crazyhouse", f"{chess.STARTING_BOARD_FEN}[] w KQkq - 0 1").fen()
        if variant == "crazyhouse"
        else (chess.STARTING_FEN)
    )


def openings_for(
    variant: str, file: Path | None, *, plies: int | None, seed: int, in_order: bool, most: int | None = None
) -> list[Opening]:
    """Return the openings of a match, in playing order; after the last one the first is played again.

    Of a file only the openings that are played are checked: some books have hundreds of thousands.

    :param file: PGN, or EPD or FEN, one a line; None for the variant's start position, or all 960 in Chess960.
    :param plies: the most plies of each game of a PGN.
    :param in_order: whether to keep the file's order, instead of a random one by the seed.
    :param most: the most openings that are played; None for all.
    :raises OpeningsUnusable: the file has no openings, or one that no game can begin with.
    """
    made: Sequence[Callable[[], Opening]]
    if file is not None:
        made = _in_file(variant, file, plies)
    elif variant == "chess960":
        made = [partial(Opening, f"position {number}", position=number) for number in range(960)]
    else:
        made = [partial(Opening, "start")]
    if not made:
        raise OpeningsUnusable(f"openings: {file} has no openings")
    order = list(range(len(made)))
    if not in_order:
        random.Random(f"openings {seed}").shuffle(order)
    return [made[number]() for number in order[:most]]


def _in_file(variant: str, file: Path, plies: int | None) -> list[Callable[[], Opening]]:
    """Return a function for each opening of a file that reads it."""
    try:
        text = file.read_text("utf-8-sig", "replace")  # old PGN files are in Latin-1, which affects only names
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
    """Return an opening, after checking that a game can begin with it.

    :raises OpeningsUnusable: no game can begin with it.
    """
    try:
        opening = read(variant, *arguments)
        board = opening.board(variant)
    except ValueError as error:
        raise OpeningsUnusable(f"openings: {where}: {error}") from None
    if variant != "rbc" and (outcome := board.outcome(claim_draw=False)) is not None:
        over = outcome.termination.name.lower().replace("_", " ")
        raise OpeningsUnusable(f"openings: {where}: no game can begin here, since the game is over: {over}")
    return opening


def _position(variant: str, number: int, line: str) -> Opening:
    """Parse EPD or FEN: after the fourth field come two numbers, or operations, of which only the ``id`` is used."""
    fields = line.split()
    if len(fields) >= 6 and fields[4].isdecimal() and fields[5].isdecimal():
        fen, name = " ".join(fields[:6]), ""
    else:
        fen = " ".join([*fields[:4], "0", "1"])
        board = chess.Board(chess960=True)
        name = str(board.set_epd(line).get("id", "")) if variant != "crazyhouse" else ""
    board_of(variant, fen)  # raises for an invalid position
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
