"""The part of the event log that is common to all SQL databases: queries, pruning, and the import of games.

The queries are those of pages of games, of ranked play, and of the lobby when the daemon starts. Each database writes
its batches in its own way, in its own module (:mod:`gmd.event_log.sqlite`).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from math import isfinite
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import msgspec
from sqlalchemy import Connection, Engine, Row, Select, and_, delete, func, insert, not_, or_, select, true, union_all
from sqlalchemy.exc import IntegrityError

from gm_protocol.base import FIRST_REGISTERED, LAST_REGISTERED
from gm_protocol.endings import Ending, read_ending, result_of
from gm_protocol.messages import GameRow, GameStatus
from gmd.event_log.damage import DamagedRow, note_damage
from gmd.event_log.interface import (
    RESULT_SECONDS,
    Deadline,
    GameQuery,
    Playing,
    Pruned,
    Ranked,
    RankedResult,
    Unanswered,
)
from gmd.event_log.rows import Missed, new_row, token_key, token_row
from gmd.event_log.store import LAST_GAME_ID, Conflicts, GameAppend, Restored, ResultDelivered, check_complete
from gmd.event_log.tables import events, games, retired, tokens
from gmd.event_log.utc import is_time, write_time
from gmd.games.events import AnyEvent

_SEATS = (games.c.player_white, games.c.player_black)
#: The values of a row's status.
_STATUSES: Sequence[GameStatus] = ("live", "over", "open")
#: The fields of a listing that equal columns.
_AS_STORED = [name for name in GameRow.__struct_fields__ if name not in ("result", "changed")]


def rows_query(query: GameQuery) -> Select[Any]:
    """Return the query for a listing.

    Each index lists the games of one status and one player or variant, newest first. The page is the newest of the
    first rows in each of these indexes, so few games are read however many there are.
    """
    newest = games.c.game_id.desc()
    wanted = [games.c.game_id < query.before] if query.before is not None else []
    if query.player is None and query.variant is None:
        status = [] if query.status is None else [games.c.status == query.status]
        return select(games).where(*wanted, *status).order_by(newest).limit(query.limit)
    if query.variant is not None:
        # No index holds a computed value. A player has fewer games than a variant, so this forces the player's index.
        variant = games.c.variant if query.player is None else games.c.variant.concat("")
        wanted.append(variant == query.variant)
    ids = select(games.c.game_id).where(*wanted).order_by(newest).limit(query.limit)
    seats = [true()] if query.player is None else [seat == query.player for seat in _SEATS]
    statuses = _STATUSES if query.status is None else [query.status]
    parts = [ids.where(seat, games.c.status == status).subquery() for seat in seats for status in statuses]
    found = union_all(*(select(part.c.game_id) for part in parts))
    return select(games).where(games.c.game_id.in_(found)).order_by(newest).limit(query.limit)


def whole_rows(connection: Connection, found: Iterable[Row[Any]]) -> list[GameRow]:
    """Return rows of the database as a listing shows them; damaged ones are logged and left out."""
    rows: list[GameRow] = []
    for each in found:
        try:
            rows.append(_row_of(each))
        except DamagedRow as damaged:
            note_damage(connection, games.name, each.game_id, str(damaged))
    return rows


def _row_of(found: Row[Any]) -> GameRow:
    try:
        result = result_of(read_ending(found.termination))
    except ValueError:
        raise DamagedRow(f"termination is {found.termination!r:.80}") from None
    if not is_time(found.changed):
        raise DamagedRow(f"changed is {found.changed!r:.80}")
    row = {name: getattr(found, name) for name in _AS_STORED}
    row |= {"result": result, "changed": write_time(found.changed)}
    try:
        return msgspec.convert(row, GameRow, strict=True)
    except msgspec.ValidationError as error:
        raise DamagedRow(str(error)) from None


_IS_RANKED = games.c.white_version.is_not(None)
_WHO = (games.c.player_white, games.c.white_version, games.c.player_black, games.c.black_version)

#: Grouped in the order of the index, which covers the query. A game in progress has no result, nor has one called off.
_RESULTS = select(*_WHO, games.c.termination, func.count()).where(_IS_RANKED).group_by(*_WHO, games.c.termination)
_ON = select(games.c.game_id, games.c.player_white, games.c.player_black).where(
    games.c.status.in_(("live", "open")), _IS_RANKED
)
_WRONG = "player, version or termination of a ranked game is none"


def ranked(connection: Connection) -> Ranked:
    """Return all ranked games; see :meth:`gmd.event_log.interface.EventLog.ranked`."""
    return Ranked(
        _whole_results(connection, connection.execute(_RESULTS)),
        [Playing(*row) for row in connection.execute(_ON)],
    )


def _whole_results(connection: Connection, rows: Iterable[Any]) -> list[RankedResult]:
    """Return counts of games as results, but for those called off; log damaged rows."""
    found: list[RankedResult] = []
    for *who, termination, count in rows:
        try:
            ending = read_ending(termination)
        except ValueError:
            ending, is_whole = None, False
        else:
            is_whole = all(isinstance(number, int) for number in who)
        if not is_whole:
            note_damage(connection, games.name, f"of players {who[0]!r:.20} and {who[2]!r:.20}", _WRONG)
        elif ending is not None and not ending.called_off:
            white, of_white, black, of_black = who
            found.append(RankedResult(white, of_white, black, of_black, ending.winner, count))
    return found


class RankedPart(NamedTuple):
    """Some of the finished ranked games, and when the last of them ended, in seconds since 1970."""

    results: list[RankedResult]
    ended: float


def ranked_span(connection: Connection) -> tuple[int, int]:
    """Return the lowest and the highest id of all ranked games; (1, 0) without any."""
    ends = select(func.min(games.c.game_id), func.max(games.c.game_id)).where(_IS_RANKED)
    first, last = connection.execute(ends).one()
    return (1, 0) if first is None else (first, last)


def ranked_part(connection: Connection, first: int, last: int) -> RankedPart:
    """Return the finished ranked games with ids from ``first`` to ``last``, counted."""
    between = games.c.game_id.between(first, last)
    found = _whole_results(connection, connection.execute(_RESULTS.where(between)))
    ended = select(func.max(games.c.changed)).where(_IS_RANKED, between, games.c.status == "over")
    return RankedPart(found, connection.execute(ended).scalar() or 0.0)


def ranked_result_of(row: Row[Any]) -> RankedResult | None:
    """Return a finished game's result for ratings, from its row; None if it has none."""
    ending = _ending_of(row)
    if row.white_version is None or ending is None or ending.called_off:
        return None
    return RankedResult(row.player_white, row.white_version, row.player_black, row.black_version, ending.winner)


