"""Shared matches stored in the database of the games.

Every request is one transaction, which is right whoever else works on the match at the same time, in this daemon or in
another one. It locks the games that it reports or holds, in the order of their numbers, then perhaps the match itself,
and only then skips over locked games to find some to hand out: so no two transactions wait for each other.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, and_, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from gm_protocol.work import MAX_LEASE, PlayedGame, WorkShare
from gmd.contests.contest import Owner
from gmd.event_log.database import Database
from gmd.event_log.interface import LogFailed, LogUnreachable
from gmd.event_log.tables import match_games, matches

from .claim import Claim, OtherMatch, difference
from .limits import Kept, superfluous
from .store import MatchesNotWritten

#: Games that are added to a match's table together, when more are needed.
LISTED_AT_ONCE = 64
#: The most results in a reply, and the most games that one transaction removes: a move waits no longer than for these.
MOST_RESULTS, REMOVED_AT_ONCE = 200, 1_000
#: Seconds between two notes that a match is being worked on.
NOTED_SECONDS = 60.0

#: Returns the time, in seconds since 1970, by which leases end.
Clock = Callable[[Connection], float]

_match, _game = matches.c, match_games.c
_T = TypeVar("_T")


def database_time(connection: Connection) -> float:
    """Return the time: by PostgreSQL's clock, which several daemons share, or else by this machine's."""
    if connection.dialect.name != "postgresql":
        return time.time()
    return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())


class SqlMatches:
    """A store of shared matches with a table row for each match, and for each game that has been handed out."""

    def __init__(self, database: Database, clock: Clock = database_time) -> None:
        self._database, self._clock = database, clock

    async def work(self, claim: Claim, *, begin: bool) -> WorkShare | OtherMatch | None:
        return await self._write(partial(_work, claim, begin, self._clock))

    async def sweep(self) -> bool:
        return await self._write(_sweep)

    async def _write(self, work: Callable[[Connection], _T]) -> _T:
        try:
            return await self._database.write(work)
        except LogUnreachable:
            raise
        except LogFailed as error:
            raise MatchesNotWritten(f"the match cannot be written: {error}; send it again") from None


def _work(claim: Claim, begin: bool, clock: Clock, connection: Connection) -> WorkShare | OtherMatch | None:
    now = clock(connection)
    query = select(matches).where(_match.token == claim.token)
    match = connection.execute(query).one_or_none()
    if match is None and begin:
        _begin(connection, claim, now)
        match = connection.execute(query).one()
    if match is None:
        return None
    if found := difference(msgspec.json.decode(match.arguments, type=list[str]), _arguments(claim)):
        return OtherMatch(found)
    return _Transaction(connection, match, claim, now).carry_out()


class _Transaction:
    """One request, being carried out."""

    def __init__(self, connection: Connection, match: Row[Any], claim: Claim, now: float) -> None:
        self._connection, self._claim, self._now = connection, claim, now
        self._id: int = match.match_id
        self._planned: int = match.planned
        self._noted: float = match.changed
        self._decided: int | None = match.decided
        self._of_match = _game.match_id == self._id

    def carry_out(self) -> WorkShare:
        counted = self._count()
        if self._claim.decided is not None and self._decided is None:
            self._decide(self._claim.decided)
        hold = self._renew()
        if self._decided is not None or self._claim.leave:
            self._give_back(hold)
            hold = []
        elif (missing := self._claim.want - len(hold)) > 0:
            hold += self._hand_out(missing)
        if not self._noted <= self._now < self._noted + NOTED_SECONDS:
            self._connection.execute(update(matches).where(_match.match_id == self._id).values(changed=self._now))
        over, workers = self._numbers()
        return WorkShare(
            hold=sorted(hold),
            counted=counted,
            results=self._results(),
            over=over,
            workers=workers,
            decided=self._decided,
        )

    def _count(self) -> list[int]:
        """Lock the worker's games, and store the results of those that are not over; return those that are its own."""
        claim = self._claim
        played = {game.number: game for game in claim.played}
        mine = or_(_game.number.in_(played), and_(_game.worker == claim.worker, _game.result.is_(None)))
        query = select(_game.number, _game.worker, _game.result).where(self._of_match, mine).order_by(_game.number)
        counted: list[int] = []
        for number, worker, result in self._connection.execute(query.with_for_update()).all():
            if (game := played.get(number)) is None:
                continue
            if result is None and (self._decided is None or number <= self._decided):
                self._store(game)
                counted.append(number)
            elif result is not None and worker == claim.worker:
                counted.append(number)
        return counted

    def _store(self, game: PlayedGame) -> None:
        values = {"worker": self._claim.worker, "result": game.result, "game_id": game.game_id, "detail": game.detail}
        self._connection.execute(update(match_games).where(self._of_match, _game.number == game.number).values(values))

    def _decide(self, number: int) -> None:
        """Note that the match is decided after a game, if all games up to that are over and nobody was first."""
        over = select(func.count()).where(self._of_match, _game.number <= number, _game.result.is_not(None))
        if self._connection.execute(over).scalar() != number:
            return
        undecided = (_match.match_id == self._id, _match.decided.is_(None))
        self._connection.execute(update(matches).where(*undecided).values(decided=number))
        self._decided = self._connection.execute(select(_match.decided).where(_match.match_id == self._id)).scalar()

    def _renew(self) -> list[int]:
        """Return the games that the worker holds, with their lease renewed once a good part of it is over."""
        held = (self._of_match, _game.worker == self._claim.worker, _game.result.is_(None))
        rows = self._connection.execute(select(_game.number, _game.until).where(*held)).all()
        until = self._now + self._claim.lease
        if any(not until - self._claim.lease / 4 <= row.until <= until for row in rows):
            self._connection.execute(update(match_games).where(*held).values(until=until))
        return [row.number for row in rows]

    def _give_back(self, numbers: Sequence[int]) -> None:
        if numbers:
            games = update(match_games).where(self._of_match, _game.number.in_(numbers))
            self._connection.execute(games.values(worker=None, until=0.0))

    def _hand_out(self, count: int) -> list[int]:
        """Return games that nobody holds, which the worker holds now; fewer where the plan ends."""
        taken = self._take(count)
        while len(taken) < count and self._list_more(count):
            taken += self._take(count - len(taken))
        return taken

    def _take(self, count: int) -> list[int]:
        """Take games that nobody holds, the first ones in the plan, and skip those that others are taking."""
        query = select(_game.number).where(self._of_match, _game.result.is_(None), _is_free(self._now))
        first = query.order_by(_game.number).limit(count).with_for_update(skip_locked=True)
        numbers = list(self._connection.execute(first).scalars())
        if numbers:
            values = {"worker": self._claim.worker, "until": self._now + self._claim.lease}
            taken = update(match_games).where(self._of_match, _game.number.in_(numbers))
            self._connection.execute(taken.values(values))
        return numbers

    def _list_more(self, count: int) -> bool:
        """Add the next games of the plan to the table; return whether there were any."""
        this = _match.match_id == self._id
        listed: int = self._connection.execute(select(_match.listed).where(this).with_for_update()).scalar_one()
        last = min(self._planned, listed + max(count, LISTED_AT_ONCE))
        if last == listed:
            return False
        rows = [{"match_id": self._id, "number": number, "until": 0.0} for number in range(listed + 1, last + 1)]
        self._connection.execute(insert(match_games), rows)
        self._connection.execute(update(matches).where(this).values(listed=last))
        return True

    def _results(self) -> list[PlayedGame]:
        """Return the results that the worker does not know, in the plan's order, up to the first game in progress."""
        columns = select(_game.number, _game.result, _game.game_id, _game.detail)
        query = columns.where(self._of_match, _game.number > self._claim.after).order_by(_game.number)
        found: list[PlayedGame] = []
        for expected, row in enumerate(self._connection.execute(query.limit(MOST_RESULTS)), self._claim.after + 1):
            if row.number != expected or row.result is None or expected > (self._decided or expected):
                break
            found.append(PlayedGame(number=row.number, result=row.result, game_id=row.game_id, detail=row.detail or ""))
        return found

    def _numbers(self) -> tuple[int, int]:
        """Return how many games are over, and how many workers hold some."""
        going_on = (self._of_match, _game.result.is_(None))
        open_games = self._connection.execute(select(func.count()).where(*going_on)).scalar() or 0
        listed = self._connection.execute(select(_match.listed).where(_match.match_id == self._id)).scalar() or 0
        holding = select(func.count(_game.worker.distinct())).where(*going_on, _game.until > self._now)
        over = listed - open_games if self._decided is None else self._decided
        return max(0, over), self._connection.execute(holding).scalar() or 0


