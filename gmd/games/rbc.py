"""The variant ``rbc``: how a game of reconnaissance blind chess begins, and its commands and events.

The rules are those of :mod:`gm_recon`. This module adds what a game between two clients needs: refusals and their
texts, time, and the replies to retries.

:mod:`gmd.games.views` decides who may see what. A refusal goes to the seat that asked; so the text and the order of
refusals depend only on what that seat may know.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import cast

import chess
from chess import BLACK, WHITE, Color, Move, Square
from msgspec import UNSET, structs

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import BadPosition, BadSquare, IllegalMove, NotAvailable, WrongPhase, quote
from gm_protocol.messages import GameOptions, NewGame
from gm_protocol.state import Phase
from gm_recon import History, ReconBoard, ReconGame, Turn, WinReason
from gm_recon.pgn import VARIANT, movetext_steps, san
from gmd.games import hidden
from gmd.games.clock import check_clock
from gmd.games.commands import End, Play, Sense
from gmd.games.events import Created, Ended, Moved, Sensed
from gmd.games.facts import Facts, Resolved, hidden_facts
from gmd.games.game import (
    GAME_BYTES,
    Accepted,
    Actions,
    Decision,
    SeatKnowledge,
    Snapshot,
    move_shown_again,
    seat_name,
    shown_again,
)
from gmd.games.hidden import HiddenGame, SeatViews, Seen
from gmd.games.position import Position, only, pack_unchecked, settled
from gmd.games.rbc_knowledge import (
    MoveMade,
    Observations,
    Pair,
    ReconSnapshot,
    SenseMade,
    T,
    knowledge_of_seat,
    pack_cells,
)
from gmd.games.rbc_record import reason_of
from gmd.games.variant import Variant, check_counters

#: Bytes of a turn (measured; see ``tests/games/test_sizes.py``).
TURN_BYTES = 250

#: UCI's null move: a pass.
PASS = Move.null().uci()

_SQUARES = {name: square for square, name in enumerate(chess.SQUARE_NAMES)}
#: The number that stands for an invalid square.
_NO_SQUARE = -1


class RbcGame(HiddenGame):
    """A game in which each side sees what it senses and the results of its moves."""

    moves_are_requests = True
    now: ReconSnapshot

    def __init__(self, created: Created) -> None:
        super().__init__(created)
        options = self.options
        self.recon = ReconGame(
            options.fen,
            reversible_moves=None if options.reversible_moves is UNSET else options.reversible_moves,
            max_turns=None if options.max_turns is UNSET else options.max_turns,
        )
        self.turn = self.start_turn = self.recon.turn
        self.start_fullmove = self.recon.board.fullmoves
        #: The cache of what its seats were shown; other games do not share it.
        self.seat_views = SeatViews(only, hidden.show_own)
        self._facts: tuple[Position, Facts] | None = None
        self._scribe = _Scribe(options.fen)
        self._seen: list[bytes] = []  # what each turn's sense has shown
        self._sensed: list[Accepted | None] = [None, None]
        self._done: list[Accepted | None] = [None, None]
        self._stand(self._verdict(), (None, None), (None, None))

    @property
    def movetext(self) -> str:  # type: ignore[override]  # nothing sets it
        """The moves made, in the format of version 1's ``pgn``; ``--`` for a turn without a move."""
        return " ".join(self._scribe.words(self.recon.turns))

    @property
    def moves(self) -> list[str]:
        """The move taken in each turn, in UCI; 0000 for none."""
        return [PASS if turn.taken is None else turn.taken.uci() for turn in self.recon.turns]

    def actions(self) -> Actions:
        sense = list(chess.SQUARE_NAMES) if self.now.phase == "sense" else None
        return Actions(sense, [move.uci() for move in self.recon.move_actions()])

    def seen_by(self, shown: Snapshot, seat: Color | None) -> Seen:
        if seat is None:
            return hidden.NO_PIECES
        return self.seat_views.of(shown.position, seat)

    def knowledge_of(self, shown: Snapshot, seat: Color | None) -> SeatKnowledge:
        return knowledge_of_seat(cast(ReconSnapshot, shown), seat)

    def own_fields(self, shown: Snapshot, seat: Color | None, seen: object) -> SeatKnowledge:
        return self.knowledge_of(shown, seat)

    def observations(self, seat: Color) -> Observations:
        """Return everything that a seat has learnt so far."""
        return Observations(self.recon.turns, self._seen, first_ply=int(seat != self.start_turn))

    def phase_at(self, shown: Snapshot) -> Phase:
        return cast(ReconSnapshot, shown).phase

    def pgn_text(self) -> Generator[None, None, str]:
        return movetext_steps(self.recon.history())

    def recon_history(self) -> History:
        return self.recon.history()

    def facts_at(self, shown: Snapshot) -> Facts:
        if self._facts is None or self._facts[0] != shown.position:
            self._facts = shown.position, hidden_facts(settled(shown.position))
        return self._facts[1]

    @property
    def estimated_bytes(self) -> int:
        return GAME_BYTES + TURN_BYTES * self.recon.ply

    # --- Deciding -----------------------------------------------------------------------------------------------

    def decide_sense(self, command: Sense, elapsed: float) -> Decision:
        square = _square_number(command.square)
        if (shown := shown_again(self._sensed[command.seat], command, square)) is not None:
            return Decision(self.flag(elapsed), shown=shown)
        if (refused := self._refuse_turn(command, elapsed, "sense")) is not None:
            return refused
        if square == _NO_SQUARE:
            message = f"square: {quote(command.square)} is no square: give a name (e4), a number (0 to 63) or null"
            return Decision(refusal=BadSquare(message))
        return Decision([Sensed(square, elapsed)])

    def decide_play(self, command: Play, elapsed: float) -> Decision:
        if (shown := move_shown_again(self._done[command.seat], command, _promoting)) is not None:
            return Decision(self.flag(elapsed), shown=shown)
        if (refused := self._refuse_turn(command, elapsed, "move")) is not None:
            return refused
        if command.offer_draw:
            return Decision(refusal=NotAvailable("offer_draw: rbc has no draw offers: they would be signals"))
        if command.claim_draw:
            return Decision(refusal=NotAvailable("claim_draw: rbc has no draws to take"))
        try:
            if (move := _read_move(command.text)) is not None:
                self.recon.board.revise(move)
        except ValueError:
            message = (
                f"move: {quote(command.text)} is not among {seat_name(command.seat)}'s move_actions (UCI, or null)"
            )
            return Decision(refusal=IllegalMove(message))
        return Decision([Moved(command.text, elapsed)], move=move)

    def shown_again(self, command: End) -> Snapshot | None:
        return shown_again(self._done[command.seat], command, command.ending.termination)

    def _refuse_turn(self, command: Sense | Play, elapsed: float, phase: Phase) -> Decision | None:
        """Return the refusal common to sense and move, after retries; None if there is none."""
        if (refused := self.refuse(command, elapsed)) is not None:
            return refused
        if command.seat != self.turn:
            return Decision(refusal=self.not_your_turn(command.seat))
        if phase != self.now.phase:
            message = f"kind: it is too early to move in game {self.id}: sense first (square null senses nothing)"
            if phase == "sense":
                message = f"kind: you have sensed in this turn of game {self.id}: now move (null passes)"
            return Decision(refusal=WrongPhase(message))
        return None

    # --- Applying -----------------------------------------------------------------------------------------------

    def apply_sensed(self, event: Sensed) -> None:
        seat, before = self.turn, self.now
        if self.clock is not None:
            self.clock.charge(seat, event.seconds)
        cells = self.recon.sense(event.square)
        self._seen.append(pack_cells(cells))
        sensed = SenseMade(before.ply, event.square, tuple(cells))
        self.now = structs.replace(before, phase="move", senses=_with(before.senses, seat, sensed))
        self._sensed[seat] = Accepted(Sense, before.ply, event.square, before.position, self.now)

    def apply_moved(self, event: Moved, move: Resolved | None) -> None:
        seat, before = self.turn, self.now
        if self.clock is not None:
            self.clock.charge(seat, event.seconds)
            self.clock.press(seat)
        asked = move if isinstance(move, Move) else _read_move(event.move)
        resolved = event.move if asked is None else self.recon.board.promoting(asked).uci()
        moved = MoveMade(before.ply, *self.recon.move(asked))
        self.turn = self.recon.turn
        self._stand(self._verdict(), before.senses, _with(before.results, seat, moved))
        self._done[seat] = Accepted(Play, before.ply, resolved, before.position, self.now)

    def apply_ended(self, event: Ended) -> None:
        before, ending, seat = self.now, event.ending, event.side
        self.charge_ended(event)
        if ending.called_off:
            self.called_off_by = seat
        else:
            self.recon.end(ending.winner, reason_of(ending.cause))
        self._stand(ending, before.senses, before.results)
        if seat is not None and event.asked is not None:
            self._done[seat] = Accepted(End, before.ply, event.asked, before.position, self.now)

    def _verdict(self) -> Ending | None:
        """Return how the rules or the server's limit on length end the game; None if it goes on."""
        match self.recon.win_reason:
            case WinReason.KING_CAPTURE:
                return Ending(Cause.KING_CAPTURE, winner=self.recon.winner)
            case WinReason.TURN_LIMIT:
                return Ending(Cause.TURN_LIMIT)
            case WinReason.MOVE_LIMIT:
                return Ending(Cause.FIFTY_MOVES)
            case WinReason.TIMEOUT | WinReason.RESIGN | None:
                pass  # the rules do not end it
        if self.recon.ply >= self.created.max_plies:
            self.recon.end(None, WinReason.TURN_LIMIT)
            return Ending(Cause.MOVE_LIMIT)
        return None

    def _stand(self, ending: Ending | None, senses: Pair[SenseMade], results: Pair[MoveMade]) -> None:
        self.over = ending is not None
        if self.over:
            self.seat_views.forget()
        taken = [turn.taken for turn in self.recon.turns[-1:]]
        self.now = ReconSnapshot(
            position=pack_unchecked(self.recon.board.as_chess()),
            ply=self.recon.ply,
            halfmoves=self.recon.board.halfmoves,
            occurrences=1,
            text_length=0,
            last_move=taken[0].uci() if taken and taken[0] is not None else None,
            draw_offered=False,
            ending=ending,
            phase="over" if self.over else "move" if self.recon.sensed else "sense",
            senses=senses,
            results=results,
        )