def _ending_of(row: Row[Any]) -> Ending | None:
    """Return how a game ended, from its row; None if it is in progress, or the row is damaged."""
    try:
        return read_ending(row.termination)
    except ValueError:
        return None


#: Most finished games that wait to be shown to a player in one answer.
MAX_DUE = 10_000
#: Most games, and most events, that one step of pruning removes; one game alone may have more events.
PRUNED_GAMES = 100
PRUNED_EVENTS = 1_000

_RETIRED = retired.c.game_id

#: A key that no token has: theirs are digests of 32 bytes.
_PROBE = b"probe"

_events_decoder = msgspec.json.Decoder(list[AnyEvent])

_T = TypeVar("_T")


class SqlStore(ABC):
    """A :class:`~gmd.event_log.store.Store` in a database with the current schema; subclasses add what differs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        #: Returns the time by which finished games are pruned, in seconds since 1970.
        self.pruning_clock: Callable[[], float] = time.time

    def close(self) -> None:
        self._engine.dispose()

    # --- Writing ------------------------------------------------------------------------------------------------

    def write(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> None:
        try:
            self._write(appends, delivered)
        except (IntegrityError, Missed) as error:
            conflicts = self._find_conflicts(appends)
            if conflicts is None:
                raise
            raise conflicts from error

    @abstractmethod
    def _write(self, appends: Sequence[GameAppend], delivered: Sequence[ResultDelivered]) -> None:
        """Write a batch in one transaction.

        :raises Missed: a game has an unexpected number of events, or a token is taken; nothing was written.
        """

    @abstractmethod
    def _insert_events(self, connection: Connection, appends: Sequence[GameAppend]) -> None:
        """Add events to the table of events."""

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[Connection]:
        """Open a transaction that writes: committed at the end, rolled back on an error."""

    def _time(self, connection: Connection) -> float:
        """Return the time that is compared with those in the database, in seconds since 1970."""
        return time.time()

    def probe(self) -> None:
        with self._transaction() as connection:
            write_probe(connection)

    def _find_conflicts(self, appends: Sequence[GameAppend]) -> Conflicts | None:
        """Return the games with another number of events than expected, or a taken token; None if there are none."""
        conflicts: dict[int, int] = {}
        with self._engine.connect() as connection:
            for append in appends:
                query = select(games.c.events).where(games.c.game_id == append.game_id)
                actual = connection.execute(query).scalar() or 0
                is_taken = append.token is not None and _taken(connection, append)
                if is_taken or actual != append.expected:
                    conflicts[append.game_id] = actual
        return Conflicts(conflicts) if conflicts else None

    def restore(self, restored: Sequence[Restored]) -> None:
        """Insert games whose ids are free, in one transaction. A token of another game stays with that game.

        :raises sqlalchemy.exc.IntegrityError: an id is taken. Nothing was inserted.
        """
        with self._transaction() as connection:
            now = self._time(connection)
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

    def patiently(self, read: Callable[[], _T]) -> _T:
        return read()

    def read(self, work: Callable[[Connection], _T]) -> _T:
        with self._engine.connect() as connection:
            return work(connection)

    def newest_game_id(self) -> int:
        with self._engine.connect() as connection:
            queries = (select(func.max(ids)).where(ids <= LAST_GAME_ID) for ids in (games.c.game_id, _RETIRED))
            highest = [connection.execute(query).scalar() for query in queries]
        return max(game_id or 0 for game_id in highest)

    def newest_change(self, up_to: float) -> float | None:
        """Return the latest time, up to a given one, at which a game changed or ended; None if there is none."""
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
        query = query.order_by(games.c.game_id)
        with self._engine.connect() as connection:
            found = connection.execute(query).all()
            return [Deadline(game_id, whole_seconds(connection, game_id, left)) for game_id, left in found]

    def live_games(self) -> int:
        with self._engine.connect() as connection:
            return connection.execute(select(func.count()).where(games.c.status != "over")).scalar() or 0

    def due(self, player: int) -> list[int]:
        with self._engine.connect() as connection:
            found = connection.execute(_due_query(player, self._time(connection) - RESULT_SECONDS)).scalars().all()
        return list(dict.fromkeys(reversed(found)))


def write_probe(connection: Connection) -> None:
    """Insert and delete a row, which makes the database write its page."""
    connection.execute(insert(tokens).values(token=_PROBE, game_id=0, content=b""))
    connection.execute(delete(tokens).where(tokens.c.token == _PROBE))


def whole_seconds(connection: Connection, game_id: int, seconds: object) -> float | None:
    """Return a row's seconds left; None if the value is damaged, because the game itself has them."""
    if seconds is None or (isinstance(seconds, (int, float)) and isfinite(seconds)):
        return seconds
    note_damage(connection, games.name, game_id, f"seconds_left is {seconds!r:.80}")
    return None


