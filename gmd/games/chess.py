"""Chess, Chess960 and crazyhouse: how their games begin, and their rules on top of python-chess's rules of a position.

A game takes little memory, so that a hundred thousand games fit: a position is a key (its facts are in the shared
cache), a move takes two bytes, and repetitions are counted since the last irreversible move only.
"""

from __future__ import annotations

from array import array
from collections.abc import Generator, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple

import chess
from chess import Board
from chess.variant import CrazyhouseBoard
from msgspec import structs

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import BadPgn, BadPosition, BadRequest, GmError, NotAvailable, quote
from gm_protocol.messages import ClockOption, DrawRule, GameOptions, NewGame
from gm_protocol.state import FIFTY_MOVES, THREEFOLD
from gmd.games.clock import check_clock
from gmd.games.commands import Absent, CallOff, Command, End, FirstContact, Flag, Join, Play, RunOut, Sense
from gmd.games.events import AnyEvent, Created, Ended, FirstContactMade, Joined, Loaded, Moved, Sensed
from gmd.games.facts import Facts, Played, Resolved, facts_of
from gmd.games.game import (
    GAME_BYTES,
    Accepted,
    Actions,
    Decision,
    Game,
    Snapshot,
    kept_text,
    move_shown_again,
    seat_name,
    shown_again,
    why_no_draw,
)
from gmd.games.line import Line
from gmd.games.moves import decode_move
from gmd.games.position import Family, Position, family_of, pack, pieces_of, unpack, white_of
from gmd.games.variant import Variant, check_status, names_rooks


def insufficient_material(position: Position) -> bool:
    """Return whether ``PROTOCOL``'s "automatic" rule draws a position for insufficient material.

    These are: bare kings; king and knight, or king and bishop, against king; king and bishop each, with the bishops on
    squares of one colour. Never in crazyhouse. (python-chess also counts any number of bishops on one colour.)
    """
    if family_of(position).drops:
        return False
    if pieces_of(position, chess.PAWN) or pieces_of(position, chess.ROOK) or pieces_of(position, chess.QUEEN):
        return False
    knights, bishops = pieces_of(position, chess.KNIGHT), pieces_of(position, chess.BISHOP)
    pieces = (knights | bishops).bit_count()
    if pieces < 2:
        return True
    one_each = pieces == 2 and not knights and (bishops & white_of(position)).bit_count() == 1
    return one_each and (not bishops & chess.BB_LIGHT_SQUARES or not bishops & chess.BB_DARK_SQUARES)


#: Bytes of a position with its count, and of a move with its text (measured; see ``tests/games/test_sizes.py``).
POSITION_BYTES, MOVE_BYTES = 180, 10

#: Moves of a PGN played between two yields: under a millisecond.
MOVES_A_STEP = 16
#: Moves of a PGN in one event: a game is restored from the log in steps of one event, here about a millisecond.
MOVES_AN_EVENT = 64


class Start(NamedTuple):
    """The start of a game: position, side to move and counters."""

    position: Position
    turn: chess.Color
    halfmoves: int
    fullmove: int


