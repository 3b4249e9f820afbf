"""Dark chess (``dark_chess``), or Fog of War: a player sees its own pieces and the squares that they can move to.

The rules, and what a player sees, are those of OpenSpiel's ``dark_chess``, which ``PROTOCOL`` sums up: there is no
check, the capture of a king wins, and a third repetition or fifty moves draw automatically.

Everything that a seat is shown is computed from :func:`~gmd.games.dark.seen_part`, a position that holds nothing
else, and its moves are read on such a position. What is done on the true position takes the same steps whatever it
hides from the side that asks, so that the time of a request does not reveal it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import cast

import chess
from chess import BB_SQUARES, BLACK, WHITE, Bitboard, Board, Color, Move
from msgspec import UNSET, Raw, structs

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import AmbiguousMove, BadPosition, BadRequest, GmError, IllegalMove, NotAvailable, quote
from gm_protocol.messages import ClockOption, GameOptions, NewGame
from gm_protocol.state import AccessMap, BoardRows
from gm_recon.pgn import ReconRules
from gmd.games.clock import check_clock
from gmd.games.commands import End, Play
from gmd.games.events import Created, Ended, Moved
from gmd.games.facts import PAIRS, Facts, Resolved, access_json_of, castling, fen_of, hidden_facts, placement
from gmd.games.game import GAME_BYTES, Accepted, Actions, Decision, Snapshot, move_shown_again, shown_again
from gmd.games.hidden import HiddenGame, SeatViews, Seen
from gmd.games.notation import run_through
from gmd.games.position import TURN_OFFSET, Position, contents, pack, pack_unchecked, unpack
from gmd.games.variant import Variant, check_status

#: The last byte of a key without an en passant square.
_NO_PASSING = pack_unchecked(Board(None))[-1:]

_KNIGHT_STEPS = [
    (first, second)
    for first, seconds in (
        (chess.shift_2_up, (chess.shift_left, chess.shift_right)),
        (chess.shift_2_down, (chess.shift_left, chess.shift_right)),
        (chess.shift_2_left, (chess.shift_up, chess.shift_down)),
        (chess.shift_2_right, (chess.shift_up, chess.shift_down)),
    )
    for second in seconds
]
_ROOK_STEPS = [chess.shift_up, chess.shift_down, chess.shift_left, chess.shift_right]
_BISHOP_STEPS = [chess.shift_up_left, chess.shift_up_right, chess.shift_down_left, chess.shift_down_right]


class DarkBoard(ReconRules):
    """A board without check: every pseudo-legal move may be made, and so may castling out of or through an attack."""

    def has_insufficient_material(self, color: Color) -> bool:
        return False  # a king alone may capture a king


class TrueBoard(DarkBoard):
    """The board of a game: its castling rights were checked at the start, and moves keep them clean."""

    def clean_castling_rights(self) -> Bitboard:
        return self.castling_rights


class _SeenBoard(DarkBoard):
    """The part of a board that the side to move sees, with every unseen square occupied by nothing."""

    def is_variant_end(self) -> bool:
        return False  # an unseen king is not a captured one


def can_move(board: Board) -> bool:
    """Return whether the side to move has a pseudo-legal move, in the same steps for every position.

    A piece that moves along a line has a move if it has one by a single step; so has a king that may castle.
    """
    own, pawns = board.occupied_co[board.turn], board.pawns & board.occupied_co[board.turn]
    straight, diagonal = own & (board.rooks | board.queens), own & (board.bishops | board.queens)
    kings, knights = own & board.kings, own & board.knights
    targets = 0
    for step in _ROOK_STEPS:
        targets |= step(straight | kings)
    for step in _BISHOP_STEPS:
        targets |= step(diagonal | kings)
    for first, second in _KNIGHT_STEPS:
        targets |= second(first(knights))
    targets &= ~own
    passing = chess.BB_EMPTY if board.ep_square is None else BB_SQUARES[board.ep_square]
    forward = chess.shift_up(pawns) if board.turn else chess.shift_down(pawns)
    captures = chess.shift_left(forward) | chess.shift_right(forward)
    targets |= forward & ~board.occupied | captures & (board.occupied ^ own | passing)
    return targets != 0


def pack_passing(board: Board) -> Position:
    """Return the key of a board's position, in the same steps whether or not a pawn may capture en passant.

    :func:`~gmd.games.position.pack` searches: a player's own double step would take longer beside an enemy pawn that it
    does not see.

    :param board: standard chess; its en passant square is empty, as it is after any move.
    """
    key = pack_unchecked(board)
    if board.ep_square is None:
        return key
    capturers = board.pawns & board.occupied_co[board.turn] & chess.BB_PAWN_ATTACKS[not board.turn][board.ep_square]
    return (key[:-1] + _NO_PASSING, key)[capturers != 0]


def targets_of(board: Board, color: Color, pieces: Bitboard) -> Bitboard:
    """Return the squares that some of a side's pieces could move to in its turn, without castling and en passant.

    They include the squares of the side's own pieces that these guard.
    """
    occupied, pawns = board.occupied, board.pawns & pieces
    targets = 0
    for square in chess.scan_forward(pieces ^ pawns):
        targets |= board.attacks_mask(square)
    for square in chess.scan_forward(pawns):
        targets |= board.attacks_mask(square) & board.occupied_co[not color]
    forward = chess.shift_up if color else chess.shift_down
    steps = forward(pawns) & ~occupied
    crossed = chess.BB_RANK_3 if color else chess.BB_RANK_6
    return targets | steps | forward(steps & crossed) & ~occupied


def _passers(board: Board, color: Color) -> Bitboard:
    """Return the pawns of a side that may capture en passant."""
    if board.turn != color or board.ep_square is None:  # in this order: the side not to move may not know the square
        return chess.BB_EMPTY
    return board.pawns & board.occupied_co[color] & chess.BB_PAWN_ATTACKS[not color][board.ep_square]


def visible_squares(board: Board, color: Color) -> Bitboard:
    """Return the squares that a side sees: its own pieces, their targets, and a pawn it may capture en passant.

    The side need not be the side to move.
    """
    own = board.occupied_co[color]
    visible = own | targets_of(board, color, own)
    if _passers(board, color) and board.ep_square is not None:
        visible |= BB_SQUARES[board.ep_square] | BB_SQUARES[board.ep_square + (-8 if color else 8)]
    return visible


def _redacted(position: Position, seat: Color) -> tuple[Board, Bitboard]:
    """Return a board with only what a seat sees of a true position, and the visible squares.

    The steps depend on the seat's own pieces alone.
    """
    board = unpack(position)
    visible = visible_squares(board, seat)
    board.pawns &= visible
    board.knights &= visible
    board.bishops &= visible
    board.rooks &= visible
    board.queens &= visible
    board.kings &= visible
    board.occupied_co[WHITE] &= visible
    board.occupied_co[BLACK] &= visible
    board.castling_rights &= chess.BB_RANK_1 if seat else chess.BB_RANK_8
    if not _passers(board, seat):
        board.ep_square = None
    board.turn = seat
    return board, visible


def seen_part(position: Position, seat: Color) -> Position:
    """Return what a seat sees of a true position: a position that holds only that, followed by the visible squares."""
    board, visible = _redacted(position, seat)
    return pack_unchecked(board) + visible.to_bytes(8, "little")


def seen_board(position: Position, seat: Color) -> DarkBoard:
    """Return a board with only what a seat sees of a true position, on which its moves are those of the true one."""
    seen, visible = _redacted(position, seat)
    board = _SeenBoard(None)
    board.pawns, board.knights, board.bishops = seen.pawns, seen.knights, seen.bishops
    board.rooks, board.queens, board.kings = seen.rooks, seen.queens, seen.kings
    board.occupied_co = seen.occupied_co
    board.occupied = seen.occupied_co[WHITE] | seen.occupied_co[BLACK] | unseen(visible)
    board.castling_rights, board.turn, board.ep_square = seen.castling_rights, seat, seen.ep_square
    return board


def unseen(visible: Bitboard) -> Bitboard:
    """Return the other squares, to be blocked: a pawn does not see the one before it only if that is occupied."""
    return chess.BB_ALL ^ visible


def sources_of(board: Board, color: Color) -> list[Bitboard]:
    """Return, for each square, the pieces of a side that can move there; en passant counts for the side to move."""
    own, sources = board.occupied_co[color], [chess.BB_EMPTY] * 64
    for source in chess.scan_forward(own):
        bit = BB_SQUARES[source]
        for target in chess.scan_forward(targets_of(board, color, bit) & ~own):
            sources[target] |= bit
    if color == board.turn and board.ep_square is not None:
        sources[board.ep_square] |= _passers(board, color)
    return sources


#: Bytes of a position with its count, and of a move.
POSITION_BYTES, MOVE_BYTES = 180, 60
#: A game is drawn at this many occurrences of a position, or half-moves without a capture or pawn move.
REPETITIONS, REVERSIBLE_MOVES = 3, 100
#: Positions are remembered for this many plies at least: more than a game can go on without an irreversible move.
REMEMBERED_PLIES = 128
#: Moves written as SAN between two yields.
MOVES_A_STEP = 32

#: Fields of ``new_game`` that do not apply to dark chess.
_NOT_FOR_DARK = ("position", "seed", "illegal_move", "reversible_moves", "max_turns")


class DarkView(Seen, frozen=True, gc=False):
    """A seat's view of a position, with the names of the visible squares."""

    visible: list[str]


