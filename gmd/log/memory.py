"""An event log that lives and dies with the process: for tests and embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import trio

from gm_protocol.messages import GameRow
from gmd.games.events import AnyEvent

from .interface import GameQuery, SequenceConflict, TokenUse

#: Rows a listing looks at before it lets others run: some hundred microseconds.
ROWS_A_STEP = 1_000


class Durable:
    """A commit that needs no waiting."""

    done = True

    def then(self, callback: Callable[[], None]) -> None:
        callback()

    async def wait(self) -> None:
        return


_DURABLE = Durable()


class MemoryLog:
    """Every event in a list."""

    def __init__(self) -> None:
        self._events: dict[int, list[AnyEvent]] = {}
        self._rows: dict[int, Callable[[], GameRow]] = {}
        self._tokens: dict[tuple[int | None, bytes], tuple[int, bytes]] = {}
        self._last_id = 0

    def next_game_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def append(
        self,
        game_id: int,
        expected_seq: int,
        events: Sequence[AnyEvent],
        row: Callable[[], GameRow],
        token: TokenUse | None = None,
    ) -> Durable:
        logged = self._events.get(game_id)
        if logged is None:
            logged = self._events[game_id] = []
        if len(logged) != expected_seq:
            raise SequenceConflict(game_id, expected_seq, len(logged))
        logged.extend(events)
        self._rows[game_id] = row
        if token is not None:
            self._tokens[token.player, token.token] = (game_id, token.content)
        return _DURABLE

    async def load(self, game_id: int) -> list[AnyEvent]:
        return list(self._events.get(game_id, ()))

    async def made_under(self, player: int | None, token: bytes) -> tuple[int, bytes] | None:
        return self._tokens.get((player, token))

    async def rows(self, query: GameQuery) -> list[GameRow]:
        found: list[GameRow] = []
        newest = self._last_id if query.before is None else min(query.before - 1, self._last_id)
        for looked_at, game_id in enumerate(range(newest, 0, -1), 1):
            make_row = self._rows.get(game_id)
            if make_row is not None and _matches(row := make_row(), query):
                found.append(row)
                if len(found) == query.limit:
                    break
            if looked_at % ROWS_A_STEP == 0:
                await trio.lowlevel.checkpoint()
        return found


def _matches(row: GameRow, query: GameQuery) -> bool:
    return (
        (query.player is None or query.player in (row.player_white, row.player_black))
        and query.status in (None, row.status)
        and query.variant in (None, row.variant)
    )
