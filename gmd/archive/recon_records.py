"""Games that reconchess has saved (``GameHistory``), made into games of the log.

A record names neither its limits nor its times. The limits follow from where it ends. A game that ended on time gets
reconchess's usual clock, of which nothing is charged but all that the late player had left.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import UNSET

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import GmError, quote
from gm_protocol.messages import FIRST_REGISTERED, LAST_REGISTERED, NewGame
from gm_recon import ReconBoard
from gm_recon.history import History, WinReason
from gm_recon.reading import BadHistory, read_json
from gmd.archive.games import BadGame, FileGame, restored
from gmd.event_log.utc import write_time
from gmd.games.chess import CLASSICAL
from gmd.games.events import FORMER_MAX_PLIES, AnyEvent, Created, Ended, Moved, Sensed
from gmd.games.game import Game
from gmd.games.rbc import PASS, RECON_REVERSIBLE_MOVES
from gmd.games.replay import DoesNotApply, replay
from gmd.games.variants import resolve

#: The ends that a player caused at any moment, also while the rules ended the game.
_BY_A_PLAYER = {WinReason.TIMEOUT: Cause.TIMEOUT, WinReason.RESIGN: Cause.RESIGNATION}


def read_recon_game(text: str, players: Iterable[int | None]) -> FileGame:
    """Return the game of a record.

    :param players: White's and Black's id; the record has names only.
    :raises BadGame: it cannot be imported.
    """
    now = time.time()
    try:
        saved = read_json(text).history
        white, black = (_player(seat, player) for seat, player in zip(("white", "black"), players, strict=True))
        history = _without_late_capture(saved)
        events = [_created(history, white, black, now), *_events_of(history)]
        game = replay(0, events)
    except (BadHistory, DoesNotApply, GmError) as error:
        raise BadGame(str(error)) from None
    _check(game, history)
    note = None if history is saved else "its last move is left out: a king was captured after the game had ended"
    return FileGame(restored(game, events, now if game.over else None), note)


def _player(seat: str, player: int | None) -> int:
    if player is None:
        raise BadGame(f"a game of reconchess's names no player id; give --{seat} ID for this seat's player")
    if not -(2**63) <= player < 2**63 or FIRST_REGISTERED <= player <= LAST_REGISTERED:
        raise BadGame(f"{seat}: {player} is not an id that an unregistered player may have")
    return player


def _without_late_capture(history: History) -> History:
    """Return a record without a last move that captures a king, if it did not end by that.

    reconchess carries out the move of a player whose time ran out before it, or whose program failed after it.
    """
    if history.win_reason not in _BY_A_PLAYER or not history.turns:
        return history
    *turns, last = history.turns
    before = History(history.start_fen, turns, [last.sense], history.winner, history.win_reason)
    captured = last.capture_square
    return before if captured is not None and before.board().has_king(captured) else history


class _Limits(NamedTuple):
    reversible_moves: int | None
    max_turns: int | None
    max_plies: int


def _limits_of(history: History) -> _Limits:
    """Return limits under which a game goes on until its record ends, and ends there as the record says.

    They are the usual ones as far as these allow it.
    """
    board, halfmoves = ReconBoard(history.start_fen), []
    for turn in history.turns:
        halfmoves.append(board.halfmoves)
        board.push(turn.taken, turn.capture_square)
    halfmoves.append(board.halfmoves)
    plies, usual = len(history.turns), max(halfmoves) < RECON_REVERSIBLE_MOVES
    reversible, longest = RECON_REVERSIBLE_MOVES if usual else None, max(FORMER_MAX_PLIES, plies + 1)
    if history.win_reason is WinReason.MOVE_LIMIT:
        return _Limits(max(1, board.halfmoves), None, longest)
    if history.win_reason is not WinReason.TURN_LIMIT:
        return _Limits(reversible, None, longest)
    if board.turn and board.fullmoves > 1:
        return _Limits(reversible, board.fullmoves - 1, longest)
    return _Limits(reversible, None, max(1, plies))  # within a full turn, a server's limit on plies ends a game


def _created(history: History, white: int, black: int, now: float) -> Created:
    limits = _limits_of(history)
    request = NewGame(
        player_white=white,
        player_black=black,
        variant="rbc",
        fen=history.start_fen,
        clock=UNSET if history.win_reason is WinReason.TIMEOUT else None,
        reversible_moves=limits.reversible_moves,
        max_turns=limits.max_turns,
    )
    options = resolve(request, {}, CLASSICAL, strict=False)
    return Created(white, black, options, write_time(now), max_plies=limits.max_plies)


def _events_of(history: History) -> list[AnyEvent]:
    """Return the events of a game after its creation."""
    events: list[AnyEvent] = []
    for turn in history.turns:
        events += [Sensed(turn.sense), Moved(PASS if turn.requested is None else turn.requested.uci())]
    events += [Sensed(square) for square in history.unfinished]
    if history.win_reason is not None and (cause := _BY_A_PLAYER.get(history.win_reason)) is not None:
        ending = Ending(cause, winner=bool(history.winner))
        events.append(Ended.of(ending, seat=ending.loser, asked=ending.termination))
    return events


def _check(game: Game, history: History) -> None:
    """Check that a game ends as its record says.

    :raises BadGame: it does not.
    """
    played = game.recon_history()
    assert played is not None, "a game of rbc"
    if (played.winner, played.win_reason) != (history.winner, history.win_reason):
        ends = "goes on" if played.win_reason is None else f"ends by {played.win_reason.name}"
        said = "that it goes on" if history.win_reason is None else quote(history.win_reason.name)
        raise BadGame(f"win_reason: the record says {said}, but with its moves the game {ends}")
    if [turn.taken for turn in played.turns] != [turn.taken for turn in history.turns]:
        raise BadGame("taken_moves: they do not follow from requested_moves")
