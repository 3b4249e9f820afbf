"""Games that hide something from their players while in progress, and what a seat sees of them.

:mod:`gmd.games.views` decides what each viewer is shown; a game here says what its own seats may be shown. The view of
a seat that knows only its own pieces is computed from these alone, so that it cannot reveal anything else.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import cast

import chess
from chess import BB_SQUARES, Bitboard, Board, Square
from msgspec import Raw, Struct

from gm_protocol.endings import Cause
from gm_protocol.errors import NotAvailable
from gm_protocol.state import AccessMap, BoardRows
from gmd.games.commands import Absent, CallOff, Command, End, FirstContact, Flag, Join, Play, RunOut, Sense
from gmd.games.events import AnyEvent, Created, Ended, FirstContactMade, Joined, Loaded, Moved, Sensed
from gmd.games.facts import PAIRS, Facts, Resolved, access_json_of, castling, fen_of, placement
from gmd.games.game import Decision, Game, Snapshot
from gmd.games.position import Position, contents, only, unpack


class Seen(Struct, frozen=True, gc=False):
    """A seat's view of a position, computed only from what it sees."""

    #: FEN's first, third and fourth field.
    placement: str
    castling: str
    passant: str
    #: ``castling`` as the wire's bits.
    castles: int
    #: The wire's ``board`` and ``access_map``, as the JSON they become.
    board: BoardRows
    access_map: AccessMap


class SeatViews:
    """A cache of the last view of each seat of one game: a seat asks more often than its view changes.

    It belongs to one game. In a cache shared by games, a view that another game has shown would be answered sooner, and
    a player could find out opponents' positions by timing requests.
    """

    __slots__ = ("_kept", "_redact", "_show")

    def __init__(self, redact: Callable[[Position, chess.Color], Position], show: Callable[[Position], Seen]) -> None:
        """:param redact: returns what a seat sees of a true position, as a position that holds nothing else.
        :param show: returns the view of such a position.
        """
        self._redact, self._show = redact, show
        self._kept: list[tuple[Position, Seen] | None] = [None, None]

    def of(self, position: Position, seat: chess.Color) -> Seen:
        """Return what a seat sees of a true position."""
        redacted, kept = self._redact(position, seat), self._kept[seat]
        if kept is None or kept[0] != redacted:
            kept = self._kept[seat] = redacted, self._show(redacted)
        return kept[1]

    def forget(self) -> None:
        """Drop both seats' views."""
        self._kept = [None, None]


class HiddenGame(Game):
    """A game in which a player does not see everything."""

    open = False

    @abstractmethod
    def decide_play(self, command: Play, elapsed: float) -> Decision:
        """Decide :class:`~gmd.games.commands.Play`."""

    def decide_sense(self, command: Sense, elapsed: float) -> Decision:
        """Decide :class:`~gmd.games.commands.Sense`."""
        message = f"kind: sense is for rbc only, not for {self.options.variant}"
        return self.refuse(command, elapsed) or Decision(refusal=NotAvailable(message))

    @abstractmethod
    def shown_again(self, command: End) -> Snapshot | None:
        """Return what a seat is shown again if a command repeats its accepted ending; None if it does not."""

    @abstractmethod
    def apply_moved(self, event: Moved, move: Resolved | None) -> None:
        """Apply :class:`~gmd.games.events.Moved`."""

    def apply_sensed(self, event: Sensed) -> None:
        """Apply :class:`~gmd.games.events.Sensed`."""
        raise ValueError(f"game {self.id}: no {event} can happen to it")

    @abstractmethod
    def apply_ended(self, event: Ended) -> None:
        """Apply :class:`~gmd.games.events.Ended`."""

    def decide(self, command: Command, elapsed: float) -> Decision:
        match command:
            case Sense():
                return self.decide_sense(command, elapsed)
            case Play():
                return self.decide_play(command, elapsed)
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

    def _decide_end(self, command: End, elapsed: float) -> Decision:
        """Decide a resignation. There are no draw offers: they would be signals between players."""
        if (shown := self.shown_again(command)) is not None:
            return Decision(self.flag(elapsed), shown=shown)
        if (refused := self.refuse(command, elapsed)) is not None:
            return refused
        word = command.ending.termination
        if command.cause is not Cause.RESIGNATION:
            variant = self.options.variant
            message = f"termination: {word!r}: {variant} has no draws to take or to agree on"
            return Decision(refusal=NotAvailable(message))
        return Decision([Ended.of(command.ending, elapsed, seat=command.seat, asked=word)])

    def apply(self, event: AnyEvent, move: Resolved | None = None) -> None:
        match event:
            case Sensed():
                self.apply_sensed(event)
            case Moved():
                self.apply_moved(event, move)
            case Ended():
                self.apply_ended(event)
            case Joined():
                self.seat(event)
            case FirstContactMade():
                self.contacted[event.side] = True
            case Created() | Loaded():
                raise ValueError(f"game {self.id}: no {event} can happen to it")

    @abstractmethod
    def seen_by(self, shown: Snapshot, seat: chess.Color | None) -> Seen:
        """Return what a seat sees of the board at a moment; nothing without a seat."""

    @abstractmethod
    def facts_at(self, shown: Snapshot) -> Facts:
        """Return the facts of the true position at a moment, which are never shared with other games."""


#: By colour: the step of a pawn, and the rank from which it may step twice.
_STEPS = (-8, 8)
_HOMES = (chess.BB_RANK_7, chess.BB_RANK_2)


def show_own(position: Position) -> Seen:
    """Return the view of a viewer who knows only these pieces.

    :param position: a position without the other side's pieces.
    """
    board = unpack(position)
    placed = placement(contents(board, board.occupied))
    rights, castles = castling(
        board.castling_rights, board.kings & chess.BB_RANK_1, board.kings & chess.BB_RANK_8, board.chess960
    )
    return Seen(
        placement=fen_of(placed),
        castling=rights,
        passant="-",
        castles=castles,
        board=cast(BoardRows, Raw(placed.json)),
        access_map=cast(AccessMap, Raw(_access_json(board))),
    )


def _access_json(board: Board) -> str:
    """Return, for each square, the pieces that may request to move there, as the wire's ``access_map``."""
    sources: list[list[str]] = [[] for _ in chess.SQUARES]
    for square in chess.scan_forward(board.occupied):
        pair, targets = PAIRS[square], _targets(board, square)
        while targets:
            target = targets.bit_length() - 1
            targets ^= BB_SQUARES[target]
            sources[target].append(pair)
    return access_json_of(map(",".join, sources))


def _targets(board: Board, square: Square) -> Bitboard:
    """Return the targets that a piece may request: any square without an own piece may hold one of the other side's."""
    own = board.occupied
    targets = board.attacks_mask(square) & ~own
    if board.pawns & BB_SQUARES[square]:
        step = _STEPS[board.turn]
        if not own & BB_SQUARES[square + step]:
            targets |= BB_SQUARES[square + step]
            if BB_SQUARES[square] & _HOMES[board.turn] and not own & BB_SQUARES[square + 2 * step]:
                targets |= BB_SQUARES[square + 2 * step]
    return targets


#: The view of a viewer who knows no piece.
NO_PIECES = show_own(only(bytes(75), chess.WHITE))
