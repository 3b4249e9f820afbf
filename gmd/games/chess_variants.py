"""The variants chess, Chess960 and crazyhouse: how their games begin."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar

import chess
from chess import Board
from chess.variant import CrazyhouseBoard

from gm_protocol.errors import BadPosition, BadRequest, quote
from gm_protocol.messages import ClockOption, DrawRule, GameOptions, NewGame

from .chess import ChessGame, Start
from .clock import check_clock
from .events import Created
from .position import Family, pack
from .variant import Variant, check_status, names_rooks

#: Scharnagl's number of the classical start position.
CLASSICAL = 518

#: Fields of "new_game" that apply to reconnaissance blind chess only.
_FOR_RECON_ONLY = ("reversible_moves", "max_turns")


class ChessVariant(Variant):
    """A variant in which both players see everything, by python-chess's rules.

    :cvar family: the rules of its positions.
    :cvar draw_rule: the draw rule of a game whose request names none.
    """

    family: ClassVar[Family]
    draw_rule: ClassVar[DrawRule] = "automatic"

    def resolve(self, request: NewGame, headers: Mapping[str, str], drawn: int, *, strict: bool) -> GameOptions:
        if strict:
            self.refuse(request, _FOR_RECON_ONLY)
        fen = self._agreed_fen(request, headers)
        number = None if fen is not None else self._number(request, drawn)
        if strict:
            self._check_start(request)
        return GameOptions(
            variant=self.name,
            fen=_start_fen(self.family_of(number), number) if fen is None else _fen_of(self.read(fen)),
            position=number,
            draws=request.draws or self.draw_rule,
            max_moves=request.max_moves,
            clock=check_clock(request.clock) if isinstance(request.clock, ClockOption | str) else None,
            illegal_move=request.illegal_move or "refuse",
        )

    def make_game(self, created: Created) -> ChessGame:
        options = created.options
        number = options.position if isinstance(options.position, int) else None
        return ChessGame(created, _start_of(self, number, options.fen))

    def board(self, fen: str) -> Board:
        return Family(self.family | names_rooks(fen)).board(fen)

    def family_of(self, number: int | None) -> Family:
        """Return the rules of a game, by the number of its Chess960 start position; None for a game from a FEN."""
        return self.family

    def family_in(self, fen: str) -> Family:
        """Return the rules of a game that begins with a FEN."""
        return self.family

    def read(self, fen: str) -> Board:
        """Return the board of a FEN, without an en passant square where no legal capture exists.

        :raises BadPosition: it does not parse, or is not a position of the variant.
        """
        board = _parse(fen, self.family_in(fen))
        check_status(fen, board, self.name)
        if isinstance(board, CrazyhouseBoard):
            _check_pockets(fen, board)
        pack(board)
        return board

    def _agreed_fen(self, request: NewGame, headers: Mapping[str, str]) -> str | None:
        """Return the start position as FEN; None if neither the request nor the headers give one."""
        given = self._given(request)
        if len(given) > 1:
            one, other = (quote(getattr(request, name)) for name in given[:2])
            message = f"{given[0]}: {one} contradicts {given[1]} {other}; give only one of fen, position and seed"
            raise BadRequest(message)
        header = headers.get("FEN")
        if header is None:
            return request.fen
        normal = self.read(header).fen()
        if request.fen is not None and self.read(request.fen).fen() != normal:
            raise BadRequest(f"fen: {quote(request.fen)} contradicts the PGN's FEN header {quote(header)}")
        if given and request.fen is None:
            value = quote(getattr(request, given[0]))
            raise BadRequest(
                f"{given[0]}: {value} contradicts the PGN's FEN header, which gives the start position; leave it out"
            )
        return header

    def _given(self, request: NewGame) -> list[str]:
        """Return the names of the request's fields that choose the start position."""
        return [name for name in ("fen", "position", "seed") if getattr(request, name) is not None]

    def _number(self, request: NewGame, drawn: int) -> int | None:
        """Return the number of the start position; None in a variant with only one."""
        if request.position is not None:
            return request.position
        if request.seed is not None:
            return request.seed % 960
        return drawn if self.draws_start and request.pgn is None else CLASSICAL

    def _check_start(self, request: NewGame) -> None:
        """Refuse fields that choose a start position, in a variant with only one."""


