"""Checking a log: whether every game is whole, keeps the rules, and stands as its row says."""

from __future__ import annotations

import math
from typing import Any

from gmd.games.game import Game
from gmd.games.replay import DoesNotApply, replay
from gmd.utc import is_time

from .reading import StoredGame, Unreadable
from .seats import COLUMNS, status_of, versions_of


def problem_of(stored: StoredGame | int) -> str | None:
    """The first thing that is wrong with a game; None if nothing is.

    :param stored: the game, or the id of one that is not there though something of it is.
    """
    if isinstance(stored, int):
        return f"game {stored}: events or a token of a game that is not there"
    try:
        game = replay(stored.game_id, stored.decoded())
    except Unreadable as error:
        return f"game {stored.game_id}, event {error.seq}: {error}"
    except DoesNotApply as error:
        return f"game {stored.game_id}, event {error.seq}: it does not apply: {error}"
    except Exception as error:  # damaged options can be such as no check was thought of for
        return f"game {stored.game_id}: its events cannot be replayed: {type(error).__name__}: {error}"
    for name, value in row_of(game, len(stored.events)).items():
        if not _same(actual := getattr(stored.row, name), value):
            return f"game {stored.game_id}: its row says that {name} is {actual!r}; its events say {value!r}"
    return _problem_of_end(stored, game)


def row_of(game: Game, count: int) -> dict[str, Any]:
    """What the row of a game says that its events say too."""
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
    """Whether a column has a value. A database may round what it takes out of a text, in the last digit."""
    if isinstance(actual, float) and isinstance(expected, float):
        return math.isclose(actual, expected, rel_tol=1e-12, abs_tol=1e-12)
    return actual == expected


def _problem_of_end(stored: StoredGame, game: Game) -> str | None:
    """What is wrong with what the row says of a game's end beside what the events say."""
    row, of_game = stored.row, f"game {stored.game_id}: its row says that"
    for name in ("changed", "ended"):
        if (value := getattr(row, name)) is not None and not is_time(value):
            return f"{of_game} {name} is {value!r:.80}, which is no time"
    for name in ("white_open", "black_open"):
        if getattr(row, name) not in (False, True):
            return f"{of_game} {name} is {getattr(row, name)!r:.80}"
    if (row.ended is not None) != game.over:
        return f"{of_game} it ended at {row.ended!r}; its events say that it is {'over' if game.over else 'live'}"
    if not game.over and not (row.white_open and row.black_open):
        return f"{of_game} a player has been told the end; its events say that it is live"
    return None