def show_part(part: Position) -> DarkView:
    """Return the view of a position and squares from :func:`seen_part`."""
    board, visible = unpack(part), int.from_bytes(part[-8:], "little")
    placed = placement(contents(board, board.occupied))
    kings, white = board.kings, board.occupied_co[WHITE]
    rights, castles = castling(board.castling_rights, kings & white, kings & ~white, False)
    board.occupied |= unseen(visible)
    return DarkView(
        placement=fen_of(placed),
        castling=rights,
        passant="-" if board.ep_square is None else chess.SQUARE_NAMES[board.ep_square],
        castles=castles,
        board=cast(BoardRows, Raw(placed.json)),
        access_map=_access_map(sources_of(board, board.turn)),
        visible=[chess.SQUARE_NAMES[square] for square in chess.scan_forward(visible)],
    )


def _access_map(sources: list[Bitboard]) -> AccessMap:
    lists = (",".join(PAIRS[source] for source in chess.scan_forward(squares)) for squares in sources)
    return cast(AccessMap, Raw(access_json_of(lists)))


#: The view of a viewer without a seat.
NOTHING = show_part(pack_unchecked(Board(None)) + bytes(8))


class DarkGame(HiddenGame):
    """A game of dark chess."""

    def __init__(self, created: Created) -> None:
        super().__init__(created)
        options = self.options
        self._board = TrueBoard(options.fen)
        self.turn = self.start_turn = self._board.turn
        self.start_fullmove = self._board.fullmove_number
        self._moves: list[str] = []
        self._text = (0, "")
        self._max_plies = created.max_plies
        if isinstance(options.max_moves, int):
            self._max_plies = min(self._max_plies, 2 * options.max_moves)
        #: The cache of what its seats were shown; other games do not share it.
        self.seat_views = SeatViews(seen_part, show_part)
        self._facts: tuple[Position, Facts] | None = None
        self._latest: list[Accepted | None] = [None, None]
        #: How often each position has occurred lately, and in the plies before. They are forgotten by the ply, not
        #: after an irreversible move: how many there are to forget would depend on the opponent's hidden moves.
        self._occurred: dict[Position, int] = {}
        self._occurred_before: dict[Position, int] = {}
        self._stand(None)

    # --- Showing ------------------------------------------------------------------------------------------------------

    @property
    def moves(self) -> list[str]:
        return self._moves.copy()

    @property
    def movetext(self) -> str:  # type: ignore[override]  # nothing sets it
        if self._text[0] != len(self._moves):
            self._text = len(self._moves), run_through(self.pgn_text())
        return self._text[1]

    def pgn_text(self) -> Generator[None, None, str]:
        board = DarkBoard(self.options.fen)
        words: list[str] = []
        for ply, uci in enumerate(list(self._moves), 1):
            number = f"{board.fullmove_number}." if board.turn else "" if words else f"{board.fullmove_number}..."
            words.append(number + board.san_and_push(Move.from_uci(uci)))
            if not ply % MOVES_A_STEP:
                yield
        return " ".join(words)

    def actions(self) -> Actions:
        return Actions(move=[move.uci() for move in seen_board(self.now.position, self.turn).legal_moves])

    def seen_by(self, shown: Snapshot, seat: Color | None) -> Seen:
        return NOTHING if seat is None else self.seat_views.of(shown.position, seat)

    def own_fields(self, shown: Snapshot, seat: Color | None, seen: object) -> tuple[object, ...]:
        return UNSET, UNSET, UNSET, seen.visible if isinstance(seen, DarkView) else None

    def facts_at(self, shown: Snapshot) -> Facts:
        if self._facts is None or self._facts[0] != shown.position:
            self._facts = shown.position, _facts_of(shown.position)
        return self._facts[1]

    @property
    def estimated_bytes(self) -> int:
        return (
            GAME_BYTES
            + POSITION_BYTES * min(len(self._moves) + 1, 2 * REMEMBERED_PLIES)
            + MOVE_BYTES * len(self._moves)
        )

    # --- Deciding -----------------------------------------------------------------------------------------------------

    def decide_play(self, command: Play, elapsed: float) -> Decision:
        if (shown := move_shown_again(self._latest[command.seat], command, _read_uci)) is not None:
            return Decision(self.flag(elapsed), shown=shown)
        if (refused := self.refuse(command, elapsed)) is not None:
            return refused
        if command.seat != self.turn:
            return Decision(refusal=self.not_your_turn(command.seat))
        if command.offer_draw:
            return Decision(refusal=NotAvailable(f"offer_draw: {self.options.variant} has no draw offers"))
        if command.claim_draw:
            return Decision(refusal=NotAvailable(f"claim_draw: {self.options.variant} has no draws to take"))
        try:
            move = read_move(seen_board(self.now.position, self.turn), command.text)
        except GmError as refusal:
            return Decision(refusal=refusal)
        return Decision([Moved(move.uci(), elapsed)], move=move)

    def shown_again(self, command: End) -> Snapshot | None:
        return shown_again(self._latest[command.seat], command, command.ending.termination)

    # --- Applying -----------------------------------------------------------------------------------------------------

    def apply_moved(self, event: Moved, move: Resolved | None) -> None:
        seat, before, board = self.turn, self.now, self._board
        if self.clock is not None:
            self.clock.charge(seat, event.seconds)
            self.clock.press(seat)
        board.push(move if isinstance(move, Move) else Move.from_uci(event.move))
        board.clear_stack()
        board.promoted = chess.BB_EMPTY  # or python-chess would not count a king on a promoted piece's square
        self._moves.append(event.move)
        self.turn = board.turn
        self._stand(event.move)
        self._latest[seat] = Accepted(Play, before.ply, event.move, before.position, self.now)

    def apply_ended(self, event: Ended) -> None:
        before, ending, seat = self.now, event.ending, event.side
        self.charge_ended(event)
        if ending.called_off:
            self.called_off_by = seat
        self._end(structs.replace(before, ending=ending))
        if seat is not None and event.asked is not None:
            self._latest[seat] = Accepted(End, before.ply, event.asked, before.position, self.now)

    def _stand(self, last_move: str | None) -> None:
        """Set the present to the position on the board, which may end the game."""
        board, position = self._board, pack_passing(self._board)
        if not len(self._moves) % REMEMBERED_PLIES:
            self._occurred_before, self._occurred = self._occurred, {}
        now = self._occurred[position] = self._occurred.get(position, 0) + 1
        occurrences = now + self._occurred_before.get(position, 0)
        shown = Snapshot(
            position=position,
            ply=len(self._moves),
            halfmoves=board.halfmove_clock,
            occurrences=occurrences,
            text_length=0,
            last_move=last_move,
            draw_offered=False,
            ending=None,
        )
        self._end(structs.replace(shown, ending=self._verdict(shown)))

    def _end(self, now: Snapshot) -> None:
        self.now = now
        self.over = now.ending is not None
        if self.over:
            self.seat_views.forget()

    def _verdict(self, shown: Snapshot) -> Ending | None:
        """Return how the position ends the game, checked in OpenSpiel's order; None if it goes on."""
        board = self._board
        if board.king(WHITE) is None or board.king(BLACK) is None:
            return Ending(Cause.KING_CAPTURE, winner=board.king(WHITE) is not None)
        if shown.occurrences >= REPETITIONS:
            return Ending(Cause.THREEFOLD_REPETITION)
        if not can_move(board):
            return Ending(Cause.STALEMATE)
        if shown.halfmoves >= REVERSIBLE_MOVES:
            return Ending(Cause.FIFTY_MOVES)
        return Ending(Cause.MOVE_LIMIT) if shown.ply >= self._max_plies else None


