"""Reading of a whole log, game by game, with or without a running daemon, in little memory and short transactions.

A long transaction would prevent the checkpoint of a daemon's write-ahead log. Each game is read in one transaction, so
that it is consistent; different games may be read at different moments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, get_args

import msgspec
from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, and_, func, or_, select

from gm_protocol.endings import Result, Termination, read_ending, result_of
from gm_protocol.messages import GameStatus, Variant
from gmd.event_log.damage import OutOfOrder
from gmd.event_log.tables import events, games, tokens
from gmd.games.events import AnyEvent

#: Games read in one transaction. The longest games have about a megabyte of events each.
GAMES_A_SLICE = 16

_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


class GameFilter(NamedTuple):
    """The filter of the games to read; an empty field matches any value."""

    game_ids: Sequence[int] = ()
    players: Sequence[int] = ()
    variants: Sequence[Variant] = ()
    status: GameStatus | None = None
    results: Sequence[Result] = ()
    #: Bounds on ``created``, in its format: at ``since`` or later, and before ``until``.
    since: str | None = None
    until: str | None = None


class StoredGame(NamedTuple):
    """A stored game: its row in the table of games, (number, JSON) of its events, and its token's row."""

    row: Row[Any]
    events: Sequence[tuple[int, str]]
    token: Row[Any] | None

    @property
    def game_id(self) -> int:
        game_id: int = self.row.game_id
        return game_id

    def decoded(self) -> list[AnyEvent]:
        """Return the decoded events.

        :raises Unreadable: one is missing, or is not a valid event.
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
    """A missing or invalid event; the message says which.

    :ivar seq: the number that it has, or should have.
    """

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(why)
        self.seq = seq


class LogReader:
    """A reader of a database of games with this program's schema."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def count(self, wanted: GameFilter) -> int:
        """Return the number of games to read."""
        query = select(func.count()).select_from(games).where(*_conditions(wanted))
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one()

    def games(self, wanted: GameFilter) -> Iterator[StoredGame]:
        """Yield the games in the order of their ids."""
        after: int | None = None
        while True:
            with self._engine.connect() as connection:
                found = _read(connection, _next_games(wanted, after))
            if not found:
                return
            yield from found
            after = _after(found, after)

    def everything(self) -> Iterator[StoredGame | int]:
        """Yield every game, and the id of every missing game that has events or a token, in the order of ids."""
        after: int | None = None
        while True:
            with self._engine.connect() as connection:
                found = _read(connection, _next_games(GameFilter(), after))
                up_to = _after(found, after) if found else None
                strays = _strays(connection, after, up_to)
            both: list[StoredGame | int] = [*found, *strays]
            yield from sorted(both, key=_place)
            if not found:
                return
            after = up_to


def _after(found: Sequence[StoredGame], before: int | None) -> int:
    """Return the id after which the next games are read.

    :raises OutOfOrder: the ids do not ascend, so that the reading might begin again.
    """
    for game in found:
        if before is not None and game.game_id <= before:
            raise OutOfOrder(f"game {game.game_id} follows game {before}")
        before = game.game_id
    return found[-1].game_id


def _place(game: StoredGame | int) -> int:
    """Return the place of a game, or of a missing one, in the order of ids: the first if its id is damaged."""
    game_id = game.game_id if isinstance(game, StoredGame) else game
    return game_id if isinstance(game_id, int) else -1


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
    """Return the games that a query of rows selects, with their events and tokens."""
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
    """Return the ids above ``after`` and up to ``up_to`` that events or tokens have, but no game."""
    found: set[int] = set()
    for table in (events, tokens):
        wanted = [~select(games.c.game_id).where(games.c.game_id == table.c.game_id).exists()]
        if after is not None:
            wanted.append(table.c.game_id > after)
        if up_to is not None:
            wanted.append(table.c.game_id <= up_to)
        found.update(connection.execute(select(table.c.game_id).distinct().where(and_(*wanted))).scalars())
    return found
