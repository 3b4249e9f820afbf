"""The SQL of a batch of appends in an SQLite file: one statement, or a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import chess
import msgspec
from msgspec import Struct

from gm_protocol.endings import ON
from gm_protocol.state import COLOR_NAMES
from gmd.games.game import GameSummary

from .rows import NEW_COLUMNS, new_row, seat_row, token_row
from .seats import has_joined
from .store import GameAppend, ResultDelivered
from .transaction import Statement, Transaction


def _place(struct: type[Struct], name: str) -> int:
    """Return the index of a field in the JSON array of a struct."""
    return struct.__struct_fields__.index(name)


def _at(name: str, field: str | None = None) -> str:
    """Return the SQL for a field of a row, which is the JSON of a :class:`GameAppend`.

    :param field: a field of the game's summary, if ``name`` is that.
    """
    inner = "" if field is None else f"[{_place(GameSummary, field)}]"
    return f"json_extract(value, '$[{_place(GameAppend, name)}]{inner}')"


# A batch is one statement, which is its own transaction: after each statement a thread waits for Python's lock, and in
# a busy server that takes longer than the statement. So the rows come from one JSON text, and a trigger handles each
# row. The row of an existing game is the JSON of its GameAppend. A new game has its row of the table of games in place
# of the token.
_COLUMNS = "game_id, expected, events, turn, ply_index, seconds_left, termination, changed, new_game"
#: The statements that prepare a connection for :func:`transaction_of`.
PREPARATION = (
    f"CREATE TEMP VIEW batch ({_COLUMNS}) AS SELECT {', '.join(['NULL'] * 9)}",
    f"""
CREATE TEMP TRIGGER write_batch INSTEAD OF INSERT ON batch BEGIN
    INSERT INTO games ({", ".join(NEW_COLUMNS)})
        SELECT {", ".join(f"json_extract(new.new_game, '$[{place}]')" for place in range(len(NEW_COLUMNS)))}
        WHERE new.expected = 0;
    UPDATE games
        SET events = new.expected + json_array_length(new.events), turn = new.turn, ply_index = new.ply_index,
            seconds_left = new.seconds_left, changed = iif(ply_index = new.ply_index, changed, new.changed)
        WHERE game_id = new.game_id AND events = new.expected AND new.expected > 0;
    SELECT raise(ABORT, 'a game is not as it was expected') WHERE new.expected > 0 AND changes() = 0;
    UPDATE games SET status = 'over', termination = new.termination, ended = new.changed, changed = new.changed
        WHERE new.termination != '{ON}' AND new.expected > 0 AND game_id = new.game_id;
    INSERT INTO events SELECT new.game_id, new.expected + key, value FROM json_each(new.events);
END
""",
)
_INSERT_BATCH = f"""
INSERT INTO batch
    SELECT {_at("game_id")}, {_at("expected")}, {_at("events")},
        {_at("summary", "turn")}, {_at("summary", "ply_index")}, {_at("summary", "seconds_left")},
        {_at("summary", "termination")}, ?, iif({_at("expected")} = 0, {_at("token")}, NULL)
    FROM json_each(?)
"""
_INSERT_TOKEN = "INSERT INTO tokens (token, game_id, content) VALUES (?, ?, ?)"
_SEAT_COLUMNS = ("player_white", "player_black", "white_taken", "black_taken", "status", "changed")
_UPDATE_SEATS = f"UPDATE games SET {', '.join(f'{name} = ?' for name in _SEAT_COLUMNS)} WHERE game_id = ?"
_UPDATE_DELIVERED: Mapping[chess.Color, str] = {
    side: f"UPDATE games SET {COLOR_NAMES[side]}_open = 0 WHERE game_id = ?" for side in chess.COLORS
}

_encoder = msgspec.json.Encoder()


def transaction_of(appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered], now: float) -> Transaction:
    """Return the transaction that writes a batch on a prepared connection.

    Executing it raises IntegrityError if a game has a conflict.

    :param now: the time, in seconds since 1970.
    :raises gmd.event_log.rows.Missed: a new game's first event is not its creation.
    """
    rows = [append if append.expected else _begun(append, now) for append in appends]
    statements: list[Statement] = []
    if rows:
        statements.append((_INSERT_BATCH, [(now, _encoder.encode(rows).decode())]))
    if tokens := [token_row(append) for append in appends if append.token is not None]:
        statements.append((_INSERT_TOKEN, [(row["token"], row["game_id"], row["content"]) for row in tokens]))
    if seats := [seat_row(append, now) for append in appends if append.expected and has_joined(append)]:
        statements.append((_UPDATE_SEATS, [(*(row[name] for name in _SEAT_COLUMNS), row["id"]) for row in seats]))
    for seat, those in groupby(sorted(delivered, key=attrgetter("seat")), key=attrgetter("seat")):
        statements.append((_UPDATE_DELIVERED[seat], [(each.game_id,) for each in those]))
    return statements


def _begun(append: GameAppend, now: float) -> tuple[Any, ...]:
    """Return the row of a new game for the statement."""
    row = new_row(append, now)
    return append.game_id, 0, append.events, append.summary, [row[name] for name in NEW_COLUMNS]
