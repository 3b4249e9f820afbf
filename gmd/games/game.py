"""The base of every game: a fold over its events that also decides commands.

``decide`` returns the events of a command without applying them; only ``apply`` changes a game. Neither reads the
time: ``elapsed`` is how many seconds the clock of the side to move has been running (0 if it is not running).
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from math import inf
from typing import ClassVar, NamedTuple

import chess
from chess import BLACK, WHITE
from msgspec import UNSET, Struct, UnsetType

from gm_protocol.endings import ON, Cause, Ending, Termination, termination_of
from gm_protocol.errors import BadPgn, BadRequest, GameIsOver, GmError, NotAPlayer, NotAvailable, NotYourTurn, Stale
from gm_protocol.state import COLOR_NAMES, Color, LastResult, LastSense, Phase
from gm_recon.history import History as ReconHistory
from gmd.games.clock import Clock
from gmd.games.commands import Absent, CallOff, Command, End, Flag, Join, Play, RunOut, Sense, is_resignation
from gmd.games.events import AnyEvent, Created, Ended, FirstContactMade, Joined, Loaded
from gmd.games.facts import Facts, Resolved, facts_of
from gmd.games.position import Position


class Actions(NamedTuple):
    """The actions of a seat: squares that it may sense, by name, and moves that it may make or request, in UCI."""

    sense: list[str] | None = None
    move: list[str] | None = None


class SeatKnowledge(NamedTuple):
    """The knowledge of the latest turns that only one seat has; unset in variants without it."""

    capture: str | UnsetType | None = UNSET
    sense: LastSense | UnsetType | None = UNSET
    result: LastResult | UnsetType | None = UNSET


class Snapshot(Struct, frozen=True, gc=False):
    """A game at one moment, without its clocks. A reply shows one; a retried request is shown the same one again."""

    position: Position
    ply: int
    #: Half-moves since the last capture or pawn move.
    halfmoves: int
    #: How often this position has occurred, including this time.
    occurrences: int
    #: Characters of the game's movetext up to this moment.
    text_length: int
    last_move: str | None
    draw_offered: bool
    #: How the game ended; None while it is in progress.
    ending: Ending | None


class Decision(Struct, frozen=True, gc=False):
    """The decision on a command: events to append (maybe none), and a state to show or a refusal.

    For a move after flag fall it has both events and a refusal.
    """

    events: Sequence[AnyEvent] = ()
    #: The state to show; None for the state after the events.
    shown: Snapshot | None = None
    refusal: GmError | None = None
    move: Resolved | None = None  #: the move that was decided, as the game has resolved it, for :meth:`Game.apply`


class Seating(NamedTuple):
    """The players that the seats of a game are for, and whether they have taken them."""

    white: int | None
    black: int | None
    white_taken: bool
    black_taken: bool

    @property
    def complete(self) -> bool:
        """Whether both seats are taken."""
        return self.white_taken and self.black_taken


class GameSummary(Struct, frozen=True, array_like=True, gc=False):
    """The summary of a game: the fields of a listing's row that change, and the time to set its timer to.

    It is stored in the log, which writes the side to move and the termination as words.
    """

    turn: Color
    ply_index: int
    termination: Termination
    #: Seconds that the side to move may think from the start of its turn before it loses; None while no clock runs.
    seconds_left: float | None
    #: Only for a game that began with a seat not taken.
    seating: Seating | None = None

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.termination != ON


def why_no_draw(shown: Snapshot) -> str:
    """Return what keeps a draw from being taken at a moment: the counts that are too low."""
    counts = f"{shown.occurrences} times, {shown.halfmoves} half-moves"
    return f"the position has occurred {counts} without capture or pawn move"


#: Bytes that any game takes, with the data kept for it elsewhere.
GAME_BYTES = 4_000


def seat_name(seat: chess.Color) -> Color:
    """Return the wire's word for a side."""
    return COLOR_NAMES[seat]