class ChessGame(Game):
    """A game of open information."""

    def __init__(self, created: Created, start: Start) -> None:
        """:param start: the start that its options ask for."""
        super().__init__(created)
        self.turn = self.start_turn = start.turn
        self.start_fullmove = start.fullmove
        self.movetext = ""
        #: Every move's two-byte code.
        self.codes = array("H")
        max_moves = created.options.max_moves
        longest = created.max_plies
        self._max_plies = min(longest, 2 * max_moves) if isinstance(max_moves, int) else longest
        #: Whether pieces are dropped: captured pieces then come back, so that a position can recur after a capture.
        self._drops = family_of(start.position).drops
        self._occurred: dict[Position, int] = {start.position: 1}
        self._latest: list[Accepted | None] = [None, None]
        self.now = Snapshot(start.position, 0, start.halfmoves, 1, 0, None, False, None)
        can_move = facts_of(start.position).can_move
        self._stand(structs.replace(self.now, ending=self._verdict(self.now, can_move)))

    @property
    def facts(self) -> Facts:
        """The facts of the position on the board."""
        return facts_of(self.now.position)

    @property
    def moves(self) -> list[str]:
        return [decode_move(code) for code in self.codes]

    def actions(self) -> Actions:
        return Actions(move=self.facts.actions)

    def pgn_text(self) -> str:
        return self.movetext

    def movetext_at(self, shown: Snapshot) -> str:
        return self.movetext[: shown.text_length]

    @property
    def estimated_bytes(self) -> int:
        return GAME_BYTES + POSITION_BYTES * len(self._occurred) + MOVE_BYTES * len(self.codes)

    def draws(self, shown: Snapshot) -> int:
        if (shown.halfmoves < 100 and shown.occurrences < 3) or shown.ending is not None:
            return 0
        return FIFTY_MOVES * (shown.halfmoves >= 100) | THREEFOLD * (shown.occurrences >= 3)

    def out_of_time(self, seat: chess.Color) -> Ending:
        """Return how the game ends if a seat's time is up now: with a draw if the opponent cannot mate (FIDE 6.9)."""
        if unpack(self.now.position).has_insufficient_material(not seat):
            return Ending(Cause.TIMEOUT_DRAW)
        return super().out_of_time(seat)

    # --- Deciding -----------------------------------------------------------------------------------------------

    def decide(self, command: Command, elapsed: float) -> Decision:
        if isinstance(command, Play):  # first, because nearly all are; a match allocates a set and a list
            return self._decide_play(command, elapsed)
        match command:
            case End():
                return self._decide_end(command, elapsed)
            case Join():
                return self.join(command)
            case FirstContact():
                return self.note_contact(command.seat)
            case Flag():
                return Decision(self.flag(elapsed))
            case Absent():
                return self.absent()
            case CallOff():
                return self.call_off(command)
            case RunOut():
                return self.run_out(command, elapsed)
            case Sense():
                message = f"kind: sense is for rbc only; in {self.options.variant} everything is shown"
                return self.refuse(command, elapsed) or Decision(refusal=NotAvailable(message))

    def _decide_play(self, command: Play, elapsed: float) -> Decision:
        if (shown := move_shown_again(self._latest[command.seat], command, _read_move)) is not None:
            return Decision(self.flag(elapsed), shown=shown)
        if (refused := self.refuse(command, elapsed)) is not None:
            return refused
        if command.seat != self.turn:
            return Decision(refusal=self.not_your_turn(command.seat))
        try:
            played = facts_of(self.now.position).play(command.text)
        except GmError as error:
            if self.options.illegal_move == "refuse":
                return Decision(refusal=error)
            return Decision([_forfeit(command, elapsed)])
        return Decision([Moved(played.uci, elapsed, command.offer_draw, command.claim_draw)], move=played)

    def _decide_end(self, command: End, elapsed: float) -> Decision:
        ending = command.ending
        if (shown := shown_again(self._latest[command.seat], command, ending.termination)) is not None:
            return Decision(self.flag(elapsed), shown=shown)
        if (refused := self.refuse(command, elapsed)) is not None:
            return refused
        if (refusal := self._refuse_draw(command)) is not None:
            return Decision(refusal=refusal)
        return Decision([Ended.of(ending, elapsed, seat=command.seat, asked=ending.termination)])

    def _refuse_draw(self, command: End) -> GmError | None:
        """Return the refusal of a draw that the seat cannot have now; None for every other end."""
        match command.cause:
            case Cause.RESIGNATION:
                return None
            case Cause.AGREEMENT:
                offered = self.now.draw_offered and command.seat == self.turn
                whose = seat_name(not command.seat)
                return None if offered else NotAvailable(f"termination: 'draw_agreed': {whose} has not offered a draw")
            case Cause.DRAW_CLAIM if command.seat != self.turn:
                return self.not_your_turn(command.seat)
            case Cause.DRAW_CLAIM:
                return None if self.draws(self.now) else self._no_draw(command.ending)

    def _no_draw(self, claimed: Ending) -> NotAvailable:
        return NotAvailable(f"termination: {claimed.termination!r}: no draw can be taken now: {why_no_draw(self.now)}")

    # --- Applying -----------------------------------------------------------------------------------------------

    def apply(self, event: AnyEvent, move: Resolved | None = None) -> None:
        if isinstance(event, Moved):  # first, as in decide
            self._apply_moved(event, move)
            return
        match event:
            case Ended():
                self._apply_ended(event)
            case Joined():
                self.seat(event)
            case FirstContactMade():
                self.contacted[event.side] = True
            case Loaded():
                line = Line(self.now.position)
                for text in event.moves:
                    self._push(line.play(text), draw_offered=False)
                self._end_load(line)
            case Created() | Sensed():
                raise ValueError(f"game {self.id}: no {event} can happen to it")

    def _apply_moved(self, event: Moved, move: Resolved | None) -> None:
        seat, before = self.turn, self.now
        played = move if isinstance(move, Played) else facts_of(before.position).play(event.move)
        if self.clock is not None:
            self.clock.charge(seat, event.seconds)
            self.clock.press(seat)
        offered, claimed = event.offer_draw, event.claim_draw
        self._push(played, offered, seat if claimed else None)
        self._latest[seat] = Accepted(Play, before.ply, event.move, before.position, self.now, offered, claimed)

    def _apply_ended(self, event: Ended) -> None:
        before, ending, seat = self.now, event.ending, event.side
        self.charge_ended(event)
        self._stand(structs.replace(before, ending=ending, draw_offered=False))
        if ending.called_off:
            self.called_off_by = seat
        if seat is not None and event.asked is not None:
            kind = Play if ending.cause is Cause.FORFEIT else End
            drawn = event.offer_draw, event.claim_draw
            self._latest[seat] = Accepted(kind, before.ply, event.asked, before.position, self.now, *drawn)

    def load(self, moves: Sequence[str]) -> Generator[None, None, list[Loaded]]:
        """Play the moves of a PGN in a new game, yielding after every few; return the events, already applied.

        :raises BadPgn: one of them is not legal.
        """
        line = Line(self.now.position)
        events: list[Loaded] = []
        for first in range(0, len(moves), MOVES_AN_EVENT):
            events.append(Loaded([]))
            for text in moves[first : first + MOVES_AN_EVENT]:
                try:
                    played = line.play(text)
                except GmError as error:
                    number = f"{self.fullmove_at(self.now.ply)}{'.' if self.turn else '...'}"
                    raise BadPgn(f"pgn: at {number} (ply {self.now.ply}): {error}") from None
                self._push(played, draw_offered=False)
                events[-1].moves.append(played.uci)
                if self.now.ply % MOVES_A_STEP == 0:
                    yield
        self._end_load(line)
        return events

    def _end_load(self, line: Line) -> None:
        """Find out whether the last of some loaded moves ends the game: no move after it shows that it does not."""
        self.loaded = self.now.ply
        self._stand(structs.replace(self.now, ending=self._verdict(self.now, line.can_move())))

    def _push(self, played: Played, draw_offered: bool, claimant: chess.Color | None = None) -> None:
        """:param claimant: the side to move, if it takes a draw that the position after the move allows."""
        before = self.now
        self._write(played.san)
        self.codes.append(played.code)
        if played.zeroing and not self._drops:
            self._occurred.clear()
        occurrences = self._occurred[played.position] = self._occurred.get(played.position, 0) + 1
        after = Snapshot(
            played.position,
            before.ply + 1,
            0 if played.zeroing else before.halfmoves + 1,
            occurrences,
            len(self.movetext),
            played.uci,
            draw_offered,
            None,
        )
        ending = self._verdict(after, played.goes_on, claimant)
        if ending is not None:
            after = structs.replace(after, ending=ending, draw_offered=False)
        self._stand(after)
        self.turn = not self.turn

    def _stand(self, now: Snapshot) -> None:
        self.now = now
        self.over = now.ending is not None

    def _write(self, san: str) -> None:
        ply = self.now.ply
        if not self.turn and ply:
            self.movetext += f" {san}"
        else:
            dots = "." if self.turn else "..."
            self.movetext += f"{' ' if ply else ''}{self.fullmove_at(ply)}{dots}{san}"

    def _verdict(self, after: Snapshot, can_move: bool, claimant: chess.Color | None = None) -> Ending | None:
        """Return how the position and the draw rules end the game; None if it goes on.

        :param can_move: whether the side to move has a legal move.
        :param claimant: the side that takes a draw if there is one; None for none.
        """
        if not can_move:
            facts = facts_of(after.position)
            if facts.check:
                return Ending(Cause.CHECKMATE, winner=not facts.turn)
            return Ending(Cause.STALEMATE)
        if self.options.draws == "automatic":
            if after.occurrences >= 3:
                return Ending(Cause.THREEFOLD_REPETITION)
            if after.halfmoves >= 100:
                return Ending(Cause.FIFTY_MOVES)
            if insufficient_material(after.position):
                return Ending(Cause.INSUFFICIENT_MATERIAL)
        if claimant is not None and self.draws(after):
            return Ending(Cause.DRAW_CLAIM, claimant=claimant)
        return Ending(Cause.MOVE_LIMIT) if after.ply >= self._max_plies else None


