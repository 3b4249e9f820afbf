"""Chess, Chess960 and crazyhouse: the rules of a game on top of python-chess's rules of a position.

A game takes little memory, so that a hundred thousand games fit: a position is a key (its facts are in the shared
cache), a move takes two bytes, and repetitions are counted since the last irreversible move only.
"""

from __future__ import annotations

from array import array
from collections.abc import Generator, Sequence
from typing import NamedTuple

import chess
from msgspec import structs

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import BadPgn, GmError, NotAvailable
from gm_protocol.state import FIFTY_MOVES, THREEFOLD

from .commands import Absent, CallOff, Command, End, FirstContact, Flag, Join, Play, RunOut, Sense
from .events import AnyEvent, Created, Ended, FirstContactMade, Joined, Loaded, Moved, Sensed
from .facts import Facts, Played, Resolved, facts_of
from .game import GAME_BYTES, Decision, Game, Snapshot, seat_name
from .knowledge import Actions
from .material import insufficient_material
from .moves import decode_move
from .position import Position, family_of
from .retries import Accepted, kept_text, move_shown_again, shown_again

#: Bytes of a position with its count, and of a move with its text (measured; see ``tests/games/test_sizes.py``).
POSITION_BYTES, MOVE_BYTES = 180, 10

#: Moves of a PGN played between two yields: under two milliseconds, even if no position is in the cache.
MOVES_A_STEP = 16


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

    @property
    def estimated_bytes(self) -> int:
        return GAME_BYTES + POSITION_BYTES * len(self._occurred) + MOVE_BYTES * len(self.codes)

    def draws(self, shown: Snapshot) -> int:
        if (shown.halfmoves < 100 and shown.occurrences < 3) or shown.ending is not None:
            return 0
        return FIFTY_MOVES * (shown.halfmoves >= 100) | THREEFOLD * (shown.occurrences >= 3)

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
        return Decision([Moved(played.uci, elapsed, command.offer_draw)], move=played)

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
        return NotAvailable(
            f"termination: {claimed.termination!r}: no draw can be taken now: the position has occurred "
            f"{self.now.occurrences} times, {self.now.halfmoves} half-moves without capture or pawn move"
        )

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
                for text in event.moves:
                    self._push(self.facts.play(text), draw_offered=False)
                self.loaded = self.now.ply
            case Created() | Sensed():
                raise ValueError(f"game {self.id}: no {event} can happen to it")

    def _apply_moved(self, event: Moved, move: Resolved | None) -> None:
        seat, before = self.turn, self.now
        played = move if isinstance(move, Played) else facts_of(before.position).play(event.move)
        if self.clock is not None:
            self.clock.charge(seat, event.seconds)
            self.clock.press(seat)
        self._push(played, event.offer_draw)
        self._latest[seat] = Accepted(Play, before.ply, event.move, before.position, self.now, event.offer_draw)

    def _apply_ended(self, event: Ended) -> None:
        before, ending, seat = self.now, event.ending, event.side
        self.charge_ended(event)
        self._stand(structs.replace(before, ending=ending, draw_offered=False))
        if ending.called_off:
            self.called_off_by = seat
        if seat is not None and event.asked is not None:
            kind = Play if ending.cause is Cause.FORFEIT else End
            self._latest[seat] = Accepted(kind, before.ply, event.asked, before.position, self.now, event.offer_draw)

    def load(self, moves: Sequence[str]) -> Generator[None, None, list[Loaded]]:
        """Play the moves of a PGN in a new game, yielding after every few; return the events, already applied.

        :raises BadPgn: one of them is not legal.
        """
        events: list[Loaded] = []
        for first in range(0, len(moves), MOVES_A_STEP):
            events.append(Loaded(self._read_moves(first, moves[first : first + MOVES_A_STEP])))
            self.apply(events[-1])
            yield
        return events

    def _read_moves(self, first: int, texts: Sequence[str]) -> list[str]:
        """Return some moves of a PGN, in UCI.

        :param first: the ply of the first of them.
        """
        played: list[str] = []
        facts = self.facts
        for ply, text in enumerate(texts, first):
            try:
                move = facts.play(text)
            except GmError as error:
                number = f"{self.fullmove_at(ply)}{'.' if facts.turn else '...'}"
                raise BadPgn(f"pgn: at {number} (ply {ply}): {error}") from None
            played.append(move.uci)
            facts = facts_of(move.position)
        return played

    def kept_moves(self, moves: Sequence[str]) -> list[str]:
        facts, kept = self.facts, []
        for text in moves:
            played = facts.play(text)
            kept.append(played.uci)
            facts = facts_of(played.position)
        return kept

    def _push(self, played: Played, draw_offered: bool) -> None:
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
        ending = self._verdict(after, played.goes_on)
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

    def _verdict(self, after: Snapshot, can_move: bool) -> Ending | None:
        """Return how the position and the draw rules end the game; None if it goes on.

        :param can_move: whether the side to move has a legal move.
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
        return Ending(Cause.MOVE_LIMIT) if after.ply >= self._max_plies else None


def _forfeit(command: Play, elapsed: float) -> Ended:
    """Return the end of a game in which an illegal move loses."""
    ending = Ending(Cause.FORFEIT, winner=not command.seat)
    asked = kept_text(command.text)
    return Ended.of(ending, elapsed, seat=command.seat, asked=asked, offer_draw=command.offer_draw)


def _read_move(position: Position, text: str) -> str:
    """Return the move that a text means in a position, in UCI; raise a :class:`GmError` if it is not legal."""
    return facts_of(position).play(text).uci
