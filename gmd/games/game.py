"""What every game is: a fold over its events, and a judge of commands.

``decide`` says what a command would do, as events, without doing it; ``apply`` does what an event says, and is the
only way a game changes. Neither reads a clock: ``thought`` is how long, in seconds, the clock of the side to move has
been running (0 where it is not).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from math import inf
from typing import ClassVar, NamedTuple

import chess
from chess import BLACK, WHITE
from msgspec import Struct

from gm_protocol.endings import ON, Cause, Ending, termination_of
from gm_protocol.errors import BadPgn, BadRequest, GameIsOver, GmError, NotAPlayer, NotAvailable, NotYourTurn, Stale
from gm_protocol.state import COLOR_NAMES, Color, Termination

from .clock import Clock
from .commands import CallOff, Command, End, Join, Play, RunOut, Sense, is_resignation
from .events import AnyEvent, Created, Ended, FirstContactMade, Joined, Loaded
from .facts import Resolved
from .knowledge import Actions, SeatKnowledge
from .position import Position


class Snapshot(Struct, frozen=True, gc=False):
    """A game at one moment, without its clocks: what a reply shows, and what a retried request is shown again."""

    position: Position
    ply: int
    #: Half-moves since the last capture or pawn move.
    halfmoves: int
    #: How often this position has occurred, this time included.
    occurrences: int
    #: How much of the game's movetext belongs to it.
    text_length: int
    last_move: str | None
    draw_offered: bool
    #: How the game ended; None while it is on.
    ending: Ending | None


class Decision(Struct, frozen=True, gc=False):
    """What a command comes to: events to append (maybe none), and a state to show or a refusal.

    A move made after the flag fell has both events and a refusal.
    """

    events: Sequence[AnyEvent] = ()
    #: The state to show; None for the state after the events.
    shown: Snapshot | None = None
    refusal: GmError | None = None
    move: Resolved | None = None  #: the move that was decided, as the game has resolved it, for :meth:`Game.apply`


class Seating(NamedTuple):
    """Who the seats of a game are for, and who has taken theirs."""

    white: int | None
    black: int | None
    white_taken: bool
    black_taken: bool

    @property
    def complete(self) -> bool:
        """Whether both seats are taken."""
        return self.white_taken and self.black_taken


class GameSummary(Struct, frozen=True, array_like=True, gc=False):
    """How a game stands: all of a listing's row that changes, and what its clock is to be wound to.

    It is a row of the log, which has words for the side to move and the termination.
    """

    turn: Color
    ply_index: int
    termination: Termination
    #: How long the side to move may think at the start of its turn, and not lose; None while no clock runs.
    seconds_left: float | None
    #: Only for a game that began with a seat not taken.
    seating: Seating | None = None

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.termination != ON


#: Bytes that any game takes, with what is kept beside it.
GAME_BYTES = 4_000


def seat_name(seat: chess.Color) -> Color:
    """The wire's word for a side."""
    return COLOR_NAMES[seat]


