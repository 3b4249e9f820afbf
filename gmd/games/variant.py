"""What a variant is: one object that says how its games begin, what plays them, and how PGN names it.

To add a variant, write a module with its game and its object, and name that in :mod:`gmd.games.variants`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import chess
from msgspec import UNSET

from gm_protocol.endings import Cause, Victory
from gm_protocol.errors import BadPosition, BadRequest, quote
from gm_protocol.messages import GameOptions, NewGame
from gm_protocol.messages import Variant as Name

from .events import Created
from .game import Game

#: Bounds of a FEN's counters: above anything a game can reach, and small enough to stay integers everywhere.
MAX_FEN_HALFMOVES = 1_000
MAX_FEN_FULLMOVES = 100_000


@dataclass(frozen=True, eq=False)
class Variant(ABC):
    """The rules of one kind of chess.

    What happens in a game, what its players see of it and how it is written down is the game's, which
    :meth:`make_game` makes: a :class:`~gmd.games.game.Game`, or where something is hidden a
    :class:`~gmd.games.hidden.HiddenGame`.
    """

    #: What the wire calls it.
    name: ClassVar[Name]
    #: What people call it; the usual one needs no name.
    title: ClassVar[str]
    #: The value of PGN's Variant tag.
    pgn_name: ClassVar[str]
    #: What else that tag may say, in lower case.
    pgn_aliases: ClassVar[frozenset[str]] = frozenset()
    #: What makes the moves of its games, as python-chess has it.
    board_type: ClassVar[type[chess.Board]] = chess.Board
    #: Whether programs that know chess alone, python-chess among them, read its PGN.
    pgn_is_common: ClassVar[bool] = True
    #: Whether a game may begin with the moves of a PGN.
    loads_moves: ClassVar[bool] = True
    #: Whether a start position is drawn where none is asked for.
    draws_start: ClassVar[bool] = False
    #: What a victory by the rules is.
    victory: ClassVar[Victory] = Cause.CHECKMATE
    #: Whether a field of ``new_game`` that is null asks for something else than one that is left out.
    null_is_an_answer: ClassVar[bool] = False

    @abstractmethod
    def resolve(self, request: NewGame, headers: Mapping[str, str], drawn: int, *, strict: bool) -> GameOptions:
        """Return the options of the game that a request asks for; :func:`gmd.games.setup.resolve` has the parameters.

        :raises BadRequest: fields out of range, or contradicting each other or the headers.
        :raises BadPosition: the FEN does not parse, or is no position of the variant.
        """

    @abstractmethod
    def make_game(self, created: Created) -> Game:
        """Return a new game, at its start position."""

    def board(self, fen: str) -> chess.Board:
        """Return a board that makes the moves of a game and writes them as the server does.

        Castling is Chess960's where rights are given by the rooks' files.

        :raises ValueError: the FEN does not parse.
        """
        return self.board_type(fen, chess960=names_rooks(fen))

    def is_usual(self, options: GameOptions) -> bool:
        """Return whether a reader of a game's PGN needs no telling where and by what rules it began."""
        return False

    def refuse(self, request: NewGame, fields: tuple[str, ...]) -> None:
        """Refuse fields that the variant does not have.

        :raises BadRequest: one of them was sent.
        """
        for name in fields:
            value = getattr(request, name)
            if value is not None and value is not UNSET:
                raise BadRequest(f"{name}: {quote(value)} does not apply to {self.name}")

    def refuse_pgn(self, request: NewGame) -> None:
        """Refuse to begin with a PGN.

        :raises BadRequest: one was sent.
        """
        if request.pgn is not None:
            raise BadRequest(f"pgn: {self.no_pgn}")

    @property
    def no_pgn(self) -> str:
        """Why no game begins with a PGN."""
        return (
            f"no game of {self.name} is made from a PGN; gmd import takes such games in, from the JSON lines that "
            "gmd export writes"
        )


def check_status(fen: str, board: chess.Board, name: Name) -> None:
    """See to it that a position is one of a variant's, by python-chess's judgement, and its counters within bounds.

    :raises BadPosition: it is none.
    """
    if problems := board.status():
        names = ", ".join(str(flag.name).lower().replace("_", " ") for flag in chess.Status if flag & problems)
        raise BadPosition(f"fen: {quote(fen)} is no {name} position: {names}")
    check_counters(fen, board.halfmove_clock, board.fullmove_number)


def check_counters(fen: str, halfmoves: int, fullmoves: int) -> None:
    """See to it that the counters of a FEN are within bounds.

    :raises BadPosition: they are not.
    """
    if halfmoves > MAX_FEN_HALFMOVES or fullmoves > MAX_FEN_FULLMOVES:
        message = f"its counters may be at most {MAX_FEN_HALFMOVES} half-moves and move {MAX_FEN_FULLMOVES}"
        raise BadPosition(f"fen: {quote(fen)}: {message}")


def names_rooks(fen: str) -> bool:
    """Return whether a FEN names the files of the rooks that may castle, as those of Chess960 do."""
    fields = fen.split()
    return len(fields) > 2 and not set(fields[2]) <= set("KQkq-")
