"""The event log in a database that speaks SQL: its tables, and everything that is asked of them.

Nothing in here belongs to one database alone. What one of them does faster is in its own module.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from hashlib import sha256
from threading import Lock
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    Select,
    String,
    Table,
    Text,
    and_,
    bindparam,
    func,
    insert,
    not_,
    or_,
    select,
    true,
    union_all,
    update,
)
from sqlalchemy.exc import IntegrityError

from gm_protocol.messages import GameRow, GameStatus
from gm_protocol.state import RESULTS
from gmd.games.events import AnyEvent, Created, Joined
from gmd.games.game import Standing

from .interface import UNTOLD_SECONDS, Deadline, GameQuery
from .store import Conflicts, Database, GameAppend, Told

#: Most games a player is told of at once that ended without its knowing.
MAX_DUE = 10_000

metadata = MetaData()
#: SQLite makes a key of this very name the row's own number; elsewhere ids have 64 bits.
_GameId = BigInteger().with_variant(Integer(), "sqlite")

games = Table(
    "games",
    metadata,
    Column("game_id", _GameId, primary_key=True, autoincrement=False),
    Column("variant", String(32), nullable=False),
    Column("player_white", BigInteger),
    Column("player_black", BigInteger),
    Column("created", String(32), nullable=False),
    Column("clocked", Boolean, nullable=False),
    # Whether the seat may still have something to attend to: false once its player has been told the end.
    Column("white_open", Boolean, nullable=False),
    Column("black_open", Boolean, nullable=False),
    # Whether somebody has taken the seat: before, its player is the one it is kept for, if any.
    Column("white_taken", Boolean, nullable=False, server_default=true()),
    Column("black_taken", Boolean, nullable=False, server_default=true()),
    Column("status", String(8), nullable=False),
    Column("termination", String(32), nullable=False),
    # These alone change with every move, and no index holds them.
    Column("events", Integer, nullable=False),
    Column("turn", String(8), nullable=False),
    Column("ply_index", Integer, nullable=False),
    Column("seconds_left", Float(53)),
    Column("changed", Float(53), nullable=False),
    Index("games_of_white", "player_white", "status", "game_id"),
    Index("games_of_black", "player_black", "status", "game_id"),
    Index("games_open_to_white", "player_white", "white_open", "status"),
    Index("games_open_to_black", "player_black", "black_open", "status"),
    Index("games_by_status", "status", "game_id"),
    Index("games_with_clocks", "clocked", "status"),
)

events = Table(
    "events",
    metadata,
    Column("game_id", _GameId, primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("event", Text, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    # A digest of player and token: for nobody's tokens, too, are unique.
    Column("token", LargeBinary(32), primary_key=True),
    Column("game_id", _GameId, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

players = Table(
    "players",
    metadata,
    Column("player", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True, autoincrement=False),
    Column("name", String(64), nullable=False),
    # The name in lower case: that is what is unique.
    Column("folded", String(64), nullable=False, unique=True),
    Column("created", String(32), nullable=False),
    # Digests, and a hash that says itself how it was made.
    Column("key", LargeBinary(32)),
    Column("password", String(256)),
    # What a repeated request is known by; gmd.players.account says more.
    Column("nonce", LargeBinary(32)),
    Column("previous", LargeBinary(32)),
    Column("register_token", LargeBinary(32)),
    Column("rekey_token", LargeBinary(32)),
)

_SEATING = ("player_white", "player_black", "white_taken", "black_taken")

_encoder = msgspec.json.Encoder()
_events_decoder = msgspec.json.Decoder(list[AnyEvent])

_ADVANCE = (
    update(games)
    .where(games.c.game_id == bindparam("id"), games.c.events == bindparam("expected"))
    .values({name: bindparam(name) for name in ("events", "turn", "ply_index", "seconds_left", "changed")})
)
_FINISH = (
    update(games).where(games.c.game_id == bindparam("id")).values(status="over", termination=bindparam("termination"))
)
_SEAT = (
    update(games)
    .where(games.c.game_id == bindparam("id"))
    .values({name: bindparam(name) for name in (*_SEATING, "status")})
)
_TOLD = {
    "white": update(games).where(games.c.game_id == bindparam("id")).values(white_open=False),
    "black": update(games).where(games.c.game_id == bindparam("id")).values(black_open=False),
}


class SqlStore:
    """A :class:`~gmd.log.store.Store` in a database whose schema is up to date."""

    def __init__(self, engine: Engine, writer: Engine | None = None) -> None:
        """:param writer: the same database, for transactions that write."""
        self._engine = engine
        self._writer = writer or engine
        self.database = Database(self._writer, Lock())

    def close(self) -> None:
        self._engine.dispose()

    # --- Writing ------------------------------------------------------------------------------------------------

    def write(self, appends: Sequence[GameAppend], told: Sequence[Told]) -> None:
        try:
            with self.database.writing, self._writer.begin() as connection:
                self._write(connection, appends, told)
        except (IntegrityError, _Missed) as error:
            conflicts = self._find_conflicts(appends)
            if not conflicts:
                raise
            raise Conflicts(conflicts) from error

    def _write(self, connection: Connection, appends: Sequence[GameAppend], told: Sequence[Told]) -> None:
        now = time.time()
        begun = [append for append in appends if append.expected == 0]
        advanced = [append for append in appends if append.expected != 0]
        if begun:
            self._begin(connection, begun, now)
        if advanced:
            self._advance(connection, advanced, now)
        if seated := [append for append in advanced if _seats(append)]:
            connection.execute(_SEAT, [_seat_row(append) for append in seated])
        if appends:
            self._insert_events(connection, appends)
        if told:
            _tell(connection, told)

    def _begin(self, connection: Connection, appends: Sequence[GameAppend], now: float) -> None:
        """Add the rows of new games."""
        connection.execute(insert(games), [_new_row(append, now) for append in appends])
        named = [_token_row(append) for append in appends if append.token is not None]
        if named:
            connection.execute(insert(tokens), named)

    def _advance(self, connection: Connection, appends: Sequence[GameAppend], now: float) -> None:
        """Bring rows up to date.

        :raises _Missed: a game is not where it is expected to be.
        """
        values = [
            {
                "id": append.game_id,
                "expected": append.expected,
                "events": append.expected + len(append.events),
                "turn": append.standing.turn,
                "ply_index": append.standing.ply_index,
                "seconds_left": append.standing.seconds_left,
                "changed": now,
            }
            for append in appends
        ]
        check_count(connection.execute(_ADVANCE, values).rowcount, len(values))
        finished = [append for append in appends if append.standing.termination != "available_move"]
        if finished:
            ends = [{"id": append.game_id, "termination": append.standing.termination} for append in finished]
            connection.execute(_FINISH, ends)

    def _insert_events(self, connection: Connection, appends: Sequence[GameAppend]) -> None:
        rows = [
            {"game_id": append.game_id, "seq": seq, "event": _encoder.encode(event).decode()}
            for append in appends
            for seq, event in enumerate(append.events, append.expected)
        ]
        connection.execute(insert(events), rows)

    def _find_conflicts(self, appends: Sequence[GameAppend]) -> dict[int, int]:
        """How many events those games have that are not where they are expected to be, or whose token is taken."""
        conflicts: dict[int, int] = {}
        with self._engine.connect() as connection:
            for append in appends:
                query = select(games.c.events).where(games.c.game_id == append.game_id)
                actual = connection.execute(query).scalar() or 0
                if actual != append.expected or (append.token and _taken(connection, append)):
                    conflicts[append.game_id] = actual
        return conflicts

    # --- Reading ------------------------------------------------------------------------------------------------

    def newest_game_id(self) -> int:
        with self._engine.connect() as connection:
            return connection.execute(select(func.max(games.c.game_id))).scalar() or 0

    def load(self, game_id: int) -> list[AnyEvent]:
        query = select(events.c.event).where(events.c.game_id == game_id).order_by(events.c.seq)
        with self._engine.connect() as connection:
            found = connection.execute(query).scalars().all()
        return _events_decoder.decode(f"[{','.join(found)}]")

    def made_under(self, player: int | None, token: bytes) -> tuple[int, bytes] | None:
        query = select(tokens.c.game_id, tokens.c.content).where(tokens.c.token == _token_key(player, token))
        with self._engine.connect() as connection:
            found = connection.execute(query).one_or_none()
        return None if found is None else (found.game_id, found.content)

    def rows(self, query: GameQuery) -> list[GameRow]:
        with self._engine.connect() as connection:
            return [_row(found) for found in connection.execute(_rows_query(query))]

    def deadlines(self) -> list[Deadline]:
        query = select(games.c.game_id, games.c.seconds_left).where(games.c.status == "live", games.c.clocked)
        with self._engine.connect() as connection:
            return [Deadline(game_id, left) for game_id, left in connection.execute(query)]

    def due(self, player: int) -> list[int]:
        with self._engine.connect() as connection:
            found = connection.execute(_due_query(player, time.time() - UNTOLD_SECONDS)).scalars().all()
        return list(dict.fromkeys(reversed(found)))


class _Missed(Exception):
    """A game's row is not as an append expects it to be."""