def _board_of(position: Position) -> DarkBoard:
    return DarkBoard(unpack(position).fen(en_passant="fen"))


def _facts_of(position: Position) -> Facts:
    """Return the facts of a true position, with the access map of dark chess."""
    board = _board_of(position)
    facts = hidden_facts(pack(board))
    white, black = sources_of(board, WHITE), sources_of(board, BLACK)
    facts.access_map = _access_map([one | other for one, other in zip(white, black, strict=True)])
    return facts


def read_move(board: DarkBoard, text: str) -> Move:
    """Return the move given in UCI or SAN. The move and the refusals depend only on what its player sees.

    :param board: what the player sees (:func:`seen_board`).
    :raises IllegalMove: the text is not a move that may be made.
    :raises AmbiguousMove: the text fits several moves.
    """
    try:
        try:
            move = board.parse_uci(text)
        except chess.InvalidMoveError:
            move = board.parse_san(text)
    except chess.AmbiguousMoveError:
        message = f"move: {quote(text)} could be several moves: name the file or rank the piece comes from"
        raise AmbiguousMove(message) from None
    except ValueError:
        move = Move.null()
    if not move:
        raise IllegalMove(f"move: {quote(text)} is not among {chess.COLOR_NAMES[board.turn]}'s move_actions")
    return move