def _long_over(connection: Connection, before: float) -> list[Pruned]:
    """Return the games that ended first, up to a time: as many as one step may remove."""
    query = (
        select(games)
        .where(games.c.ended <= before)  # never true for a live game, whose value is null
        .order_by(games.c.ended)
        .limit(PRUNED_GAMES)
        .with_for_update(skip_locked=True)  # a batch may be under way in one; SQLite has one writer, and ignores this
    )
    found: list[Pruned] = []
    size = 0
    for row in connection.execute(query):
        size += row.events
        if found and size > PRUNED_EVENTS:
            break
        found.append(Pruned(row.game_id, (row.player_white, row.player_black), ranked_result_of(row)))
    return found


def _remove(connection: Connection, game_ids: Sequence[int]) -> None:
    """Remove games and their events and tokens, and record that their ids must not be reused."""
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


def _due_query(player: int, since: float) -> Select[Any]:
    """Return a query of the ids of the games that wait for a player, latest first; few finished games are read."""
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


#: No index holds a computed value, so this forces the index by status, which finds few games; an index of players would
#: find very many.
HAS_REGISTERED = or_(*((seat + 0).between(FIRST_REGISTERED, LAST_REGISTERED) for seat in _SEATS))
_AWAITS_CONTACT = and_(games.c.status == "live", games.c.clocked, games.c.seconds_left.is_(None))

_PLAYING = select(games.c.game_id, *_SEATS).where(games.c.status == "live", HAS_REGISTERED)
_UNANSWERED = (
    select(games.c.game_id, events.c.event)
    .join(events, events.c.game_id == games.c.game_id)
    .where(or_(games.c.status == "open", _AWAITS_CONTACT), HAS_REGISTERED)
    .order_by(games.c.game_id, events.c.seq)
)


def playing(connection: Connection) -> list[Playing]:
    """Return every live game of a registered player."""
    return [Playing(*found) for found in connection.execute(_PLAYING)]


def unanswered(connection: Connection) -> list[Unanswered]:
    """Return every game that waits for players; see :meth:`gmd.event_log.interface.EventLog.unanswered`."""
    waiting: list[Unanswered] = []
    for game_id, rows in groupby(connection.execute(_UNANSWERED), key=itemgetter(0)):
        texts = [text for _, text in rows]
        try:
            waiting.append(Unanswered(game_id, _events_decoder.decode(f"[{','.join(texts)}]")))
        except (msgspec.MsgspecError, TypeError) as error:  # TypeError: an event is not text
            note_damage(connection, events.name, f"of game {game_id}", str(error))
    return waiting
