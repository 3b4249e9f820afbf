"""A cache of the histories of finished games."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from typing import Any, cast

import msgspec
from msgspec import Raw, Struct

from gmd.games.views import History

#: Size of the cache in bytes: some fifty games as long as the default max_plies, or some thousand usual games.
MAX_BYTES = 32 * 2**20

_encode = msgspec.json.Encoder().encode


class EncodedHistory(Struct, frozen=True, gc=False):
    """A history's parts as JSON (msgspec.Raw), which a reply copies."""

    pgn: str
    moves: list[str]
    record: dict[str, Any] | None
    #: Size of all three in bytes.
    size: int


def encoded(history: Generator[None, None, History]) -> Generator[None, None, EncodedHistory]:
    """Encode a history in steps, as it is made."""
    pgn, moves, record = yield from history
    raw_pgn = Raw(_encode(pgn))
    yield
    raw_moves = Raw(_encode(moves))
    size = len(bytes(raw_pgn)) + len(bytes(raw_moves)) + (0 if record is None else len(cast(Raw, record)))
    return EncodedHistory(cast(str, raw_pgn), cast(list[str], raw_moves), record, size)


class Histories:
    """A cache of encoded histories of games whose ends are durable: they never change, and everyone may see them.

    A live game must never be in this cache: another request could read what it hides.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[int, EncodedHistory] = OrderedDict()
        #: Size of the cached histories in bytes.
        self.size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, game_id: int) -> EncodedHistory | None:
        """Return the history of a game; None if it is not in the cache."""
        found = self._kept.get(game_id)
        if found is not None:
            self._kept.move_to_end(game_id)
        return found

    def keep(self, game_id: int, history: EncodedHistory) -> None:
        """Add the history of a game whose end is durable; the least recently used ones are evicted."""
        self.forget(game_id)
        self._kept[game_id] = history
        self.size += history.size
        while self.size > self._max_bytes:
            self.size -= self._kept.popitem(last=False)[1].size

    def forget(self, game_id: int) -> None:
        """Remove a game that was pruned from the log."""
        if (history := self._kept.pop(game_id, None)) is not None:
            self.size -= history.size
