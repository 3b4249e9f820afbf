"""The base of a variant: one object that says how its games begin, which class plays them, and how PGN names it."""

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
from gm_protocol.options import VARIANT_TRAITS, VariantTraits
from gmd.games.events import Created
from gmd.games.game import Game

#: Bounds of a FEN's counters: above anything a game can reach, and small enough to stay integers everywhere.
MAX_FEN_HALFMOVES = 1_000
MAX_FEN_FULLMOVES = 100_000


@dataclass(frozen=True, eq=False)
class Variant(ABC):
    """The rules of one kind of chess.

    The game that :meth:`make_game` returns defines the moves, the players' views and the notation: it is a
    :class:`~gmd.games.game.Game`, or a :class:`~gmd.games.hidden.HiddenGame` if something is hidden.
    """

    #: The name on the wire.
    name: ClassVar[Name]
    #: The name within a sentence; empty for standard chess.
    title: ClassVar[str]
    #: The name on its own, as over a page, and a short one for lists.
    heading: ClassVar[str]
    abbreviation: ClassVar[str]
    #: The value of PGN's Variant tag.
    pgn_name: ClassVar[str]
    #: Other values of that tag, in lower case.
    pgn_aliases: ClassVar[frozenset[str]] = frozenset()
    #: The python-chess board that makes the moves of its games.
    board_type: ClassVar[type[chess.Board]] = chess.Board
    #: Whether programs that know only chess, such as python-chess, can read its PGN.
    pgn_is_common: ClassVar[bool] = True
    #: Whether a game may begin with the moves of a PGN.
    loads_moves: ClassVar[bool] = True
    #: Whether a start position is drawn at random if none is asked for.
    draws_start: ClassVar[bool] = False
    #: The cause of a victory by the rules. Where a king is captured, there is no check.
    victory: ClassVar[Victory] = Cause.CHECKMATE
    #: Whether players see less than everything until the game is over.
    hides: ClassVar[bool] = False
    #: Whether players sense before each move and request moves, as in reconnaissance blind chess: a request may be a
    #: pass, and may be carried out in part or not at all. Such games have reconchess's record, and beliefs.
    senses: ClassVar[bool] = False
    #: Whether players have captured pieces in hand, and drop them.
    drops: ClassVar[bool] = False
    #: Whether a null field of ``new_game`` means something else than a field that is left out.
    null_is_an_answer: ClassVar[bool] = False

    @property
    def traits(self) -> VariantTraits:
        """What differs between variants for a program that starts games."""
        return VARIANT_TRAITS[self.name]

    @abstractmethod
    def resolve(self, request: NewGame, headers: Mapping[str, str], drawn: int, *, strict: bool) -> GameOptions:
        """Return the options of the game that is asked for; :func:`gmd.games.variants.resolve` has the parameters.

        :raises BadRequest: fields are out of range, or contradict each other or the headers.
        :raises BadPosition: the FEN does not parse, or is not a position of the variant.
        """

    @abstractmethod
    def make_game(self, created: Created) -> Game:
        """Return a new game at its start position."""

    def board(self, fen: str) -> chess.Board:
        """Return a board that makes the moves of a game and writes them as the server does.

        Castling is Chess960's if the FEN gives castling rights by the rooks' files.

        :raises ValueError: the FEN does not parse.
        """
        return self.board_type(fen, chess960=names_rooks(fen))

    def is_usual(self, options: GameOptions) -> bool:
        """Return whether a game's PGN needs no tags for its start position and variant."""
        return False

    def refuse(self, request: NewGame, fields: tuple[str, ...]) -> None:
        """Refuse fields that do not apply to the variant.

        :raises BadRequest: one of them was sent.
        """
        for name in fields:
            value = getattr(request, name)
            if value is not None and value is not UNSET:
                raise BadRequest(f"{name}: {quote(value)} does not apply to {self.name}")

    def refuse_pgn(self, request: NewGame) -> None:
        """Refuse a request that has a PGN.

        :raises BadRequest: it has one.
        """
        if request.pgn is not None:
            raise BadRequest(f"pgn: {self.no_pgn}")

    @property
    def no_pgn(self) -> str:
        """The reason why no game begins with a PGN."""
        return (
            f"no game of {self.name} is made from a PGN; gmd import takes such games in, from the JSON lines that "
            "gmd export writes"
        )


def check_status(fen: str, board: chess.Board, name: Name) -> None:
    """Check by python-chess that a position is valid in a variant, and that its counters are within bounds.

    :raises BadPosition: it is not.
    """
    if problems := board.status():
        names = ", ".join(str(flag.name).lower().replace("_", " ") for flag in chess.Status if flag & problems)
        raise BadPosition(f"fen: {quote(fen)} is no {name} position: {names}")
    check_counters(fen, board.halfmove_clock, board.fullmove_number)


def check_counters(fen: str, halfmoves: int, fullmoves: int) -> None:
    """Check that the counters of a FEN are within bounds.

    :raises BadPosition: they are not.
    """
    if halfmoves > MAX_FEN_HALFMOVES or fullmoves > MAX_FEN_FULLMOVES:
        message = f"its counters may be at most {MAX_FEN_HALFMOVES} half-moves and move {MAX_FEN_FULLMOVES}"
        raise BadPosition(f"fen: {quote(fen)}: {message}")


def names_rooks(fen: str) -> bool:
    """Return whether a FEN names the files of the rooks that may castle, as Chess960's FENs do."""
    fields = fen.split()
    return len(fields) > 2 and not set(fields[2]) <= set("KQkq-")