class _Scribe:
    """A writer of a game's moves as SAN, on demand and each only once."""

    def __init__(self, start_fen: str) -> None:
        self._start_fen = start_fen
        self._board: ReconBoard | None = None
        self._words: list[str] = []

    def words(self, turns: Sequence[Turn]) -> list[str]:
        """Return the moves so far, White's with their numbers."""
        board = self._board = self._board or ReconBoard(self._start_fen)
        for turn in turns[len(self._words) :]:
            number = f"{board.fullmoves}." if board.turn else "" if self._words else f"{board.fullmoves}..."
            self._words.append(number + san(board, turn.taken))
            board.push(turn.taken, turn.capture_square)
        return self._words


def _with(pair: Pair[T], seat: Color, value: T) -> Pair[T]:
    return (pair[BLACK], value) if seat else (value, pair[WHITE])


def _square_number(value: str | int | None) -> Square | None:
    """Return a square's number, :data:`_NO_SQUARE` for an invalid one, or None for None."""
    if isinstance(value, str):
        return _SQUARES.get(value, _NO_SQUARE)
    return value if value is None or 0 <= value < 64 else _NO_SQUARE


def _promoting(_: Position, text: str) -> str:
    """Return the text of a move without its promotion, completed: one to a queen."""
    return text + "q"