def _read_uci(position: Position, text: str) -> str:
    return read_move(seen_board(position, bool(position[TURN_OFFSET])), text).uci()


class DarkVariant(Variant):
    """Dark chess, or Fog of War."""

    name = "dark_chess"
    title = "dark chess"
    heading = abbreviation = "Dark chess"
    pgn_name = "Dark chess"
    pgn_aliases = frozenset({"dark_chess", "fog of war", "fogofwar"})
    board_type = DarkBoard
    pgn_is_common = False
    loads_moves = False
    victory = Cause.KING_CAPTURE
    hides = True

    def resolve(self, request: NewGame, headers: Mapping[str, str], drawn: int, *, strict: bool) -> GameOptions:
        self.refuse_pgn(request)
        self.refuse(request, _NOT_FOR_DARK)
        if request.draws == "claimed":
            raise BadRequest(f"draws: 'claimed' does not apply to {self.name}; its draws are automatic")
        return GameOptions(
            variant=self.name,
            fen=_start_fen(request.fen or chess.STARTING_FEN),
            draws="automatic",
            max_moves=request.max_moves,
            clock=check_clock(request.clock) if isinstance(request.clock, ClockOption | str) else None,
        )

    def make_game(self, created: Created) -> DarkGame:
        return DarkGame(created)


def _start_fen(fen: str) -> str:
    """Return a FEN as games store it.

    :raises BadPosition: it does not parse, or no game can begin with it.
    """
    try:
        board = DarkBoard(fen)
    except (ValueError, IndexError) as error:
        raise BadPosition(f"fen: {quote(fen)} cannot be read: {str(error)[:120]}") from None
    check_status(fen, board, "dark_chess")
    pack(board)  # removes an en passant square from the board where no legal capture exists
    return board.fen()


DARK = DarkVariant()
