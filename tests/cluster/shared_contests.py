"""A store of contests in memory that several daemons share."""

from __future__ import annotations

from collections.abc import Sequence

from gmd.contests.contest import Contest


class SharedContests:
    """A store of contests in a dictionary."""

    def __init__(self) -> None:
        self._contests: dict[int, Contest] = {}

    async def load(self) -> list[Contest]:
        return [self._contests[number] for number in sorted(self._contests)]

    async def newest_id(self) -> int:
        return max(self._contests, default=0)

    async def write(self, changed: Sequence[Contest], gone: Sequence[int]) -> None:
        self._contests |= {contest.contest_id: contest for contest in changed}
        for number in gone:
            self._contests.pop(number, None)
