"""Games that hide something from their players while in progress, and what a seat sees of them.

:mod:`gmd.games.views` decides what each viewer is shown; a game here says what its own seats may be shown.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import chess
from msgspec import Struct

from gm_protocol.endings import Cause
from gm_protocol.errors import NotAvailable
from gm_protocol.state import AccessMap, BoardRows, Phase

from .commands import Absent, CallOff, Command, End, FirstContact, Flag, Join, Play, RunOut, Sense
from .events import AnyEvent, Created, Ended, FirstContactMade, Joined, Loaded, Moved, Sensed
from .facts import Facts
from .game import Decision, Game, Snapshot
from .position import Position


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
    def apply_moved(self, event: Moved) -> None:
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

    def apply(self, event: AnyEvent) -> None:
        match event:
            case Sensed():
                self.apply_sensed(event)
            case Moved():
                self.apply_moved(event)
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

    @abstractmethod
    def own_fields(self, shown: Snapshot, seat: chess.Color | None, seen: Seen | None) -> tuple[object, ...]:
        """Return, for a seat, the fields of a state that not every variant has.

        They are the last fields of :class:`~gm_protocol.state.GameState` in their order, from ``opponent_capture`` on;
        fields after the returned ones are left out.

        :param seen: what :meth:`seen_by` returned; None if everything is shown.
        """

    def phase_at(self, shown: Snapshot) -> Phase:
        """Return the phase of the side to move at a moment."""
        return "move" if shown.ending is None else "over"
