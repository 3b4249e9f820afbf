"""Positions that the games of a match begin with: out of files of PGN or EPD, or Chess960's."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import chess.pgn

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
        return {**fields_of_moves(self, variant), **fen} if self.moves else fen


def fields_of_moves(opening: Opening, variant: str) -> dict[str, Any]:
    """The moves as a PGN, whose SAN the server reads."""
    board = board_of(variant, opening.fen or starting_fen(variant))
    moves = [chess.Move.from_uci(uci) for uci in opening.moves]
    return {"pgn": board.variation_san(moves)}


def starting_fen(variant: str) -> str:
    """The position a variant begins with where nothing else is said."""
    return (
        board_of("crazyhouse", f"{chess.STARTING_BOARD_FEN}[] w KQkq - 0 1").fen()
        if variant == "crazyhouse"
        else (chess.STARTING_FEN)
    )


def openings_for(variant: str, file: Path | None, *, plies: int | None, seed: int, in_order: bool) -> list[Opening]:
    """The openings of a match, in the order in which they are played; after the last comes the first again.

    :param file: PGN, or EPD or FEN, one a line; None for the variant's start, which in Chess960 are all 960.
    :param plies: of a PGN's games, at most so many.
    :param in_order: as they stand in the file, and not drawn by the seed.
    :raises OpeningsUnusable: the file has none.
    """
    if file is not None:
        openings = list(_read(variant, file, plies))
    elif variant == "chess960":
        openings = [Opening(f"position {number}", position=number) for number in range(960)]
    else:
        openings = [Opening("start")]
    if not openings:
        raise OpeningsUnusable(f"openings: {file} has no openings in it")
    if not in_order:
        random.Random(f"openings {seed}").shuffle(openings)
    return openings


def _read(variant: str, file: Path, plies: int | None) -> Iterator[Opening]:
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise OpeningsUnusable(f"openings: {file}: {getattr(error, 'strerror', None) or error}") from None
    if file.suffix.lower() == ".pgn":
        yield from _games(variant, file, plies)
    else:
        yield from _positions(variant, file, text)


def _positions(variant: str, file: Path, text: str) -> Iterator[Opening]:
    """EPD or FEN: behind the fourth field come two numbers, or operations, of which the ``id`` counts."""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        try:
            yield _position(variant, number, line)
        except ValueError as error:
            raise OpeningsUnusable(f"openings: {file}, line {number}: {error}") from None


def _position(variant: str, number: int, line: str) -> Opening:
    fields = line.split()
    if len(fields) >= 6 and fields[4].isdecimal() and fields[5].isdecimal():
        fen, name = " ".join(fields[:6]), ""
    else:
        fen = " ".join([*fields[:4], "0", "1"])
        board = chess.Board(chess960=True)
        name = str(board.set_epd(line).get("id", "")) if variant != "crazyhouse" else ""
    board_of(variant, fen)  # which refuses what is no position
    return Opening(f"{number}: {name}" if name else str(number), fen)


def _games(variant: str, file: Path, plies: int | None) -> Iterator[Opening]:
    number = 0
    with file.open(encoding="utf-8-sig") as lines:
        while (game := chess.pgn.read_game(lines)) is not None:
            number += 1
            if game.errors:
                raise OpeningsUnusable(f"openings: {file}, game {number}: {game.errors[0]}")
            yield _opening_of(variant, number, game, plies)


def _opening_of(variant: str, number: int, game: chess.pgn.Game, plies: int | None) -> Opening:
    name = game.headers.get("Opening") or game.headers.get("ECO")
    name = f"{number}: {name}" if name else str(number)
    start, board = game.board(), game.board()
    moves = []
    for move in list(game.mainline_moves())[:plies]:
        moves.append(board.uci(move))
        board.push(move)
    if variant == "rbc":  # whose games cannot begin with moves
        return Opening(name, board.fen())
    fen = None if start.fen() == starting_fen(variant) else start.fen()
    return Opening(name, fen, tuple(moves))
