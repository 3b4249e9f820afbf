"""Reading a whole log, game by game, beside a daemon or without one: little memory, and no long transaction.

A transaction that lasted would keep a daemon's write-ahead log from being taken up. Each game is read in one, so that
it is whole; two games may be of two moments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, get_args

import msgspec
from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, and_, func, or_, select

from gm_protocol.endings import read_ending, result_of
from gm_protocol.messages import GameStatus, Variant
from gm_protocol.state import Result, Termination
from gmd.games.events import AnyEvent

from .tables import events, games, tokens

#: Games read in one transaction. The longest of games have some megabyte of events each.
GAMES_A_SLICE = 16

_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


class GameFilter(NamedTuple):
    """Which games to read; empty fields leave them open."""

    game_ids: Sequence[int] = ()
    players: Sequence[int] = ()
    variants: Sequence[Variant] = ()
    status: GameStatus | None = None
    results: Sequence[Result] = ()
    #: Created at that time or later, and before that time: as the games' own ``created`` is written.
    since: str | None = None
    until: str | None = None


class StoredGame(NamedTuple):
    """A game as it is stored: its row in the table of games, (number, JSON) of its events, and its token's row."""

    row: Row[Any]
    events: Sequence[tuple[int, str]]
    token: Row[Any] | None

    @property
    def game_id(self) -> int:
        game_id: int = self.row.game_id
        return game_id

    def decoded(self) -> list[AnyEvent]:
        """The events.

        :raises Unreadable: one is missing, or is no event.
        """
        return [self._decode(expected, seq, text) for expected, (seq, text) in enumerate(self.events)]

    def _decode(self, expected: int, seq: int, text: str) -> AnyEvent:
        if seq != expected:
            raise Unreadable(expected, f"it is missing; the next one is {seq}")
        try:
            return _decoder.decode(text)
        except (msgspec.MsgspecError, UnicodeError, TypeError) as error:
            raise Unreadable(seq, f"it cannot be read: {error}: {text!r:.80}") from None


class Unreadable(Exception):
    """An event that is not there or is no event; the message says which.

    :ivar seq: the number it has, or should have.
    """

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(why)
        self.seq = seq


class LogReader:
    """Reads a database of games whose schema is this program's."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def count(self, wanted: GameFilter) -> int:
        """How many games there are to read."""
        query = select(func.count()).select_from(games).where(*_conditions(wanted))
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one()

    def games(self, wanted: GameFilter) -> Iterator[StoredGame]:
        """The games, by their ids."""
        after: int | None = None
        while True:
            with self._engine.connect() as connection:
                found = _read(connection, _next_games(wanted, after))
            if not found:
                return
            yield from found
            after = found[-1].game_id

    def everything(self) -> Iterator[StoredGame | int]:
        """Every game by its id, and the ids of games that have events or a token and are not there."""
        after: int | None = None
        while True:
            with self._engine.connect() as connection:
                found = _read(connection, _next_games(GameFilter(), after))
                up_to = found[-1].game_id if found else None
                strays = _strays(connection, after, up_to)
            both: list[StoredGame | int] = [*found, *strays]
            yield from sorted(both, key=lambda one: one if isinstance(one, int) else one.game_id)
            if not found:
                return
            after = up_to


def _conditions(wanted: GameFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.game_ids:
        found.append(games.c.game_id.in_(wanted.game_ids))
    if wanted.players:
        found.append(or_(*(seat.in_(wanted.players) for seat in (games.c.player_white, games.c.player_black))))
    if wanted.variants:
        found.append(games.c.variant.in_(wanted.variants))
    if wanted.status is not None:
        found.append(games.c.status == wanted.status)
    if wanted.results:
        terminations = [word for word in get_args(Termination) if result_of(read_ending(word)) in wanted.results]
        found.append(games.c.termination.in_(terminations))
    if wanted.since is not None:
        found.append(games.c.created >= wanted.since)
    if wanted.until is not None:
        found.append(games.c.created < wanted.until)
    return found


def _next_games(wanted: GameFilter, after: int | None) -> Select[Any]:
    query = select(games).where(*_conditions(wanted)).order_by(games.c.game_id).limit(GAMES_A_SLICE)
    return query if after is None else query.where(games.c.game_id > after)


def _read(connection: Connection, query: Select[Any]) -> list[StoredGame]:
    """The games of some rows, with all that belongs to them."""
    rows = connection.execute(query).all()
    if not rows:
        return []
    ids = [row.game_id for row in rows]
    found: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for game_id, seq, text in connection.execute(
        select(events).where(events.c.game_id.in_(ids)).order_by(events.c.game_id, events.c.seq)
    ):
        found[game_id].append((seq, text))
    named = {row.game_id: row for row in connection.execute(select(tokens).where(tokens.c.game_id.in_(ids)))}
    return [StoredGame(row, found[row.game_id], named.get(row.game_id)) for row in rows]


def _strays(connection: Connection, after: int | None, up_to: int | None) -> set[int]:
    """The ids, above one and up to another, that events or tokens have and no game does."""
    found: set[int] = set()
    for table in (events, tokens):
        wanted = [~select(games.c.game_id).where(games.c.game_id == table.c.game_id).exists()]
        if after is not None:
            wanted.append(table.c.game_id > after)
        if up_to is not None:
            wanted.append(table.c.game_id <= up_to)
        found.update(connection.execute(select(table.c.game_id).distinct().where(and_(*wanted))).scalars())
    return found
