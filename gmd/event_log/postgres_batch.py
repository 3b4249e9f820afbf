"""The SQL of a batch of appends in PostgreSQL: always one statement, which is its own transaction.

It first locks what it relies on: the term of the server, and the games that have as many events as expected. Unless all
of them are there it writes nothing, and says what was there. A new game whose id or token is taken raises a unique
violation, after which nothing is written either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import chess
import msgspec
from msgspec import Struct

from gm_protocol.endings import ON

from .rows import NEW_COLUMNS, new_row, seat_row, token_row
from .seats import has_joined
from .store import FENCE, GameAppend, ResultDelivered

#: The time of a write in seconds since 1970, by the database's clock.
NOW = "extract(epoch FROM clock_timestamp())::float8"

_TYPES = {
    **dict.fromkeys(("game_id", "player_white", "player_black"), "bigint"),
    **dict.fromkeys(("white_version", "black_version", "events", "ply_index", "expected"), "integer"),
    **dict.fromkeys(("white_taken", "black_taken", "clocked", "white_open", "black_open", "seated"), "boolean"),
    **dict.fromkeys(("seconds_left", "changed", "ended"), "float8"),
}
#: The columns that the statement fills by the database's clock.
_TIMES = ("changed", "ended")
_CREATED_COLUMNS = tuple(name for name in NEW_COLUMNS if name not in _TIMES)


class _Changed(Struct):
    """The changes of an existing game's row. ``seated`` says whether those of its seats are given."""

    game_id: int
    expected: int
    events: int
    turn: str
    ply_index: int
    seconds_left: float | None
    termination: str
    seated: bool = False
    status: str | None = None
    player_white: int | None = None
    player_black: int | None = None
    white_taken: bool | None = None
    black_taken: bool | None = None


class Batch(NamedTuple):
    """A statement with its parameters, and what it must find."""

    sql: str
    parameters: dict[str, Any]
    #: The number of existing games that must be as expected.
    changed: int


_encoder = msgspec.json.Encoder()


def batch_of(appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered], term: int) -> Batch:
    """Return the statement that writes a batch.

    Its one row says whether the term is still this one, by a number, and has the number of games that were as expected.

    :raises gmd.event_log.rows.Missed: a new game's first event is not its creation.
    """
    created = [new_row(append, 0.0) for append in appends if not append.expected]
    changed = [_changed(append) for append in appends if append.expected]
    tokens = [token_row(append) for append in appends if append.token is not None]
    parameters: dict[str, Any] = {"term": term}
    if created:
        parameters["created"] = _json([{name: row[name] for name in _CREATED_COLUMNS} for row in created])
    if changed:
        parameters |= {"changed": _json(changed), "changed_count": len(changed)}
    if appends:
        numbered = [(append.game_id, seq) for append in appends for seq in _numbers(append)]
        parameters["event_games"] = _array(game_id for game_id, _ in numbered)
        parameters["event_seqs"] = _array(seq for _, seq in numbered)
        parameters["event_texts"] = _json([_json(event) for append in appends for event in append.events])
    if tokens:
        parameters["token_keys"] = _bytes_array(row["token"] for row in tokens)
        parameters["token_games"] = _array(row["game_id"] for row in tokens)
        parameters["token_contents"] = _bytes_array(row["content"] for row in tokens)
    for seat, name in ((chess.WHITE, "shown_white"), (chess.BLACK, "shown_black")):
        if delivered:
            parameters[name] = _array(each.game_id for each in delivered if each.seat == seat)
    sql = statement_for(bool(created), bool(changed), bool(appends), bool(tokens), bool(delivered))
    return Batch(sql, parameters, len(changed))


def _changed(append: GameAppend) -> _Changed:
    summary = append.summary
    row = _Changed(
        append.game_id,
        append.expected,
        len(append.events),
        summary.turn,
        summary.ply_index,
        summary.seconds_left,
        summary.termination,
    )
    if has_joined(append):
        seats = seat_row(append, 0.0)
        row.seated, row.status = True, seats["status"]
        row.player_white, row.player_black = seats["player_white"], seats["player_black"]
        row.white_taken, row.black_taken = seats["white_taken"], seats["black_taken"]
    return row


def _numbers(append: GameAppend) -> range:
    return range(append.expected, append.expected + len(append.events))


def _json(value: object) -> str:
    return _encoder.encode(value).decode()


def _array(numbers: Iterable[int]) -> str:
    """Return the text of an array of numbers: its type does not depend on their size, as a driver's would."""
    return f"{{{','.join(map(str, numbers))}}}"


def _bytes_array(values: Iterable[bytes]) -> str:
    """Return the text of an array of byte strings."""
    return "{" + ",".join(f'"\\\\x{value.hex()}"' for value in values) + "}"