def _is_free(now: float) -> ColumnElement[bool]:
    """Return whether a game's lease is over, or can be none: the clock was set back."""
    return or_(_game.until <= now, _game.until > now + MAX_LEASE)


def _begin(connection: Connection, claim: Claim, now: float) -> None:
    """Begin a match, unless another daemon has done so just now; forget those for which there is no room."""
    stored = connection.execute(select(_match.match_id, _match.player, _match.operator, _match.changed)).all()
    kept = [Kept(row.match_id, Owner(row.player, bool(row.operator)), row.changed) for row in stored]
    if gone := superfluous(kept, claim.owner):
        connection.execute(delete(matches).where(_match.match_id.in_(gone)))
    values = {
        "match_id": secrets.randbits(62),  # never that of a forgotten match, whose games may still be there
        "player": claim.owner.player,
        "operator": claim.owner.operator,
        "token": claim.token,
        "arguments": msgspec.json.encode(_arguments(claim)).decode(),
        "planned": claim.games,
        "listed": 0,
        "began": now,
        "changed": now,
    }
    adding = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    connection.execute(adding(matches).values(values).on_conflict_do_nothing(index_elements=["token"]))


def _arguments(claim: Claim) -> list[str]:
    """Return the arguments that all workers must share; the number of games is one of them."""
    return [*claim.arguments, f"planned={claim.games}"]


def _sweep(connection: Connection) -> bool:
    """Remove some games of matches that are forgotten; return whether there may be more."""
    forgotten = _game.match_id.not_in(select(_match.match_id))
    match_id = connection.execute(select(_game.match_id).where(forgotten).limit(1)).scalar()
    if match_id is None:
        return False
    of_it = _game.match_id == match_id
    query = select(_game.number).where(of_it).order_by(_game.number).limit(REMOVED_AT_ONCE)
    numbers = list(connection.execute(query).scalars())
    connection.execute(delete(match_games).where(of_it, _game.number.in_(numbers)))
    return True
