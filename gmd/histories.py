"""The histories of finished games that were asked for lately."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from typing import Any, cast

import msgspec
from msgspec import Raw, Struct

from gmd.games.views import History

#: Bytes kept: some fifty games of the default longest length, some thousand of the usual one.
MAX_BYTES = 32 * 2**20

_encode = msgspec.json.Encoder().encode


class EncodedHistory(Struct, frozen=True, gc=False):
    """A history's parts as JSON, which a reply copies."""

    pgn: str
    moves: list[str]
    record: dict[str, Any] | None
    #: Bytes of all three.
    size: int


def encoded(history: Generator[None, None, History]) -> Generator[None, None, EncodedHistory]:
    """Encode a history that is made in steps, in steps."""
    pgn, moves, record = yield from history
    raw_pgn = Raw(_encode(pgn))
    yield
    raw_moves = Raw(_encode(moves))
    size = len(bytes(raw_pgn)) + len(bytes(raw_moves)) + (0 if record is None else len(cast(Raw, record)))
    return EncodedHistory(cast(str, raw_pgn), cast(list[str], raw_moves), record, size)


class Histories:
    """The encoded histories of games whose ends are durable, which change no more; anybody may see them.

    A game that is on never gets in here: what it hides must not be found where another request could meet it.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[int, EncodedHistory] = OrderedDict()
        #: Bytes that are kept.
        self.size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, game_id: int) -> EncodedHistory | None:
        """The history of a game, if it is kept."""
        found = self._kept.get(game_id)
        if found is not None:
            self._kept.move_to_end(game_id)
        return found

    def keep(self, game_id: int, history: EncodedHistory) -> None:
        """Keep the history of a game whose end is durable; those not asked for the longest make room."""
        self.forget(game_id)
        self._kept[game_id] = history
        self.size += history.size
        while self.size > self._max_bytes:
            self.size -= self._kept.popitem(last=False)[1].size

    def forget(self, game_id: int) -> None:
        """Let go of a game that is in the log no more."""
        if (history := self._kept.pop(game_id, None)) is not None:
            self.size -= history.size
