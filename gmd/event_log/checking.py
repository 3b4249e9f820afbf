"""Checks of a log: that every game is whole, keeps the rules, and agrees with its row."""

from __future__ import annotations

import math
from typing import Any, get_args

from gm_protocol.endings import Termination
from gmd.event_log.reading import StoredGame, Unreadable
from gmd.event_log.rows import COLUMNS, status_of, versions_of
from gmd.event_log.utc import is_time
from gmd.games.game import Game
from gmd.games.replay import DoesNotApply, replay


def problem_of(stored: StoredGame | int) -> str | None:
    """Return the first problem of a game; None if there is none.

    :param stored: the game, or the id of a missing game whose events or token exist.
    """
    if not isinstance(stored, StoredGame):  # a damaged id may be no number
        return f"game {stored!r:.80}: the log has events or a token of this game, but not the game"
    try:
        game = replay(stored.game_id, stored.decoded())
    except Unreadable as error:
        return f"game {stored.game_id}, event {error.seq}: {error}"
    except DoesNotApply as error:
        return f"game {stored.game_id}, event {error.seq}: it does not apply: {error}"
    except Exception as error:  # damaged options can have values that no check foresees
        return f"game {stored.game_id}: its events cannot be replayed: {type(error).__name__}: {error}"
    for name, value in row_of(game, len(stored.events)).items():
        if not _same(actual := getattr(stored.row, name), value):
            return f"game {stored.game_id}: its row says that {name} is {actual!r}; its events say {value!r}"
    if (problem := problem_of_row(stored)) is not None:
        return f"game {stored.game_id}: {problem}"
    return _problem_of_end(stored, game)


def problem_of_row(stored: StoredGame) -> str | None:
    """Return the first problem of a game's row that shows without a replay; None if there is none."""
    row, of_game = stored.row, "its row says that"
    if row.events != len(stored.events):
        return f"{of_game} events is {row.events!r:.80}; its events say {len(stored.events)}"
    if row.termination not in get_args(Termination):
        return f"{of_game} termination is {row.termination!r:.80}"
    for name in ("changed", "ended"):
        if (value := getattr(row, name)) is not None and not is_time(value):
            return f"{of_game} {name} is {value!r:.80}, which is not a time"
    return None


def row_of(game: Game, count: int) -> dict[str, Any]:
    """Return the columns of a game's row that follow from its events."""
    created, summary = game.created, game.summary()
    return {
        "variant": created.options.variant,
        **dict(zip(COLUMNS, game.seating, strict=True)),
        "created": created.created,
        **versions_of(created),
        "clocked": created.options.clock is not None,
        "status": status_of(summary),
        "termination": summary.termination,
        "events": count,
        "turn": summary.turn,
        "ply_index": summary.ply_index,
        "seconds_left": summary.seconds_left,
    }


def _same(actual: object, expected: object) -> bool:
    """Return whether a column has a value. A database may round a number from a text in the last digit."""
    if isinstance(actual, float) and isinstance(expected, float):
        return math.isclose(actual, expected, rel_tol=1e-12, abs_tol=1e-12)
    return actual == expected


def _problem_of_end(stored: StoredGame, game: Game) -> str | None:
    """Return the first problem in the columns about a game's end that do not follow from its events alone."""
    row, of_game = stored.row, f"game {stored.game_id}: its row says that"
    for name in ("white_open", "black_open"):
        if getattr(row, name) not in (False, True):
            return f"{of_game} {name} is {getattr(row, name)!r:.80}"
    if (row.ended is not None) != game.over:
        return f"{of_game} it ended at {row.ended!r}; its events say that it is {'over' if game.over else 'live'}"
    if not game.over and not (row.white_open and row.black_open):
        return f"{of_game} a player has been shown the end; its events say that it is live"
    return None
