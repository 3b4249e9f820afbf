"""A whole log as one file of JSON lines, from which an empty log becomes the same, row by row, in SQLite or PostgreSQL.

docs/reference/files.md describes the format. It follows the tables, and asks what rows mean only to replay games.
"""

from __future__ import annotations

import math
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from heapq import merge
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
from msgspec import Meta, Struct
from sqlalchemy import BigInteger, Boolean, Column, Connection, Float, Integer, LargeBinary, Table, delete, insert, text

from gmd.event_log.checking import problem_of
from gmd.event_log.damage import DamagedRow, any_text
from gmd.event_log.directory import BOTS_TOKEN, SESSION_KEY, DataError, write_private
from gmd.event_log.last_commit import FILE_NAME as LAST_COMMIT
from gmd.event_log.last_commit import read_last_commit
from gmd.event_log.migrations import HEAD
from gmd.event_log.reading import StoredGame
from gmd.event_log.sql import SqlStore
from gmd.event_log.store import LAST_GAME_ID
from gmd.event_log.tables import contests, events, games, metadata, players, retired, secrets, tokens
from gmd.lobby.contest_sql import read_contest
from gmd.players.sql import account_of
from gmd.version import VERSION

#: The version of the format.
FORMAT = 1
_BEGINNING = b'{"gmd_log":'
#: The tables whose rows belong to a game: all rows of a game are in one line, and none of them if one is damaged.
OF_GAMES = (games, tokens, events)
#: Secrets that a log needs elsewhere, by the file of the data directory that has them where there is no PostgreSQL: the
#: bots keep their names, and visitors stay signed in.
SECRET_FILES = {"bots": BOTS_TOKEN, "pages": SESSION_KEY}
#: Rows fetched at once, and the bytes of the file whose rows are inserted at once.
FETCHED_ROWS = 500
BATCH_BYTES = 4 << 20

#: What reads a row as the daemon does, of each table beside the games.
READERS: Mapping[Table, Callable[[Mapping[str, Any]], Any]] = {players: account_of, contests: read_contest}

_encode = msgspec.json.Encoder().encode


class Header(Struct, forbid_unknown_fields=True):
    """The first line. ``revision`` is that of the schema whose tables follow."""

    gmd_log: int
    gmd: str
    revision: str


def _type(column: Column[Any]) -> Any:
    """Return the type of a column's values, in every database and in JSON, where bytes are base64."""
    kind = column.type
    if isinstance(kind, Boolean):
        found: Any = bool
    elif isinstance(kind, Float):
        found = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]  # neither infinite nor NaN
    elif isinstance(kind, Integer):
        limit = 1 << (63 if isinstance(kind, BigInteger) else 31)
        found = Annotated[int, Meta(ge=-limit, le=limit - 1)]
    elif isinstance(kind, LargeBinary):
        found = bytes
    else:  # PostgreSQL takes no NUL
        found = Annotated[str, Meta(max_length=getattr(kind, "length", None), pattern=r"\A[^\0]*\Z")]
    return found | None if column.nullable else found


#: All tables by their names, and the type of a row of each.
_TABLES: Mapping[str, Table] = {str(table.name): table for table in (*metadata.sorted_tables, secrets)}
_ROWS: Mapping[str, type[Any]] = {
    name: msgspec.defstruct(name, [(str(one.name), _type(one)) for one in table.columns], forbid_unknown_fields=True)
    for name, table in _TABLES.items()
}
_FLAGS: Mapping[str, list[str]] = {
    name: [str(one.name) for one in table.columns if isinstance(one.type, Boolean)] for name, table in _TABLES.items()
}
_NAMES: Mapping[str, list[str]] = {name: [str(one.name) for one in table.columns] for name, table in _TABLES.items()}
#: A line: rows by their tables; the last line has the number of rows of each table in ``end``.
_Line = msgspec.defstruct(
    "_Line",
    [*((name, list[row], []) for name, row in _ROWS.items()), ("end", dict[str, int] | None, None)],  # type: ignore[valid-type]
    forbid_unknown_fields=True,
)
_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_Line)


def is_whole_log(file: Path) -> bool:
    """Return whether a file begins as one of :func:`write_log`'s.

    :raises OSError: it cannot be read.
    """
    with file.open("rb") as opened:
        return opened.read(len(_BEGINNING)) == _BEGINNING