def check_count(found: int, wanted: int) -> None:
    """See to it that an update has found all the rows it is for; the transaction is rolled back if not."""
    if found != wanted:
        raise _Missed(f"{found} of {wanted} rows are as they were expected")


def _seats(append: GameAppend) -> bool:
    """Whether somebody takes a seat."""
    return append.standing.seating is not None and any(type(event) is Joined for event in append.events)


def _seat_row(append: GameAppend) -> dict[str, Any]:
    seating = append.standing.seating
    assert seating is not None
    return {"id": append.game_id, "status": _status(append.standing), **dict(zip(_SEATING, seating, strict=True))}


def _status(standing: Standing) -> GameStatus:
    if standing.termination != "available_move":
        return "over"
    return "live" if standing.seating is None or standing.seating.complete else "open"


def _new_row(append: GameAppend, now: float) -> dict[str, Any]:
    created, standing = append.events[0], append.standing
    if not isinstance(created, Created):
        raise _Missed(f"game {append.game_id} does not begin with its creation: it has begun before")
    seating = standing.seating or (created.player_white, created.player_black, True, True)
    return {
        "game_id": append.game_id,
        "variant": created.options.variant,
        **dict(zip(_SEATING, seating, strict=True)),
        "created": created.created,
        "clocked": created.options.clock is not None,
        "white_open": True,
        "black_open": True,
        "status": _status(standing),
        "termination": standing.termination,
        "events": len(append.events),
        "turn": standing.turn,
        "ply_index": standing.ply_index,
        "seconds_left": standing.seconds_left,
        "changed": now,
    }