def _forfeit(command: Play, elapsed: float) -> Ended:
    """Return the end of a game in which an illegal move loses."""
    ending = Ending(Cause.FORFEIT, winner=not command.seat)
    asked = kept_text(command.text)
    drawn = {"offer_draw": command.offer_draw, "claim_draw": command.claim_draw}
    return Ended.of(ending, elapsed, seat=command.seat, asked=asked, **drawn)


def _read_move(position: Position, text: str) -> str:
    """Return the move that a text means in a position, in UCI; raise a :class:`GmError` if it is not legal."""
    return facts_of(position).play(text).uci


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
        fitting = self._without_misfits(header)
        normal = self.read(fitting).fen()
        if request.fen is not None and self.read(request.fen).fen() != normal:
            raise BadRequest(f"fen: {quote(request.fen)} contradicts the PGN's FEN header {quote(header)}")
        if given and request.fen is None:
            value = quote(getattr(request, given[0]))
            raise BadRequest(
                f"{given[0]}: {value} contradicts the PGN's FEN header, which gives the start position; leave it out"
            )
        return fitting

    def _without_misfits(self, fen: str) -> str:
        """Return the FEN of a PGN without castling rights and an en passant square that do not fit its pieces.

        :raises BadPosition: it does not parse.
        """
        board = _parse(fen, self.family_in(fen))
        board.castling_rights = board.clean_castling_rights()
        if board.status() & chess.STATUS_INVALID_EP_SQUARE:
            board.ep_square = None
        return board.fen(shredder=board.chess960, en_passant="fen")

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
    pgn_aliases = frozenset(
        {"chess", "classical", "normal", "illegal", "from position", "wild/8a", *(f"wild/{n}" for n in range(9))}
    )
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
    pgn_aliases = frozenset({"crazy house", "crazyhouse960", "house", "zh"})
    family = Family.CRAZYHOUSE
    drops = True

    def family_of(self, number: int | None) -> Family:
        return Family.CRAZYHOUSE if number in (None, CLASSICAL) else Family.CRAZYHOUSE960

    def family_in(self, fen: str) -> Family:
        only_960 = _parse(fen, Family.CRAZYHOUSE).has_chess960_castling_rights()
        return Family.CRAZYHOUSE960 if only_960 or names_rooks(fen) else Family.CRAZYHOUSE


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