class Game(ABC):
    """A game of any variant.

    :cvar open: whether everybody may see everything.
    :cvar moves_are_requests: whether a move may come to another, or to none, which the reply says; and may be passed.
    """

    open: ClassVar[bool] = True
    moves_are_requests: ClassVar[bool] = False

    def __init__(self, created: Created) -> None:
        self.created = created
        #: Given when the game is taken into the log.
        self.id = 0
        self.options = created.options
        #: Who the seats are for, and who has taken them; both indexed by colour. None in the first: open to anybody.
        self.named = (created.player_black, created.player_white)
        self.players = self.named
        #: Whether both seats are taken: nobody plays before.
        self.begun = True
        #: Whether some were not, when it was made.
        self._kept_seats = bool(created.invited) or None in self.named
        if self._kept_seats:
            self._keep_seats(created.invited_sides)
        self.clock = None if self.options.clock is None else Clock(self.options.clock)
        #: Whether time matters to it at all.
        self.timed = self.clock is not None or created.lapses is not None
        self.contacted = [False, False]
        #: The game as it stands, the side to move, and whether it has ended.
        self.now: Snapshot
        self.turn: chess.Color
        self.over = False
        self.called_off_by: chess.Color | None = None  # the seat, taken or kept, of the player who did
        #: The side to move and the full-move number at the start.
        self.start_turn: chess.Color
        self.start_fullmove: int

    def turn_at(self, ply: int) -> chess.Color:
        """The side whose turn it was, or will be, at a ply index."""
        return self.start_turn ^ bool(ply & 1)

    def fullmove_at(self, ply: int) -> int:
        """The full-move number at a ply index."""
        return self.start_fullmove + (ply + (not self.start_turn)) // 2

    def elapsed(self, command: Command, passed: float) -> float:
        """How long the side to move has thought, out of how long its clock has been running; only asked with a clock.

        What its client says counts as far as ``lag`` goes. Others' commands let it have all of that: its own may come.
        """
        assert self.clock is not None
        if not self.clock.lag:
            return passed
        if isinstance(command, Sense | Play | End) and command.seat == self.turn:
            return passed if command.thought is None else self.clock.own(passed, command.thought)
        return self.clock.own(passed, 0.0)

    movetext: str  #: the moves made, as version 1's ``pgn`` has them
    loaded = 0  #: plies that came with a PGN

    @property
    @abstractmethod
    def moves(self) -> list[str]:
        """What moved in each turn, in UCI."""

    @abstractmethod
    def actions(self) -> Actions:
        """What the side to move may do now, in a game that is on."""

    @abstractmethod
    def pgn_text(self) -> str | Generator[None, None, str]:
        """The moves as they stand in a PGN, or what makes them in steps."""

    def draws(self, shown: Snapshot) -> int:
        """The draws the side to move may take at a moment, as the wire's bits."""
        return 0

    def knowledge_of(self, shown: Snapshot, seat: chess.Color | None) -> SeatKnowledge:
        """What a seat has been told of the latest turns, beside what it sees."""
        return SeatKnowledge()

    def load(self, moves: Sequence[str]) -> Generator[None, None, list[Loaded]]:
        """Play the moves of a PGN in a new game, in steps; return the events, which are applied.

        :raises BadPgn: one is not legal, or the variant's games begin with none.
        """
        raise BadPgn(f"pgn: no game of {self.options.variant} is made from a PGN")

    def kept_moves(self, moves: Sequence[str]) -> list[str]:
        """The moves as :meth:`load` would keep them, here and now. It raises what that raises, as any GmError."""
        raise NotAvailable(f"no game of {self.options.variant} has moves that were loaded")

    def record(self, white: str, black: str) -> Generator[None, None, bytes | None]:
        """The game as reconchess saves it, as JSON, made in steps; None where that is not its game."""
        yield from ()
        return None

    @property
    @abstractmethod
    def estimated_bytes(self) -> int:
        """How much memory the game takes, more or less; what games share is nobody's."""

    @abstractmethod
    def decide(self, command: Command, elapsed: float) -> Decision:
        """What a command comes to, in the order of checks that ``PROTOCOL`` gives."""

    @abstractmethod
    def apply(self, event: AnyEvent, move: Resolved | None = None) -> None:
        """Apply an event; a move that was decided just before comes with its :attr:`Decision.move`."""

    def _keep_seats(self, invited: Sequence[chess.Color]) -> None:
        """Some seats are not taken yet."""
        self.begun = False
        black, white = self.named
        self.players = (None if BLACK in invited else black, None if WHITE in invited else white)

    @property
    def lapsing(self) -> bool:
        """Whether the game is to be called off if it does not begin in time."""
        return self.created.lapses is not None and not self.begun and not self.over

    @property
    def ticking(self) -> bool:
        """Whether the side to move's clock runs: the game is on, and both seats have been heard from."""
        return self.clock is not None and all(self.contacted) and not self.over

    @property
    def awaited(self) -> bool:
        """Whether the game has a clock that waits for a seat to be heard from; first of all, each must be taken."""
        return self.awaits_contact and self.begun

    @property
    def awaits_contact(self) -> bool:
        """Whether it matters who is heard from: the game has a clock, and some seat has not been."""
        return self.clock is not None and not all(self.contacted) and not self.over

    @property
    def seating(self) -> Seating:
        """Who the seats are for, and who has taken them."""
        (black, white), (has_black, has_white) = self.named, self.players
        return Seating(white, black, has_white is not None, has_black is not None)

    def summary(self) -> GameSummary:
        """How the game stands."""
        left = self.clock.patience(self.turn) if self.clock is not None and self.ticking else None
        seating = self.seating if self._kept_seats else None
        return GameSummary(seat_name(self.turn), self.now.ply, termination_of(self.now.ending), left, seating)

    def seats(self, player: int | None) -> list[chess.Color]:
        """The seats a player has: none, one, or both, White first."""
        return [] if player is None else [seat for seat in (WHITE, BLACK) if self.players[seat] == player]

    def seat_of(self, player: int | None, named: chess.Color | None = None, ply: int | None = None) -> chess.Color:
        """The seat a player's request acts for.

        Who holds both acts for the seat it names, else for the side to move (at ``ply``, where it says one). Where
        something is hidden it must name one: the two may be programs that are not to know of each other.

        :raises NotAPlayer: it holds no seat, or not the one it names.
        :raises BadRequest: it holds both, and must name one.
        """
        black, white = self.players
        if named is None and black != white and player in (black, white):
            return player == white
        seats = self.seats(player)
        if not seats:
            invited = "; it is invited to one: join first" if player in self.named else ""
            raise NotAPlayer(f"player: {player} has no seat in game {self.id}{invited}")
        if named is not None:
            if named not in seats:
                raise NotAPlayer(f"seat: player {player} does not hold {seat_name(named)}'s seat in game {self.id}")
            return named
        if not self.open:
            raise BadRequest(f"seat: missing; player {player} holds both seats in game {self.id} and must name one")
        return self.turn if ply is None else self.turn_at(ply)

    def may_act(self, seat: chess.Color) -> bool:
        """Whether the game waits for this seat."""
        return self.begun and self.turn == seat and not self.over

    def waits_unbegun(self, player: int | None) -> bool:
        """Whether a game that has not begun waits for a player: to join, or, where it is over, to be shown that."""
        if self.over:
            return player in self.players
        return any(named == player != seated for named, seated in zip(self.named, self.players, strict=True))

    def join(self, command: Join) -> Decision:
        """Decide :class:`Join`. Who has the seat already is shown the game."""
        if self.seats(command.player) if command.seat is None else self.players[command.seat] == command.player:
            return Decision()
        if self.over:
            return Decision(refusal=self._is_over(self.now.ending))
        free = [seat for seat in chess.COLORS if self._may_take(command.player, seat)]
        if command.seat is not None:
            free = [seat for seat in free if seat == command.seat]
        if not free:
            return Decision(refusal=self._no_seat(command))
        kept = [seat for seat in free if self.named[seat] is not None]
        return Decision([Joined(seat_name((kept or free)[0]), command.player)])

    def call_off(self, command: CallOff) -> Decision:
        """Decide :class:`CallOff`. Whom a seat is kept for declines, who has one withdraws."""
        player = command.player
        if player is None:
            return Decision([] if self.begun or self.over else [Ended.of(Ending(Cause.EXPIRED))])
        if player not in self.named:
            stranger = NotAPlayer(f"player: {player} has no seat in game {self.id}, and is not invited to it")
            return Decision(refusal=stranger)
        if self.over:
            ending = self.now.ending
            return Decision(refusal=None if ending is not None and ending.called_off else self._is_over(ending))
        if self.begun:
            return Decision(refusal=NotAvailable(f"game {self.id} has begun: it can be resigned, and not called off"))
        cause = Cause.WITHDRAWN if player in self.players else Cause.DECLINED
        seats = self.players if player in self.players else self.named
        return Decision([Ended.of(Ending(cause), seat=seats[WHITE] == player)])

    def _may_take(self, player: int, seat: chess.Color) -> bool:
        """Whether a seat is open, or kept for this player."""
        return self.players[seat] is None and self.named[seat] in (None, player)

    def _no_seat(self, command: Join) -> NotAvailable:
        seats = chess.COLORS if command.seat is None else [command.seat]
        why = "kept for another player" if any(self.players[seat] is None for seat in seats) else "taken"
        which = "no seat is free" if command.seat is None else f"{seat_name(command.seat)}'s seat is not free"
        return NotAvailable(f"seat: {which} for player {command.player} in game {self.id}: {why}")

    def seat(self, event: Joined) -> None:
        """Apply :class:`~gmd.games.events.Joined`."""
        black, white = self.players
        self.players = (black, event.player) if event.side else (event.player, white)
        black, white = self.named
        self.named = (black, event.player) if event.side else (event.player, white)
        self.begun = None not in self.players

    def not_begun(self) -> NotAvailable:
        """The refusal of what can be done only once both seats are taken."""
        seats = [f"{seat_name(seat)}'s seat" for seat in chess.COLORS if self.players[seat] is None]
        verb = "is" if len(seats) == 1 else "are"
        return NotAvailable(f"game {self.id} has not begun: {' and '.join(seats)} {verb} not taken; wait for it")

    def note_contact(self, seat: chess.Color) -> Decision:
        """Decide :class:`Hear`. Only a game with a clock cares; who holds both seats is heard in both."""
        if self.clock is None or self.over or self.contacted[seat]:
            return Decision()
        player = self.players[seat]
        seats = [other for other in self.seats(player) or [seat] if not self.contacted[other]]
        return Decision([FirstContactMade(seat_name(other)) for other in seats])

    def absent(self) -> Decision:
        """Decide :class:`Absent`: a seat not heard from loses; where neither was, the side to move does."""
        if not self.awaited:
            return Decision()
        loser = self.turn if not self.contacted[self.turn] else not self.turn
        return Decision([Ended.of(Ending(Cause.TIMEOUT, winner=not loser))])

    def run_out(self, command: RunOut, elapsed: float) -> Decision:
        """Decide :class:`RunOut`."""
        if (refused := self.refuse(command, elapsed)) is not None:
            return refused
        if self.clock is None:
            return Decision(refusal=NotAvailable(f"game {self.id} has no clock: nobody's time runs out"))
        ending = Ending(Cause.TIMEOUT, winner=not command.seat)
        return Decision([Ended.of(ending, elapsed, seat=command.seat, asked=ending.termination)])

    def charge_ended(self, event: Ended) -> None:
        """Charge what an end does: the side to move's last thought; and all that is left to who gave that up."""
        if self.clock is not None:
            self.clock.charge(self.turn, event.seconds)
            if event.side is not None and event.ending.cause is Cause.TIMEOUT:
                self.clock.charge(event.side, inf)

    def refuse(self, command: Sense | Play | End | RunOut, elapsed: float) -> Decision | None:
        """The refusals that all acts of a seat share, after retries: game over (by now, perhaps), and stale."""
        if self.over:
            return Decision(refusal=self._is_over(self.now.ending))
        if self.clock is not None and (flagged := self.flag(elapsed)):
            return Decision(flagged, refusal=self._is_over(flagged[0].ending))
        if not self.begun and not is_resignation(command):
            return Decision(refusal=self.not_begun())
        if command.ply is not None and command.ply != self.now.ply:
            message = f"ply: {command.ply} is not where game {self.id} is: its ply_index is {self.now.ply}"
            return Decision(refusal=Stale(message, expected=self.now.ply))
        return None

    def _is_over(self, ending: Ending | None) -> GameIsOver:
        return GameIsOver(f"game {self.id} is over: {termination_of(ending)}")

    def not_your_turn(self, seat: chess.Color) -> NotYourTurn:
        """The refusal of what only the side to move may do."""
        return NotYourTurn(f"player: you hold {seat_name(seat)}'s seat, and it is {seat_name(self.turn)}'s turn")

    def flag(self, elapsed: float) -> list[Ended]:
        """The event of the flag of the side to move having fallen, if it has."""
        if self.clock is not None and self.ticking and self.clock.fallen(self.turn, elapsed):
            return [Ended.of(Ending(Cause.TIMEOUT, winner=not self.turn), self.clock.left(self.turn))]
        return []