def _token_key(player: int | None, token: bytes) -> bytes:
    return sha256(b"%b %b" % (str(player).encode(), token)).digest()


def _token_row(append: GameAppend) -> dict[str, Any]:
    token = append.token
    assert token is not None
    key = _token_key(token.player, token.token)
    return {"token": key, "game_id": append.game_id, "content": token.content}


def _taken(connection: Connection, append: GameAppend) -> bool:
    key = _token_row(append)["token"]
    return connection.execute(select(tokens.c.game_id).where(tokens.c.token == key)).first() is not None


def _tell(connection: Connection, told: Iterable[Told]) -> None:
    for seat, statement in _TOLD.items():
        ids = [{"id": each.game_id} for each in told if each.seat == seat]
        if ids:
            connection.execute(statement, ids)


def _rows_query(query: GameQuery) -> Select[Any]:
    """The listing asked for. Of a player's games, each colour's are found by an index of their own."""
    wanted = [games.c.game_id < query.before] if query.before is not None else []
    if query.status is not None:
        wanted.append(games.c.status == query.status)
    if query.variant is not None:
        wanted.append(games.c.variant == query.variant)
    page = select(games).where(*wanted).order_by(games.c.game_id.desc()).limit(query.limit)
    if query.player is None:
        return page
    ids = select(games.c.game_id).where(*wanted).order_by(games.c.game_id.desc()).limit(query.limit)
    seats = [ids.where(seat == query.player).subquery() for seat in (games.c.player_white, games.c.player_black)]
    found = union_all(*(select(seat.c.game_id) for seat in seats))
    return select(games).where(games.c.game_id.in_(found)).order_by(games.c.game_id.desc()).limit(query.limit)


def _row(found: Row[Any]) -> GameRow:
    return GameRow(
        game_id=found.game_id,
        variant=found.variant,
        player_white=found.player_white,
        player_black=found.player_black,
        status=found.status,
        turn=found.turn,
        ply_index=found.ply_index,
        termination=found.termination,
        result=RESULTS[found.termination],
        created=found.created,
    )


def _due_query(player: int, since: float) -> Select[Any]:
    """The ids of the games that wait for a player, the latest first."""
    parts = []
    for color, seat, is_open, taken in (
        ("white", games.c.player_white, games.c.white_open, games.c.white_taken),
        ("black", games.c.player_black, games.c.black_open, games.c.black_taken),
    ):
        to_act = and_(games.c.status == "live", games.c.turn == color)
        to_join = and_(games.c.status == "open", not_(taken))
        untold = and_(games.c.status == "over", games.c.changed > since, taken)
        waits = or_(to_act, to_join, untold)
        parts.append(select(games.c.game_id, games.c.changed).where(seat == player, is_open, waits))
    found = union_all(*parts).subquery()
    return select(found.c.game_id).order_by(found.c.changed.desc(), found.c.game_id.desc()).limit(MAX_DUE)
