"""The event log in a database that speaks SQL: everything that is asked of its tables.

Nothing in here belongs to one database alone. What one of them does faster is in its own module.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from math import isfinite
from typing import Any, TypeVar

import chess
import msgspec
from sqlalchemy import (
    Connection,
    Engine,
    Select,
    bindparam,
    case,
    delete,
    func,
    insert,
    not_,
    select,
    union_all,
    update,
)
from sqlalchemy.exc import IntegrityError

from gm_protocol.messages import GameRow
from gmd.games.events import AnyEvent

from .damage import note_damage
from .interface import UNTOLD_SECONDS, Deadline, GameQuery, Pruned
from .listing import rows_query, whole_rows
from .ranking import result_of
from .rows import Missed, new_row, seat_row, token_key, token_row
from .seats import COLUMNS, has_joined
from .store import Conflicts, GameAppend, Restored, ResultDelivered, check_complete
from .tables import events, games, retired, tokens

#: Most games a player is told of at once that ended without its knowing.
MAX_DUE = 10_000
#: What one step of pruning removes: so many games at most, and so many events unless one game alone has more.
PRUNED_GAMES = 100
PRUNED_EVENTS = 1_000

_RETIRED = retired.c.game_id
#: The highest id that a game may have: some clients read numbers as doubles. What is above is damaged.
LAST_GAME_ID = (1 << 53) - 1

#: A key that no token has: theirs are digests of 32 bytes.
_PROBE = b"probe"

_encoder = msgspec.json.Encoder()
_events_decoder = msgspec.json.Decoder(list[AnyEvent])

_ADVANCE = (
    update(games)
    .where(games.c.game_id == bindparam("id"), games.c.events == bindparam("expected"))
    .values({name: bindparam(name) for name in ("events", "turn", "ply_index", "seconds_left")})
    # Since when the player to move has had the turn, or to be told the end.
    .values(changed=case((games.c.ply_index == bindparam("ply_index"), games.c.changed), else_=bindparam("changed")))
)
_FINISH = (
    update(games)
    .where(games.c.game_id == bindparam("id"))
    .values({name: bindparam(name) for name in ("termination", "ended", "changed")} | {"status": "over"})
)
_SEAT = (
    update(games)
    .where(games.c.game_id == bindparam("id"))
    .values({name: bindparam(name) for name in (*COLUMNS, "status", "changed")})
)
_TOLD = {
    chess.WHITE: update(games).where(games.c.game_id == bindparam("id")).values(white_open=False),
    chess.BLACK: update(games).where(games.c.game_id == bindparam("id")).values(black_open=False),
}


_T = TypeVar("_T")


class SqlStore:
    """A :class:`~gmd.event_log.store.Store` in a database whose schema is up to date."""

    def __init__(self, engine: Engine, writer: Engine | None = None) -> None:
        """:param writer: the same database, for transactions that write."""
        self._engine = engine
        self._writer = writer or engine
        #: The time that finished games are pruned by, in seconds since 1970.
        self.pruning_clock: Callable[[], float] = time.time

    def look(self) -> None:
        """A database's own module knows what can be the matter."""

    def hurry(self) -> None:
        """Nothing waits here, unless a database's own module makes it."""

    def close(self) -> None:
        self._engine.dispose()

    # --- Writing ------------------------------------------------------------------------------------------------

    def write(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> None:
        try:
            self._write(appends, delivered)
        except (IntegrityError, Missed) as error:
            conflicts = self._find_conflicts(appends)
            if not conflicts:
                raise
            raise Conflicts(conflicts) from error

    def _write(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> None:
        now = time.time()
        begun = [append for append in appends if append.expected == 0]
        advanced = [append for append in appends if append.expected != 0]
        with self._transaction() as connection:
            if begun:
                self._begin(connection, begun, now)
            if advanced:
                self._advance(connection, advanced, now)
            if seated := [append for append in advanced if has_joined(append)]:
                connection.execute(_SEAT, [seat_row(append, now) for append in seated])
            if delivered:
                _note_delivered(connection, delivered)

    def _transaction(self) -> AbstractContextManager[Connection]:
        """A transaction that writes: committed at the end, rolled back where there is an error."""
        return self._writer.begin()

    def _begin(self, connection: Connection, appends: Sequence[GameAppend], now: float) -> None:
        """Add new games, with their events."""
        connection.execute(insert(games), [new_row(append, now) for append in appends])
        self._insert_events(connection, appends)
        named = [token_row(append) for append in appends if append.token is not None]
        if named:
            connection.execute(insert(tokens), named)

    def _advance(self, connection: Connection, appends: Sequence[GameAppend], now: float) -> None:
        """Add the events of games that are there, and bring their rows up to date.

        :raises Missed: a game is not where it is expected to be.
        """
        values = [
            {
                "id": append.game_id,
                "expected": append.expected,
                "events": append.expected + len(append.events),
                "turn": append.summary.turn,
                "ply_index": append.summary.ply_index,
                "seconds_left": append.summary.seconds_left,
                "changed": now,
            }
            for append in appends
        ]
        found = connection.execute(_ADVANCE, values).rowcount
        if found != len(values):
            raise Missed(f"{found} of {len(values)} games are as they were expected")
        self._insert_events(connection, appends)
        finished = [append for append in appends if append.summary.over]
        if finished:
            ends = [
                {"id": append.game_id, "termination": append.summary.termination, "ended": now, "changed": now}
                for append in finished
            ]
            connection.execute(_FINISH, ends)

    def _insert_events(self, connection: Connection, appends: Sequence[GameAppend]) -> None:
        rows = [
            {"game_id": append.game_id, "seq": seq, "event": _encoder.encode(event).decode()}
            for append in appends
            for seq, event in enumerate(append.events, append.expected)
        ]
        connection.execute(insert(events), rows)

    def probe(self) -> None:
        with self._transaction() as connection:  # a row that comes and goes makes the database write its page
            connection.execute(insert(tokens).values(token=_PROBE, game_id=0, content=b""))
            connection.execute(delete(tokens).where(tokens.c.token == _PROBE))

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

    def restore(self, restored: Sequence[Restored]) -> None:
        """Put in games whose ids are free, in one transaction. A token that another game has stays with that one.

        :raises sqlalchemy.exc.IntegrityError: an id is taken. Nothing was put in.
        """
        now = time.time()
        with self._writer.begin() as connection:
            rows = [new_row(game.append, now if game.ended is None else game.ended) for game in restored]
            connection.execute(insert(games), rows)
            self._insert_events(connection, [game.append for game in restored])
            for game in restored:
                if game.token is not None and not _is_kept(connection, game.token[0]):
                    key, content = game.token
                    connection.execute(insert(tokens).values(token=key, game_id=game.append.game_id, content=content))

    def prune(self, seconds: float) -> list[Pruned]:
        now = self.pruning_clock()
        with self._transaction() as connection:
            found = _long_over(connection, now - seconds)
            if found:
                _remove(connection, [game.game_id for game in found])
        return found

    def write_beside(self, work: Callable[[Connection], _T]) -> _T:
        with self._transaction() as connection:
            return work(connection)

    # --- Reading ------------------------------------------------------------------------------------------------

    def read(self, work: Callable[[Connection], _T]) -> _T:
        with self._engine.connect() as connection:
            return work(connection)

    def newest_game_id(self) -> int:
        with self._engine.connect() as connection:
            queries = (select(func.max(ids)).where(ids <= LAST_GAME_ID) for ids in (games.c.game_id, _RETIRED))
            highest = [connection.execute(query).scalar() for query in queries]
        return max(game_id or 0 for game_id in highest)

    def newest_change(self, up_to: float) -> float | None:
        """When a game last went on or ended, of those that did so by a time; None where none did."""
        with self._engine.connect() as connection:
            return connection.execute(select(func.max(games.c.changed)).where(games.c.changed <= up_to)).scalar()

    def load(self, game_id: int) -> list[AnyEvent]:
        query = select(events.c.seq, events.c.event).where(events.c.game_id == game_id).order_by(events.c.seq)
        with self._engine.connect() as connection:
            found = connection.execute(query).all()
            length = connection.execute(select(games.c.events).where(games.c.game_id == game_id)).scalar() or 0
        check_complete(game_id, [seq for seq, _ in found], length)
        return _events_decoder.decode(f"[{','.join(event for _, event in found)}]")

    def made_under(self, player: int | None, token: bytes) -> tuple[int, bytes] | None:
        query = select(tokens.c.game_id, tokens.c.content).where(tokens.c.token == token_key(player, token))
        with self._engine.connect() as connection:
            found = connection.execute(query).one_or_none()
        return None if found is None else (found.game_id, found.content)

    def rows(self, query: GameQuery) -> list[GameRow]:
        with self._engine.connect() as connection:
            return whole_rows(connection, connection.execute(rows_query(query)))

    def deadlines(self) -> list[Deadline]:
        query = select(games.c.game_id, games.c.seconds_left).where(games.c.status == "live", games.c.clocked)
        with self._engine.connect() as connection:
            found = connection.execute(query).all()
            return [Deadline(game_id, _whole_seconds(connection, game_id, left)) for game_id, left in found]

    def live_games(self) -> int:
        with self._engine.connect() as connection:
            return connection.execute(select(func.count()).where(games.c.status != "over")).scalar() or 0

    def due(self, player: int) -> list[int]:
        with self._engine.connect() as connection:
            found = connection.execute(_due_query(player, time.time() - UNTOLD_SECONDS)).scalars().all()
        return list(dict.fromkeys(reversed(found)))


def _whole_seconds(connection: Connection, game_id: int, seconds: object) -> float | None:
    """The seconds that a row says are left; None where it is damaged, for the game itself knows."""
    if seconds is None or (isinstance(seconds, (int, float)) and isfinite(seconds)):
        return seconds
    note_damage(connection, games.name, game_id, f"seconds_left is {seconds!r:.80}")
    return None


def _long_over(connection: Connection, before: float) -> list[Pruned]:
    """The games that ended first, by a time: as many as one step may remove."""
    query = (
        select(games)
        .where(games.c.ended <= before)  # which a live game's never is
        .order_by(games.c.ended)
        .limit(PRUNED_GAMES)
    )
    found: list[Pruned] = []
    size = 0
    for row in connection.execute(query):
        size += row.events
        if found and size > PRUNED_EVENTS:
            break
        found.append(Pruned(row.game_id, (row.player_white, row.player_black), result_of(row)))
    return found


def _remove(connection: Connection, game_ids: Sequence[int]) -> None:
    """Remove games and all that belongs to them, and see to it that their ids stay theirs."""
    for table in (events, tokens, games):
        connection.execute(delete(table).where(table.c.game_id.in_(game_ids)))
    highest = max(game_ids)
    if highest > (connection.execute(select(func.max(_RETIRED))).scalar() or 0):
        connection.execute(delete(retired))
        connection.execute(insert(retired).values(game_id=highest))


def _taken(connection: Connection, append: GameAppend) -> bool:
    return _is_kept(connection, token_row(append)["token"])


def _is_kept(connection: Connection, key: bytes) -> bool:
    return connection.execute(select(tokens.c.game_id).where(tokens.c.token == key)).first() is not None


def _note_delivered(connection: Connection, delivered: Iterable[ResultDelivered]) -> None:
    for seat, statement in _TOLD.items():
        ids = [{"id": each.game_id} for each in delivered if each.seat == seat]
        if ids:
            connection.execute(statement, ids)


def _due_query(player: int, since: float) -> Select[Any]:
    """The ids of the games that wait for a player, the latest first. Of those that are over, few are looked at."""
    parts: list[Select[Any]] = []
    for color, seat, is_open, taken in (
        ("white", games.c.player_white, games.c.white_open, games.c.white_taken),
        ("black", games.c.player_black, games.c.black_open, games.c.black_taken),
    ):
        mine = select(games.c.game_id, games.c.changed).where(seat == player, is_open)
        undelivered = mine.where(games.c.status == "over", games.c.ended > since, taken).order_by(games.c.ended.desc())
        parts.append(mine.where(games.c.status == "live", games.c.turn == color))
        parts.append(mine.where(games.c.status == "open", not_(taken)))
        parts.append(select(undelivered.limit(MAX_DUE).subquery()))
    found = union_all(*parts).subquery()
    return select(found.c.game_id).order_by(found.c.changed.desc(), found.c.game_id.desc()).limit(MAX_DUE)