_HELD = f"held AS MATERIALIZED ({FENCE})"
_CHANGED = f"""changed AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(changed)s::json)
        AS c ({", ".join(f"{name} {_TYPES.get(name, 'text')}" for name in _Changed.__struct_fields__)})
), expected AS MATERIALIZED (
    SELECT g.game_id FROM games AS g JOIN changed AS c ON g.game_id = c.game_id AND g.events = c.expected
        ORDER BY g.game_id FOR NO KEY UPDATE OF g
)"""
_CREATE = f"""create_games AS (
    INSERT INTO games ({", ".join(_CREATED_COLUMNS)}, changed, ended)
        SELECT {", ".join(_CREATED_COLUMNS)}, {NOW}, CASE WHEN status = 'over' THEN {NOW} END
        FROM json_to_recordset(%(created)s::json)
            AS c ({", ".join(f"{name} {_TYPES.get(name, 'text')}" for name in _CREATED_COLUMNS)})
        WHERE (SELECT holds FROM checked)
)"""
# A row is changed once in a statement, so that all of its changes are in one. A sense or a first contact must not show
# in the time of the last change.
_CHANGE = f"""change_games AS (
    UPDATE games AS g SET
        events = c.expected + c.events, turn = c.turn, ply_index = c.ply_index, seconds_left = c.seconds_left,
        changed = CASE
            WHEN c.ply_index <> g.ply_index OR c.termination <> '{ON}' OR c.seated THEN {NOW} ELSE g.changed
        END,
        status = CASE WHEN c.termination <> '{ON}' THEN 'over' WHEN c.seated THEN c.status ELSE g.status END,
        termination = CASE WHEN c.termination <> '{ON}' THEN c.termination ELSE g.termination END,
        ended = CASE WHEN c.termination <> '{ON}' THEN {NOW} ELSE g.ended END,
        player_white = CASE WHEN c.seated THEN c.player_white ELSE g.player_white END,
        player_black = CASE WHEN c.seated THEN c.player_black ELSE g.player_black END,
        white_taken = CASE WHEN c.seated THEN c.white_taken ELSE g.white_taken END,
        black_taken = CASE WHEN c.seated THEN c.black_taken ELSE g.black_taken END{{shown}}
    FROM changed AS c WHERE g.game_id = c.game_id AND (SELECT holds FROM checked)
)"""
_OPEN = """{comma}
        white_open = g.white_open AND g.game_id <> ALL (%(shown_white)s::bigint[]),
        black_open = g.black_open AND g.game_id <> ALL (%(shown_black)s::bigint[])"""
_DELIVER = f"""deliver AS (
    UPDATE games AS g SET {_OPEN.format(comma="")}
    WHERE g.game_id = ANY (%(shown_white)s::bigint[] || %(shown_black)s::bigint[])
        AND (SELECT holds FROM checked){{others}}
)"""
# Each event's JSON is a string in the array: \\u0000 is allowed in a text, and not in a JSON that is taken apart.
_EVENTS = """insert_events AS (
    INSERT INTO events (game_id, seq, event)
        SELECT * FROM ROWS FROM (
            unnest(%(event_games)s::bigint[], %(event_seqs)s::integer[]),
            json_array_elements_text(%(event_texts)s::json)
        ) WHERE (SELECT holds FROM checked)
)"""
_TOKENS = """insert_tokens AS (
    INSERT INTO tokens (token, game_id, content)
        SELECT * FROM unnest(%(token_keys)s::bytea[], %(token_games)s::bigint[], %(token_contents)s::bytea[])
        WHERE (SELECT holds FROM checked)
)"""


@cache
def statement_for(created: bool, changed: bool, appends: bool, tokens: bool, delivered: bool) -> str:
    """Return the statement for a batch that has these parts: one that lacks some is cheaper to plan and to run."""
    found = "(SELECT count(*) FROM expected)" if changed else "0"
    held = "(SELECT count(*) FROM held)"
    parts = [_HELD] + [_CHANGED] * changed
    parts.append(
        f"checked AS MATERIALIZED (SELECT {held} = 1 AND {found} = {'%(changed_count)s' if changed else '0'} AS holds)"
    )
    parts += [_CREATE] * created
    parts += [_CHANGE.format(shown=_OPEN.format(comma=",") if delivered else "")] * changed
    others = " AND g.game_id NOT IN (SELECT game_id FROM changed)" if changed else ""
    parts += [_DELIVER.format(others=others)] * delivered + [_EVENTS] * appends + [_TOKENS] * tokens
    return f"WITH {', '.join(parts)} SELECT {held}, {found}"