class Standard(ChessVariant):
    """Chess."""

    name = "standard"
    title = ""
    heading = abbreviation = "Chess"
    pgn_name = "Standard"
    pgn_aliases = frozenset({"chess", "classical", "normal", "from position"})
    family = Family.STANDARD
    draw_rule = "claimed"

    def is_usual(self, options: GameOptions) -> bool:
        return options.fen == chess.STARTING_FEN

    def _given(self, request: NewGame) -> list[str]:
        return [] if request.fen is None else ["fen"]

    def _number(self, request: NewGame, drawn: int) -> None:
        return None

    def _check_start(self, request: NewGame) -> None:
        if (request.position, request.seed) != (None, None):
            name = "position" if request.position is not None else "seed"
            value = getattr(request, name)
            message = f"{name}: {value} does not apply to standard chess; it chooses a chess960 or crazyhouse start"
            raise BadRequest(message)


class Chess960(ChessVariant):
    """Chess from one of 960 start positions."""

    name = "chess960"
    title = "chess960"
    heading = abbreviation = "Chess960"
    pgn_name = "Chess960"
    pgn_aliases = frozenset({"chess 960", "fischerandom", "fischerrandom", "fischer random"})
    draws_start = True
    family = Family.CHESS960


class Crazyhouse(ChessVariant):
    """Chess with drops of captured pieces. From a Chess960 start position it castles by Chess960's rules."""

    name = "crazyhouse"
    title = "crazyhouse"
    heading = abbreviation = "Crazyhouse"
    pgn_name = "Crazyhouse"
    pgn_aliases = frozenset({"crazy house", "house", "zh"})
    family = Family.CRAZYHOUSE
    drops = True

    def family_of(self, number: int | None) -> Family:
        return Family.CRAZYHOUSE if number in (None, CLASSICAL) else Family.CRAZYHOUSE960

    def family_in(self, fen: str) -> Family:
        bad_rights = _parse(fen, Family.CRAZYHOUSE).status() & chess.STATUS_BAD_CASTLING_RIGHTS
        return Family.CRAZYHOUSE960 if bad_rights or names_rooks(fen) else Family.CRAZYHOUSE


STANDARD, CHESS960, CRAZYHOUSE = Standard(), Chess960(), Crazyhouse()


@lru_cache(4_096)
def _start_fen(family: Family, number: int | None) -> str:
    board = family.board()
    if family.chess960:
        board.set_chess960_pos(number or 0)
    else:
        board.reset()
    return _fen_of(board)


def _fen_of(board: Board) -> str:
    return board.fen(shredder=board.chess960)


def _parse(fen: str, family: Family) -> Board:
    try:
        return family.board(fen)
    except (ValueError, IndexError) as error:
        raise BadPosition(f"fen: {quote(fen)} cannot be read: {str(error)[:120]}") from None


def _check_pockets(fen: str, board: CrazyhouseBoard) -> None:
    pockets = board.pockets
    if any(pocket.count(chess.KING) for pocket in pockets):
        raise BadPosition(f"fen: {quote(fen)} is no crazyhouse position: a king in hand")
    if board.occupied.bit_count() + sum(map(len, pockets)) > 32:
        raise BadPosition(f"fen: {quote(fen)} is no crazyhouse position: more than 32 pieces on board and in hand")


@lru_cache(4_096)
def _start_of(variant: ChessVariant, number: int | None, fen: str) -> Start:
    board = variant.read(fen) if number is None else _parse(fen, variant.family_of(number))
    return Start(pack(board), board.turn, board.halfmove_clock, board.fullmove_number)
