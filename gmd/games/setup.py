"""From what a client asks for to the options a game is played with: variant, start position, rules.

Pure: the one random choice, a Chess960 start number nobody named, is an argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import chess
from chess import Board
from chess.variant import CrazyhouseBoard
from msgspec import UNSET

from gm_protocol.errors import BadPgn, BadPosition, BadRequest, quote
from gm_protocol.messages import ClockOption, DrawRule, GameOptions, NewGame, Variant
from gm_recon import ReconBoard
from gm_recon.pgn import VARIANT

from .clock import check_clock
from .position import Family, Position, pack

#: Scharnagl's number of the classical start position.
CLASSICAL = 518

#: Bounds of a FEN's counters: above anything a game can reach, and small enough to stay integers everywhere.
MAX_FEN_HALFMOVES = 1_000
MAX_FEN_FULLMOVES = 100_000

#: What a game of reconnaissance blind chess has where nothing else is asked for, as with reconchess: 15 minutes and 5
#: seconds a move, and a draw after 100 half-moves without capture or pawn move.
RECON_CLOCK = ClockOption(initial=900.0, increment=5.0)
RECON_REVERSIBLE_MOVES = 100

#: What "new_game" takes and a game of reconnaissance blind chess has not: draws would be signals between the players.
_NOT_FOR_RECON = ("position", "seed", "draws", "max_moves", "illegal_move")
_FOR_RECON_ONLY = ("reversible_moves", "max_turns")
#: Nor does it begin in the middle: its clients would not know what they have seen.
_NO_RECON_PGN = (
    "no game of rbc is made from a PGN; gmd import takes such games in, from the JSON lines that gmd export writes"
)

#: Names of the variants in PGN's Variant header, as other programs write them, in lower case.
_HEADER_VARIANTS: dict[str, Variant] = {
    "standard": "standard",
    "chess": "standard",
    "classical": "standard",
    "normal": "standard",
    "from position": "standard",
    "chess960": "chess960",
    "chess 960": "chess960",
    "fischerandom": "chess960",
    "fischerrandom": "chess960",
    "fischer random": "chess960",
    "crazyhouse": "crazyhouse",
    "crazy house": "crazyhouse",
    "house": "crazyhouse",
    "zh": "crazyhouse",
}
#: As history writes it for reconnaissance blind chess, and as others call that.
_RECON_HEADERS = {VARIANT.lower(), "reconnaissance chess", "rbc"}


def resolve(request: NewGame, headers: Mapping[str, str], drawn: int, *, strict: bool) -> GameOptions:
    """The options of the game a request asks for.

    :param headers: the tags of its PGN; empty without one.
    :param drawn: the Chess960 start number (0 to 959) to use where neither request nor headers name one.
    :param strict: refuse a field that does not apply to the variant rather than ignore it.
    :raises BadRequest: fields out of range, or contradicting each other or the headers.
    :raises BadPosition: the FEN does not parse or is no position of the variant.
    :raises BadPgn: the headers name a variant this server does not have.
    """
    if request.variant == "rbc":
        return _resolve_recon(request)
    variant = _variant(request, headers)
    if strict:
        _refuse(request, _FOR_RECON_ONLY, variant)
    fen = _agreed_fen(request, headers, variant)
    number = None if fen is not None else _start_number(request, variant, drawn, from_pgn=request.pgn is not None)
    if variant == "standard" and strict and (request.position, request.seed) != (None, None):
        name = "position" if request.position is not None else "seed"
        value = getattr(request, name)
        raise BadRequest(f"{name}: {value} does not apply to standard chess; it chooses a chess960 or crazyhouse start")
    start = _start_fen(variant, number) if fen is None else _fen_of(_board_of(fen, variant))
    automatic: DrawRule = "claimed" if variant == "standard" else "automatic"
    return GameOptions(
        variant=variant,
        fen=start,
        position=number,
        draws=request.draws or automatic,
        max_moves=request.max_moves,
        clock=check_clock(request.clock) if isinstance(request.clock, ClockOption | str) else None,
        illegal_move=request.illegal_move or "refuse",
    )


def _resolve_recon(request: NewGame) -> GameOptions:
    if request.pgn is not None:
        raise BadRequest(f"pgn: {_NO_RECON_PGN}")
    _refuse(request, _NOT_FOR_RECON, "rbc")
    fen = chess.STARTING_FEN if request.fen is None else request.fen
    try:
        board = ReconBoard(fen)
    except (ValueError, IndexError) as error:
        raise BadPosition(f"fen: {quote(fen)}: {str(error)[:120]}") from None
    _check_counters(fen, board.halfmoves, board.fullmoves)
    clock = RECON_CLOCK if request.clock is UNSET else request.clock
    reversible = RECON_REVERSIBLE_MOVES if request.reversible_moves is UNSET else request.reversible_moves
    return GameOptions(
        variant="rbc",
        fen=board.fen(),
        clock=None if clock is None else check_clock(clock),
        reversible_moves=reversible,
        max_turns=request.max_turns,
    )


def _refuse(request: NewGame, fields: tuple[str, ...], variant: Variant) -> None:
    for name in fields:
        value = getattr(request, name)
        if value is not None and value is not UNSET:
            raise BadRequest(f"{name}: {quote(value)} does not apply to {variant}")


def _variant(request: NewGame, headers: Mapping[str, str]) -> Variant:
    header = headers.get("Variant")
    if header is None:
        return request.variant or "standard"
    variant = _HEADER_VARIANTS.get(header.lower())
    if header.lower() in _RECON_HEADERS:
        raise BadPgn(f"pgn: its Variant header is {quote(header)}, and {_NO_RECON_PGN}")
    if variant is None:
        raise BadPgn(f"pgn: its Variant header {quote(header)} is none of standard, chess960, crazyhouse")
    if request.variant not in (None, variant):
        raise BadRequest(f"variant: {request.variant!r} contradicts the PGN's Variant header {quote(header)}")
    return variant


def _agreed_fen(request: NewGame, headers: Mapping[str, str], variant: Variant) -> str | None:
    """The start position as FEN, where the request or the headers give one."""
    given = [name for name in ("fen", "position", "seed") if getattr(request, name) is not None]
    if len(given) > 1 and variant != "standard":
        one, other = (quote(getattr(request, name)) for name in given[:2])
        message = f"{given[0]}: {one} contradicts {given[1]} {other}; give only one of fen, position and seed"
        raise BadRequest(message)
    header = headers.get("FEN")
    if header is None:
        return request.fen
    normal = _board_of(header, variant).fen()
    if request.fen is not None and _board_of(request.fen, variant).fen() != normal:
        raise BadRequest(f"fen: {quote(request.fen)} contradicts the PGN's FEN header {quote(header)}")
    if given and request.fen is None and variant != "standard":
        value = quote(getattr(request, given[0]))
        raise BadRequest(f"{given[0]}: {value} goes beside no FEN header in the PGN, which gives the start position")
    return header


def _start_number(request: NewGame, variant: Variant, drawn: int, *, from_pgn: bool) -> int | None:
    if variant == "standard":
        return None
    if request.position is not None:
        return request.position
    if request.seed is not None:
        return request.seed % 960
    return drawn if variant == "chess960" and not from_pgn else CLASSICAL


def _family(variant: Variant, number: int | None) -> Family:
    if variant == "standard":
        return Family.STANDARD
    if variant == "chess960":
        return Family.CHESS960
    return Family.CRAZYHOUSE if number in (None, CLASSICAL) else Family.CRAZYHOUSE960


@lru_cache(4_096)
def _start_fen(variant: Variant, number: int | None) -> str:
    family = _family(variant, number)
    board = family.board()
    if family.chess960:
        board.set_chess960_pos(number or 0)
    else:
        board.reset()
    return _fen_of(board)


def _fen_of(board: Board) -> str:
    return board.fen(shredder=board.chess960)


def _board_of(fen: str, variant: Variant) -> Board:
    """The board of a FEN, with no en passant square that nothing can use.

    :raises BadPosition: it does not parse, or is no position of the variant.
    """
    board = _parse(fen, _family(variant, None))
    if variant == "crazyhouse" and _castles_as_chess960(fen, board):
        board = _parse(fen, Family.CRAZYHOUSE960)
    problems = board.status()
    if problems:
        names = ", ".join(str(flag.name).lower().replace("_", " ") for flag in chess.Status if flag & problems)
        raise BadPosition(f"fen: {quote(fen)} is no {variant} position: {names}")
    if isinstance(board, CrazyhouseBoard):
        _check_pockets(fen, board)
    _check_counters(fen, board.halfmove_clock, board.fullmove_number)
    pack(board)
    return board


def _check_counters(fen: str, halfmoves: int, fullmoves: int) -> None:
    if halfmoves > MAX_FEN_HALFMOVES or fullmoves > MAX_FEN_FULLMOVES:
        message = f"its counters may be at most {MAX_FEN_HALFMOVES} half-moves and move {MAX_FEN_FULLMOVES}"
        raise BadPosition(f"fen: {quote(fen)}: {message}")


def _castles_as_chess960(fen: str, board: Board) -> bool:
    """Whether a crazyhouse FEN comes from a start of the 960: it names its rooks' files, or its rights need them."""
    fields = fen.split()
    names_files = len(fields) > 2 and not set(fields[2]) <= set("KQkq-")
    return names_files or bool(board.status() & chess.STATUS_BAD_CASTLING_RIGHTS)


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


class Start(NamedTuple):
    """Where a game begins."""

    position: Position
    turn: chess.Color
    halfmoves: int
    fullmove: int


def start_of(options: GameOptions) -> Start:
    """The start that resolved options give."""
    return _start_of(options.variant, options.position, options.fen)


@lru_cache(4_096)
def _start_of(variant: Variant, number: int | None, fen: str) -> Start:
    board = _board_of(fen, variant) if number is None else _parse(fen, _family(variant, number))
    return Start(pack(board), board.turn, board.halfmove_clock, board.fullmove_number)


def is_usual_start(options: GameOptions) -> bool:
    """Whether a reader of the game's PGN needs no telling where and by what rules it began."""
    return options.variant == "standard" and options.fen == chess.STARTING_FEN