class Game(ABC):
    """A game of any variant.

    :cvar open: whether everybody may see everything.
    :cvar moves_are_requests: whether the move taken (in the reply) may be another or none, and null passes.
    """

    open: ClassVar[bool] = True
    moves_are_requests: ClassVar[bool] = False

    def __init__(self, created: Created) -> None:
        self.created = created
        #: Assigned when the game is added to the log.
        self.id = 0
        self.options = created.options
        #: The players that the seats are for (None: anybody), and those who have taken them; both indexed by colour.
        self.named = (created.player_black, created.player_white)
        self.players = self.named
        #: Whether both seats are taken; no moves are made before.
        self.begun = True
        #: Whether a seat was not taken when the game was created.
        self._kept_seats = bool(created.invited) or None in self.named
        if self._kept_seats:
            self._keep_seats(created.invited_sides)
        self.clock = None if self.options.clock is None else Clock(self.options.clock)
        #: Whether the game depends on time.
        self.timed = self.clock is not None or created.lapses is not None
        self.contacted = [False, False]
        #: The game as it stands, the side to move, and whether it has ended.
        self.now: Snapshot
        self.turn: chess.Color
        self.over = False
        self.called_off_by: chess.Color | None = None  # the seat, taken or kept, of the player who called it off
        #: The side to move and the full-move number at the start.
        self.start_turn: chess.Color
        self.start_fullmove: int

    def turn_at(self, ply: int) -> chess.Color:
        """Return the side whose turn it was, or will be, at a ply index."""
        return self.start_turn ^ bool(ply & 1)

    def fullmove_at(self, ply: int) -> int:
        """Return the full-move number at a ply index."""
        return self.start_fullmove + (ply + (not self.start_turn)) // 2

    def elapsed(self, command: Command, passed: float) -> float:
        """Return how many seconds the side to move has thought, of those its clock has been running; needs a clock.

        The time that its client reports counts within ``lag``. On any other command the side keeps the whole ``lag``,
        because its own command may still come.
        """
        assert self.clock is not None
        if not self.clock.lag:
            return passed
        if isinstance(command, Sense | Play | End) and command.seat == self.turn:
            return passed if command.thought is None else self.clock.own(passed, command.thought)
        return self.clock.own(passed, 0.0)

    movetext: str  #: the moves made, in the format of version 1's ``pgn``
    loaded = 0  #: plies that came from a PGN

    @property
    @abstractmethod
    def moves(self) -> list[str]:
        """The move of each turn, in UCI."""

    @abstractmethod
    def actions(self) -> Actions:
        """Return the actions that the side to move has now, in a game in progress."""

    @abstractmethod
    def pgn_text(self) -> str | Generator[None, None, str]:
        """Return the moves as PGN movetext, or a generator that makes it in steps."""

    def movetext_at(self, shown: Snapshot) -> str:
        """Return the movetext at a moment; a game that hides something shows all of it, once it shows any."""
        return self.movetext

    def draws(self, shown: Snapshot) -> int:
        """Return the draws that the side to move may claim at a moment, as the wire's bits."""
        return 0

    def facts_at(self, shown: Snapshot) -> Facts:
        """Return the facts of the position at a moment; those of a hidden one are never shared with other games."""
        return facts_of(shown.position)

    def phase_at(self, shown: Snapshot) -> Phase:
        """Return the phase of the side to move at a moment, in a game that has begun."""
        return "move" if shown.ending is None else "over"

    def own_fields(self, shown: Snapshot, seat: chess.Color | None, seen: object) -> tuple[object, ...]:
        """Return, for a seat, the fields of a state that not every variant has.

        They are the last fields of :class:`~gm_protocol.state.GameState` in their order, from ``opponent_capture`` on;
        fields after the returned ones are left out.

        :param seen: what :meth:`~gmd.games.hidden.HiddenGame.seen_by` returned; None if everything is shown.
        """
        return ()

    def knowledge_of(self, shown: Snapshot, seat: chess.Color | None) -> SeatKnowledge:
        """Return what a seat knows of the latest turns, in addition to what it sees of the board."""
        return SeatKnowledge()

    def load(self, moves: Sequence[str]) -> Generator[None, None, list[Loaded]]:
        """Play the moves of a PGN in a new game, in steps; return the events, which are applied.

        :raises BadPgn: a move is not legal, or no game of the variant begins with a PGN.
        """
        raise BadPgn(f"pgn: no game of {self.options.variant} is made from a PGN")

    def recon_history(self) -> ReconHistory | None:
        """Return the turns so far as reconchess records them; None in a variant that reconchess lacks."""
        return None

    @property
    @abstractmethod
    def estimated_bytes(self) -> int:
        """The approximate memory of the game in bytes, without data that games share."""

    @abstractmethod
    def decide(self, command: Command, elapsed: float) -> Decision:
        """Decide a command, with the checks in the order that ``PROTOCOL`` gives."""

    @abstractmethod
    def apply(self, event: AnyEvent, move: Resolved | None = None) -> None:
        """Apply an event; a move that was decided just before comes with its :attr:`Decision.move`."""

    def _keep_seats(self, invited: Sequence[chess.Color]) -> None:
        """Begin with seats that are not taken yet: those that are open, and those kept for the invited."""
        self.begun = False
        black, white = self.named
        self.players = (None if BLACK in invited else black, None if WHITE in invited else white)

    @property
    def lapsing(self) -> bool:
        """Whether the game is to be called off if it does not begin in time."""
        return self.created.lapses is not None and not self.begun and not self.over

    @property
    def ticking(self) -> bool:
        """Whether the clock of the side to move runs: the game is not over, and both seats have made first contact."""
        return self.clock is not None and all(self.contacted) and not self.over

    @property
    def awaited(self) -> bool:
        """Whether both seats are taken and the clock waits for the first contact of one."""
        return self.awaits_contact and self.begun

    @property
    def awaits_contact(self) -> bool:
        """Whether first contact matters: the game has a clock, and a seat has not made it."""
        return self.clock is not None and not all(self.contacted) and not self.over

    @property
    def seating(self) -> Seating:
        """The players that the seats are for, and whether they have taken them."""
        (black, white), (has_black, has_white) = self.named, self.players
        return Seating(white, black, has_white is not None, has_black is not None)

    def summary(self) -> GameSummary:
        """Return the summary of the game as it is now."""
        left = self.clock.seconds_to_flag(self.turn) if self.clock is not None and self.ticking else None
        seating = self.seating if self._kept_seats else None
        return GameSummary(seat_name(self.turn), self.now.ply, termination_of(self.now.ending), left, seating)

    def seats(self, player: int | None) -> list[chess.Color]:
        """Return the seats of a player: none, one, or both, White first."""
        return [] if player is None else [seat for seat in (WHITE, BLACK) if self.players[seat] == player]

    def seat_of(self, player: int | None, named: chess.Color | None = None, ply: int | None = None) -> chess.Color:
        """Return the seat that a player's request acts for.

        With both seats, it is the seat that the player names, else the side to move (at ``ply``, if given). Where
        something is hidden, the player must name one: the two may be programs that must not learn of each other.

        :raises NotAPlayer: the player has no seat, or not the one it names.
        :raises BadRequest: the player has both seats and must name one.
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
        """Return whether the game waits for this seat."""
        return self.begun and self.turn == seat and not self.over

    def join(self, command: Join) -> Decision:
        """Decide :class:`Join`. A player that already has the seat is shown the game."""
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
        """Decide :class:`CallOff`. An invited player declines; a player with a seat withdraws."""
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
            return Decision(refusal=NotAvailable(f"game {self.id} has begun and cannot be called off; resign instead"))
        cause = Cause.WITHDRAWN if player in self.players else Cause.DECLINED
        seats = self.players if player in self.players else self.named
        return Decision([Ended.of(Ending(cause), seat=seats[WHITE] == player)])

    def _may_take(self, player: int, seat: chess.Color) -> bool:
        """Return whether a seat is open, or kept for this player."""
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
        """Return the refusal of a command that needs both seats taken."""
        seats = [f"{seat_name(seat)}'s seat" for seat in chess.COLORS if self.players[seat] is None]
        verb = "is" if len(seats) == 1 else "are"
        return NotAvailable(f"game {self.id} has not begun: {' and '.join(seats)} {verb} not taken; wait for it")

    def note_contact(self, seat: chess.Color) -> Decision:
        """Decide :class:`FirstContact`. It matters only with a clock; a player with both seats makes it for both."""
        if self.clock is None or self.over or self.contacted[seat]:
            return Decision()
        player = self.players[seat]
        seats = [other for other in self.seats(player) or [seat] if not self.contacted[other]]
        return Decision([FirstContactMade(seat_name(other)) for other in seats])

    def absent(self) -> Decision:
        """Decide :class:`Absent`."""
        return Decision([Ended.of(self.out_of_time(self.late))] if self.awaited else [])

    @property
    def late(self) -> chess.Color:
        """The side whose time is up if time passes: the side to move, or the only one without first contact."""
        return not self.turn if self.awaited and self.contacted[self.turn] else self.turn

    def out_of_time(self, seat: chess.Color) -> Ending:
        """Return how the game ends if a seat's time is up now."""
        return Ending(Cause.TIMEOUT, winner=not seat)

    def run_out(self, command: RunOut, elapsed: float) -> Decision:
        """Decide :class:`RunOut`."""
        if (refused := self.refuse(command, elapsed)) is not None:
            return refused
        if self.clock is None:
            return Decision(refusal=NotAvailable(f"game {self.id} has no clock, so no time can run out"))
        ending = self.out_of_time(command.seat)
        return Decision([Ended.of(ending, elapsed, seat=command.seat, asked=ending.termination)])

    def charge_ended(self, event: Ended) -> None:
        """Charge the side to move its last thinking time, and a seat that gave up its time all that it has left."""
        if self.clock is not None:
            self.clock.charge(self.turn, event.seconds)
            if event.side is not None and event.ending.cause in (Cause.TIMEOUT, Cause.TIMEOUT_DRAW):
                self.clock.charge(event.side, inf)

    def refuse(self, command: Sense | Play | End | RunOut, elapsed: float) -> Decision | None:
        """Return the refusal common to all commands of a seat, after retries: over (maybe just now), unbegun, stale."""
        if self.over:
            return Decision(refusal=self._is_over(self.now.ending))
        if self.clock is not None and (flagged := self.flag(elapsed)):
            return Decision(flagged, refusal=self._is_over(flagged[0].ending))
        if not self.begun and not is_resignation(command):
            return Decision(refusal=self.not_begun())
        if command.ply is not None and command.ply != self.now.ply:
            message = f"ply: {command.ply} does not match game {self.id}, whose ply_index is {self.now.ply}"
            return Decision(refusal=Stale(message, expected=self.now.ply))
        return None

    def _is_over(self, ending: Ending | None) -> GameIsOver:
        return GameIsOver(f"game {self.id} is over: {termination_of(ending)}")

    def not_your_turn(self, seat: chess.Color) -> NotYourTurn:
        """Return the refusal of a command that only the side to move may give."""
        return NotYourTurn(f"player: you hold {seat_name(seat)}'s seat, and it is {seat_name(self.turn)}'s turn")

    def flag(self, elapsed: float) -> list[Ended]:
        """Return the event of the fallen flag of the side to move; no event if it has not fallen."""
        if self.clock is not None and self.ticking and self.clock.fallen(self.turn, elapsed):
            return [Ended.of(self.out_of_time(self.turn), self.clock.left(self.turn))]
        return []


