"""Games that reconchess has saved (``GameHistory``), read for an import."""

from __future__ import annotations

import time

from gm_protocol.endings import Cause, Ending, termination_of
from gm_protocol.errors import GmError, quote
from gm_protocol.messages import FIRST_REGISTERED, LAST_REGISTERED, NewGame
from gm_protocol.state import COLOR_NAMES
from gm_recon.history import History, WinReason
from gm_recon.reading import BadHistory, read_json
from gmd.games.chess_variants import CLASSICAL
from gmd.games.events import AnyEvent, Created, Ended, Moved, Sensed
from gmd.games.game import Game
from gmd.games.rbc import PASS
from gmd.games.replay import DoesNotApply, replay
from gmd.games.setup import resolve
from gmd.utc import write_time

from .games import BadGame, Taken, restored
from .pgn import Seats


def read_recon_game(text: str, seats: Seats) -> Taken:
    """Return a game of reconchess's. Its record has no times, so the game has no clock.

    :param seats: the players; the record has names only.
    :raises BadGame: it cannot be imported.
    """
    now = time.time()
    try:
        history = read_json(text).history
        white, black = (_player(seat, player) for seat, player in zip(("white", "black"), seats, strict=True))
        turns = len(history.turns) // 2 if history.win_reason is WinReason.TURN_LIMIT else None
        request = NewGame(
            player_white=white,
            player_black=black,
            variant="rbc",
            fen=history.start_fen,
            clock=None,
            max_turns=turns,
        )
        options = resolve(request, {}, CLASSICAL, strict=False)
        events = [Created(white, black, options, write_time(now)), *_events_of(history)]
        game = replay(0, events)
    except (BadHistory, DoesNotApply, GmError) as error:
        raise BadGame(str(error)) from None
    _check(game, history)
    return Taken(restored(game, events, now if game.over else None))


def _player(seat: str, player: int | None) -> int:
    if player is None:
        raise BadGame(f"a game of reconchess's names no player id; give --{seat} ID for this seat's player")
    if not -(2**63) <= player < 2**63 or FIRST_REGISTERED <= player <= LAST_REGISTERED:
        raise BadGame(f"{seat}: {player} is not an id that an unregistered player may have")
    return player


def _events_of(history: History) -> list[AnyEvent]:
    """Return the events of a game after its creation.

    :raises BadGame: it ended on time, which a game without a clock cannot.
    """
    events: list[AnyEvent] = []
    for turn in history.turns:
        events += [Sensed(turn.sense), Moved(PASS if turn.requested is None else turn.requested.uci())]
    events += [Sensed(square) for square in history.unfinished]
    if history.win_reason is WinReason.TIMEOUT:
        raise BadGame("it ended on time, and its record has no times to import")
    if history.win_reason is WinReason.RESIGN:
        loser = not history.winner
        resigned = termination_of(Ending(Cause.RESIGNATION, winner=not loser))
        events.append(Ended(resigned, seat=COLOR_NAMES[loser], asked=resigned))
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