def _read_move(text: str) -> Move | None:
    """Return the move of a text in UCI; None for a pass.

    :raises ValueError: it is not UCI.
    """
    return None if text == PASS else Move.from_uci(text)


#: The default, that of reconchess: a draw after 100 half-moves without a capture or pawn move.
RECON_REVERSIBLE_MOVES = 100

#: Fields of "new_game" that do not apply to reconnaissance blind chess. Draw offers would be signals between players.
_NOT_FOR_RECON = ("position", "seed", "draws", "max_moves", "illegal_move")


class RbcVariant(Variant):
    """Reconnaissance blind chess. No game begins with moves of a PGN: clients would not know what they have seen."""

    name = "rbc"
    title = "blind chess"
    heading = "Reconnaissance blind chess"
    abbreviation = "RBC"
    pgn_name = VARIANT
    pgn_aliases = frozenset({"reconnaissance chess", "rbc"})
    pgn_is_common = False
    loads_moves = False
    victory = Cause.KING_CAPTURE
    hides = True
    senses = True
    null_is_an_answer = True

    def resolve(self, request: NewGame, headers: Mapping[str, str], drawn: int, *, strict: bool) -> GameOptions:
        self.refuse_pgn(request)
        self.refuse(request, _NOT_FOR_RECON)
        clock = self.traits.clock if request.clock is UNSET else request.clock
        reversible = RECON_REVERSIBLE_MOVES if request.reversible_moves is UNSET else request.reversible_moves
        return GameOptions(
            variant=self.name,
            fen=_start_fen(chess.STARTING_FEN if request.fen is None else request.fen),
            clock=None if clock is None else check_clock(clock),
            reversible_moves=reversible,
            max_turns=request.max_turns,
        )

    def make_game(self, created: Created) -> RbcGame:
        return RbcGame(created)


def _start_fen(fen: str) -> str:
    try:
        board = ReconBoard(fen)
    except (ValueError, IndexError) as error:
        raise BadPosition(f"fen: {quote(fen)}: {str(error)[:120]}") from None
    check_counters(fen, board.halfmoves, board.fullmoves)
    return board.fen()


RBC = RbcVariant()