def write_log(
    connection: Connection,
    directory: Path | None,
    out: BinaryIO,
    left_out: Callable[[str], None],
    advance: Callable[[int], None],
    *,
    replays: bool = False,
) -> None:
    """Write all rows, as they are at one moment.

    :param directory: the data directory; None for a log in PostgreSQL.
    :param left_out: called with a sentence for each damaged row or game that is left out.
    :param advance: called with the number of games written since the last call.
    :param replays: whether every game is replayed, players and contests are read, and what is damaged is left out.
    :raises sqlalchemy.exc.DBAPIError: the rows after some row cannot be read.
    """
    _prepare(connection)
    counts: Counter[str] = Counter()
    last_id = connection.execute(retired.select()).scalar() or 0

    def put(line: Mapping[str, Any]) -> None:
        out.write(_encode(line) + b"\n")

    put({"gmd_log": FORMAT, "gmd": VERSION, "revision": HEAD})
    for game_id, rows in _units(connection, directory):
        line: dict[str, list[Any]] = {}
        problem = None
        for table, row in rows:
            try:
                checked = _checked(table, row)
                if replays and table in READERS:
                    READERS[table](msgspec.structs.asdict(checked))
                line.setdefault(table.name, []).append(checked)
            except (msgspec.ValidationError, DamagedRow) as error:
                if table is tokens:  # its game is whole without it
                    left_out(f"a token of {_name(game_id, rows)} is left out: {error}")
                    continue
                problem = f"{table.name}: {error}"
                break
        if problem is None and not line:  # of a token alone
            continue
        if problem is None and replays and isinstance(game_id, int):
            problem = _problem(game_id, line)
        if problem is not None:
            left_out(f"{_name(game_id, rows)} is left out: {problem}")
            last_id = max(last_id, game_id if isinstance(game_id, int) and game_id <= LAST_GAME_ID else 0)
            continue
        put(line)
        counts.update({name: len(found) for name, found in line.items()})
        advance(int(game_id is not None))
    if last_id:  # no other game gets the id of one that is left out
        put({retired.name: [{"game_id": last_id}]})
        counts[retired.name] = 1
    put({"end": counts})


def _problem(game_id: int, line: Mapping[str, list[Any]]) -> str | None:
    """Return the first problem of a game; None if it is whole."""
    if games.name not in line:
        return "its own row is lost"
    found = [(event.seq, event.event) for event in line.get(events.name, ())]
    problem = problem_of(StoredGame(line[games.name][0], found, None))
    return None if problem is None else problem.removeprefix(f"game {game_id}").lstrip(",: ")


def _prepare(connection: Connection) -> None:
    """Have a transaction live for as long as it takes, and text that is not UTF-8 come as bytes."""
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        driver.text_factory = any_text
    else:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


def _units(connection: Connection, directory: Path | None) -> Iterator[tuple[Any, list[tuple[Table, Sequence[Any]]]]]:
    """Yield the rows of each line, with the game that they belong to; None for no game."""
    for table in _TABLES.values():
        if table not in (*OF_GAMES, retired, secrets):
            for row in _rows(connection, table):
                yield None, [(table, row)]
    for row in _stored_secrets(connection, directory):
        yield None, [(secrets, row)]
    streams = [_numbered(connection, table) for table in OF_GAMES]
    for game_id, found in groupby(merge(*streams, key=itemgetter(0)), itemgetter(0)):
        yield game_id, [(table, row) for _, table, row in found]


def _rows(connection: Connection, table: Table) -> Iterator[Sequence[Any]]:
    """Yield every row as stored, in the order of the keys, those of a game's together."""
    keys = table.primary_key.columns.keys()
    order = ", ".join(["game_id", *keys] if table in OF_GAMES else keys)
    query = text(f"SELECT {', '.join(table.c.keys())} FROM {table.name} ORDER BY {order}")
    options = {"stream_results": True, "yield_per": FETCHED_ROWS}
    with connection.execute(query, execution_options=options) as found:
        yield from found


def _numbered(connection: Connection, table: Table) -> Iterator[tuple[Any, Table, Sequence[Any]]]:
    position = table.c.keys().index("game_id")
    for row in _rows(connection, table):
        game_id = row[position]
        yield game_id if isinstance(game_id, int | float) else math.inf, table, row  # in SQLite's order


def _checked(table: Table, row: Sequence[Any]) -> Any:
    """Return a row that is the same for SQLite and PostgreSQL.

    :raises msgspec.ValidationError: a value was never written to its column.
    """
    values = dict(zip(_NAMES[table.name], row, strict=True))
    for name in _FLAGS[table.name]:
        if values[name] in (0, 1):  # SQLite has numbers
            values[name] = bool(values[name])
    return msgspec.convert(values, _ROWS[table.name], builtin_types=(bytes,))


def _name(game_id: Any, rows: Sequence[tuple[Table, Sequence[Any]]]) -> str:
    if game_id is not None and game_id != math.inf:
        return f"game {game_id}"
    table, row = rows[0]
    return f"row {row[0]!r:.80} of {table.name}"


