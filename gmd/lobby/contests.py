"""Contests, each with its latest report, held in memory within limits: by owner and in all, in size, and in rate."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec
import trio
from msgspec import Struct, structs

from gm_protocol.contests import MAX_REPORT, ContestForm, ContestReport, ContestStatus
from gm_protocol.errors import BadRequest
from gm_protocol.options import Variant
from gmd.event_log.interface import LogFailed
from gmd.logger import get_logger
from gmd.players.account import is_registered
from gmd.players.rate_limiter import RateLimiter


class Owner(Struct, frozen=True):
    """Who reports a contest: a registered player, the operator, or a client without a registered player.

    :ivar player: the registered player.
    """

    player: int | None = None
    operator: bool = False

    @classmethod
    def of(cls, player: int | None, *, is_operator: bool) -> Owner:
        """Return the owner of the contests that a request begins."""
        if player is not None and is_registered(player):
            return cls(player)
        return cls(operator=is_operator)

    def digest(self, token: str) -> bytes:
        """Return what identifies a contest of this owner: a digest of 32 bytes, which does not reveal the token."""
        return hashlib.sha256(f"{self.player or 0} {self.operator:d} {token}".encode()).digest()


class ReportSummary(Struct, frozen=True):
    """What lists show of a report."""

    title: str
    form: ContestForm
    variant: Variant
    status: ContestStatus
    planned: int | None
    games: int


class Contest(Struct, frozen=True):
    """A contest.

    :ivar token: identifies it in its owner's requests: :meth:`Owner.digest`.
    :ivar began: when the first report came, in seconds since 1970; ``changed``: the latest one.
    :ivar encoded: the latest report as JSON.
    :ivar summary: what lists show of it.
    """

    contest_id: int
    owner: Owner
    token: bytes
    began: float
    changed: float
    encoded: bytes
    summary: ReportSummary

    @property
    def report(self) -> ContestReport:
        """The latest report."""
        return _decoder.decode(self.encoded)


_decoder = msgspec.json.Decoder(ContestReport)


def summary_of(report: ContestReport) -> ReportSummary:
    """Return what lists show of a report."""
    return ReportSummary(report.title, report.form, report.variant, report.status, report.planned, report.games)


def contest_of(contest_id: int, owner: Owner, token: bytes, began: float, changed: float, encoded: bytes) -> Contest:
    """Return a contest that was stored.

    :raises msgspec.MsgspecError: the report is none.
    """
    return Contest(contest_id, owner, token, began, changed, encoded, summary_of(_decoder.decode(encoded)))


class ContestStore(Protocol):
    """A store of contests. A call returns once its change is durable; calls are made one at a time."""

    async def load(self) -> list[Contest]:
        """Return every contest, in the order of their ids; damaged rows are logged and left out."""

    async def newest_id(self) -> int:
        """Return the highest id of any contest, even one with a damaged row; 0 without contests."""

    async def write(self, changed: Sequence[Contest], gone: Sequence[int]) -> None:
        """Store contests, new ones and changed ones, and remove others, all or nothing.

        :raises LogFailed: it failed; nothing was written, or nobody knows.
        """


class MemoryContests:
    """A store of contests that keeps nothing: :class:`Contests` has them all in memory anyway."""

    async def load(self) -> list[Contest]:
        return []

    async def newest_id(self) -> int:
        return 0

    async def write(self, changed: Sequence[Contest], gone: Sequence[int]) -> None:
        return


logger = get_logger(__name__)

#: The most contests, of all owners: with the longest reports these are 32 MiB. Beyond them, the one whose latest
#: report is the oldest is forgotten, of those of the owner who has the most.
MAX_CONTESTS = 500
#: The most contests of a registered player, of all clients without one together, and of the operator.
MAX_OF_PLAYER, MAX_OF_OTHERS, MAX_OF_OPERATOR = 50, 50, 300
#: Contests that an address may begin in an hour, and reports of a contest in a minute: runners send one a second.
BEGUN_PER_HOUR, REPORTS_PER_MINUTE = 300, 120
#: Seconds between two writes of reports to the disk. A crash loses the later ones, which the next report replaces.
WRITE_SECONDS = 5.0
#: The most contests in one transaction, so that a move never waits long for it.
WRITTEN_AT_ONCE = 16


class Contests:
    """All contests by number. A new one, and one that has ended, is durable before its report is acknowledged."""

    def __init__(self, store: ContestStore) -> None:
        self._store = store
        self._by_id: dict[int, Contest] = {}
        self._by_token: dict[bytes, int] = {}
        self._newest = 0
        self._writing = trio.Lock()
        #: Contests with a report that is not stored yet.
        self._changed: dict[int, None] = {}
        self._some_changed = trio.Event()
        self._begun = RateLimiter("contest", BEGUN_PER_HOUR, 3_600.0, unit="contests")
        self._reports = RateLimiter(
            "contest", REPORTS_PER_MINUTE, 60.0, unit="reports", whose="contest's runner", key=str
        )

    async def start(self) -> None:
        """Read all contests, again if need be."""
        self._by_id.clear()
        self._by_token.clear()
        self._changed.clear()
        for contest in await self._store.load():
            self._keep(contest)
        self._newest = await self._store.newest_id()

    async def run(self) -> None:
        """Store reports every few seconds, until cancelled; then the last ones."""
        try:
            while True:
                await self._some_changed.wait()
                self._some_changed = trio.Event()
                await self._write_logged()
                await trio.sleep(WRITE_SECONDS)
        finally:
            with trio.CancelScope(shield=True):
                await self._write_logged()

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, contest_id: int) -> Contest | None:
        """Return the contest of a number."""
        return self._by_id.get(contest_id)

    def newest_first(self, before: int | None = None) -> Iterator[Contest]:
        """Return all contests, or those with numbers below ``before``."""
        numbers = sorted(self._by_id, reverse=True)
        return (self._by_id[number] for number in numbers if before is None or number < before)

    async def report(self, owner: Owner, token: str, report: ContestReport, peer: str) -> int:
        """Take a report, which begins a contest or replaces its report; return the contest's number.

        :param peer: the client, as host:port; an empty one has no limit on new contests.
        :raises BadRequest: the report is too long.
        :raises TooMany: the address has begun too many contests, or too many reports of this one came.
        :raises LogFailed: a new contest, or the end of one, could not be stored.
        """
        encoded = msgspec.json.encode(report)
        if len(encoded) > MAX_REPORT:
            raise BadRequest(f"report: it has {len(encoded)} bytes, and the most is {MAX_REPORT}: leave out cells")
        digest = owner.digest(token)
        if digest not in self._by_token:
            return await self._begin(owner, digest, report, encoded, peer)
        contest = self._by_id[self._by_token[digest]]
        self._reports.take(str(contest.contest_id))
        self._keep(structs.replace(contest, changed=time.time(), encoded=encoded, summary=summary_of(report)))
        self._changed[contest.contest_id] = None
        if report.status == "running":
            self._some_changed.set()
        else:
            await self._write()
        return contest.contest_id

    async def _begin(self, owner: Owner, digest: bytes, report: ContestReport, encoded: bytes, peer: str) -> int:
        self._begun.take(peer)
        with trio.CancelScope(shield=True):
            async with self._writing:
                if digest not in self._by_token:  # else a repeated request was first
                    await self._add(owner, digest, report, encoded)
        return self._by_token[digest]

    async def _add(self, owner: Owner, digest: bytes, report: ContestReport, encoded: bytes) -> None:
        now, number = time.time(), self._newest + 1
        contest = Contest(number, owner, digest, now, now, encoded, summary_of(report))
        gone = self._superfluous(owner)
        await self._store.write([contest], gone)
        self._newest = number
        for each in gone:
            self._drop(each)
        self._keep(contest)

    def _superfluous(self, owner: Owner) -> list[int]:
        """Return the contests that make room for another one of an owner."""
        stalest = sorted(self._by_id.values(), key=lambda each: (each.changed, each.contest_id))
        own = [each.contest_id for each in stalest if each.owner == owner]
        most = MAX_OF_PLAYER if owner.player is not None else MAX_OF_OPERATOR if owner.operator else MAX_OF_OTHERS
        if len(own) >= most:
            return own[: len(own) - most + 1]
        if len(stalest) < MAX_CONTESTS:
            return []
        counts = Counter(each.owner for each in stalest)
        return [max(stalest, key=lambda each: counts[each.owner]).contest_id]  # of equals the first: the stalest

    def _keep(self, contest: Contest) -> None:
        self._by_id[contest.contest_id] = contest
        self._by_token[contest.token] = contest.contest_id

    def _drop(self, number: int) -> None:
        contest = self._by_id.pop(number)
        del self._by_token[contest.token]
        self._changed.pop(number, None)

    async def _write_logged(self) -> None:
        try:
            await self._write()
        except LogFailed as error:  # they stay changed, and the next report retries
            logger.warning("reports of contests are not stored yet", reason=str(error))

    async def _write(self) -> None:
        """Store all reports that are not stored yet.

        :raises LogFailed: it failed.
        """
        with trio.CancelScope(shield=True):
            while self._changed:
                async with self._writing:
                    now = [self._by_id[number] for number in list(self._changed)[:WRITTEN_AT_ONCE]]
                    await self._store.write(now, [])
                    for contest in now:
                        if self._by_id.get(contest.contest_id) is contest:
                            self._changed.pop(contest.contest_id, None)