def when_due(game: Game) -> Command:
    """Return the command for a game whose deadline has come."""
    if game.lapsing:
        return CallOff(None)
    return Absent() if game.awaited else Flag()


#: Longest text of a forfeiting move that is stored unchanged; no legal move is longer.
MAX_KEPT_TEXT = 16


class Accepted(Struct, frozen=True, gc=False):
    """A seat's latest sense, or its latest move or ending.

    :ivar kind: the command that it was; :class:`Play` also for an ending, where an illegal move forfeited the game.
    :ivar action: a square's number, a move in UCI as resolved (``e7e8q`` if ``e7e8`` was requested), the text of a
        forfeiting move as :func:`kept_text` returns it, or a termination; None for sensing nothing.
    """

    kind: type[Sense | Play | End]
    ply: int
    action: str | int | None
    before: Position
    after: Snapshot
    offer_draw: bool = False
    claim_draw: bool = False


def shown_again(accepted: Accepted | None, command: Sense | End, action: str | int | None) -> Snapshot | None:
    """Return what a command is shown if it repeats its seat's accepted action; None if it does not.

    :param action: the command's, as :attr:`Accepted.action` would have it.
    """
    if accepted is None or accepted.ply != command.ply or accepted.kind is not type(command):
        return None
    return accepted.after if accepted.action == action else None


def move_shown_again(accepted: Accepted | None, command: Play, read: Callable[[Position, str], str]) -> Snapshot | None:
    """Return what a command is shown if it repeats its seat's accepted move in any spelling; None if it does not.

    :param read: returns the move that a text means in a position, in UCI; raises a :class:`GmError` if it is none.
    """
    if accepted is None or accepted.ply != command.ply or accepted.kind is not Play:
        return None
    if (accepted.offer_draw, accepted.claim_draw) != (command.offer_draw, command.claim_draw):
        return None
    if accepted.action == kept_text(command.text):
        return accepted.after
    try:
        return accepted.after if read(accepted.before, command.text) == accepted.action else None
    except GmError:
        return None


def kept_text(text: str) -> str:
    """Return a move text as the game stores it, which is for ever: a digest in place of a long text."""
    return text if len(text) <= MAX_KEPT_TEXT else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