def _stored_secrets(connection: Connection, directory: Path | None) -> Iterator[tuple[str, bytes]]:
    if directory is None:
        yield from ((name, value) for name, value in _rows(connection, secrets) if name in SECRET_FILES)
        return
    for name, file in SECRET_FILES.items():
        if (directory / file).exists():
            content = (directory / file).read_bytes()
            yield name, content.strip() if file == BOTS_TOKEN else content


def restore_log(store: SqlStore, directory: Path | None, file: Path, advance: Callable[[int], None]) -> Counter[str]:
    """Restore a log from a file of :func:`write_log`'s in one transaction; return the number of rows by table.

    :param store: an empty one.
    :param directory: the data directory; None for a store in PostgreSQL.
    :param advance: called with the number of bytes read since the last call.
    :raises DataError: the file is not whole, or not for this program, or the store has a log.
    :raises OSError: the file cannot be read.
    :raises sqlalchemy.exc.DBAPIError: the store cannot be written.
    """
    with file.open("rb") as lines:
        return store.write_beside(partial(_restore, directory, lines, file, advance))


def _restore(
    directory: Path | None, lines: BinaryIO, file: Path, advance: Callable[[int], None], connection: Connection
) -> Counter[str]:
    _prepare(connection)
    _check_empty(connection, directory)
    _check_header(lines.readline(), file)
    counts: Counter[str] = Counter()
    kept: list[Any] = []
    pending: dict[str, list[Any]] = {}
    end: Mapping[str, int] | None = None
    size = 0
    for number, text_line in enumerate(lines, 2):
        try:
            line = _decoder.decode(text_line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise DataError(f"{file}, line {number}: {error}; nothing was imported") from None
        if end is not None:
            raise DataError(f"{file}, line {number}: it is after the last line; nothing was imported")
        for name in _TABLES:
            pending.setdefault(name, []).extend(getattr(line, name))
        end, size = line.end, size + len(text_line)
        if size >= BATCH_BYTES or end is not None:
            counts.update({name: len(rows) for name, rows in pending.items() if rows})
            kept += pending.pop(secrets.name)
            for name, rows in pending.items():
                if rows:
                    _insert(connection, name, [msgspec.structs.astuple(row) for row in rows])
            pending.clear()
            advance(size)
            size = 0
    if end != counts:
        what = "ends before its last line" if end is None else "has lost rows, or has others"
        raise DataError(f"{file} {what}; nothing was imported")
    _keep(connection, directory, {secret.name: secret.value for secret in kept if secret.name in SECRET_FILES})
    return counts


def _insert(connection: Connection, table: str, rows: list[tuple[Any, ...]]) -> None:
    """Insert rows, as quickly as the database can.

    :raises sqlalchemy.exc.DBAPIError: SQLite refuses them.
    :raises DataError: PostgreSQL refuses them.
    """
    names = _NAMES[table]
    driver: Any = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        marks = ", ".join("?" * len(names))
        connection.exec_driver_sql(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", rows)
        return
    from psycopg import Error

    try:
        with driver.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as stream:
            for row in rows:
                stream.write_row(row)
    except Error as error:
        reason = " ".join(str(error).split())  # libpq's have several lines
        raise DataError(f"{table} cannot be written: {reason}; nothing was imported") from error


def _keep(connection: Connection, directory: Path | None, values: Mapping[str, bytes]) -> None:
    """Store secrets in place of those that a daemon may have made here."""
    for name, value in values.items():
        if directory is not None:
            write_private(directory / SECRET_FILES[name], value)
        else:
            connection.execute(delete(secrets).where(secrets.c.name == name))
            connection.execute(insert(secrets).values(name=name, value=value))


def _check_header(line: bytes, file: Path) -> None:
    """Check that a file was written for this program's schema.

    :raises DataError: it was not.
    """
    try:
        header = msgspec.json.decode(line, type=Header)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise DataError(f"{file}, line 1: {error}; nothing was imported") from None
    if header.gmd_log != FORMAT:
        raise DataError(f"{file} has the format {header.gmd_log}, and this gmd reads {FORMAT}: use gmd {header.gmd}")
    if header.revision != HEAD:
        raise DataError(
            f"{file} has the schema {header.revision}, and this gmd has {HEAD}: import it with gmd {header.gmd}, which "
            "wrote it; if that is an older one, this gmd then brings the log up to date"
        )


def _check_empty(connection: Connection, directory: Path | None) -> None:
    """Check that there is no log yet.

    :raises DataError: there is one, or has been.
    """
    if found := [name for name in metadata.tables if connection.execute(text(f"SELECT 1 FROM {name} LIMIT 1")).first()]:
        raise DataError(f"the log has {', '.join(found)} already; a whole log is imported into an empty one")
    if directory is not None and read_last_commit(directory) is not None:
        raise DataError(
            f"data: {directory} has the file {LAST_COMMIT} of a log whose games are gone; name another directory, or "
            "remove that file"
        )
