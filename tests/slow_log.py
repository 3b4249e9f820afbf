"""A log that delays the durability of what is appended."""

from __future__ import annotations

from typing import Any

from gmd.event_log.batching import Pending
from gmd.event_log.memory import MemoryLog


class SlowLog(MemoryLog):
    """A log whose commits become durable when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = False
        self.commits: list[Pending] = []

    def append(self, game_id: int, expected_seq: int, *others: Any) -> Any:
        commit = super().append(game_id, expected_seq, *others)
        if not self.slow:
            return commit
        self.commits.append(Pending(game_id, expected_seq, others[1]))
        return self.commits[-1]
