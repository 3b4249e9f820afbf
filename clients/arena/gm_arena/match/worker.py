"""Plays this machine's games of a match that several machines play, as the server hands them out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import click
import trio

from gm_client.blocking import GmError, PlayedGame, WorkClaim, WorkShare
from gm_client.trio_client import Client

from ..contest import PASSING
from .game import MatchError
from .joining import Joining, played_game
from .plan import Fixture
from .record import Record

#: The most seconds between two requests: so long it takes until the games of other machines show.
POLL_SECONDS = 2.0
#: Seconds for giving the games back at the end.
LEAVING_SECONDS = 5.0
#: Seconds between two requests, where the server has refused one for now.
REFUSED_SECONDS = 1.0
#: The most games in a request.
MOST_PLAYED = 100

Play = Callable[[Fixture], Awaitable[Record]]


class Worker:
    """This machine's part of a match.

    :ivar workers: how many machines play games of it, by the latest reply.
    """

    def __init__(
        self,
        client: Client,
        joining: Joining,
        play: Play,
        keep: Callable[[Record], None],
        learn: Callable[[Sequence[PlayedGame], bool], int | None],
        others: Callable[[int], None] = lambda count: None,
        own: int = 0,
    ) -> None:
        """:param client: a client of its own.
        :param keep: receives each game that was played here and counts.
        :param learn: receives the results of all machines, in the plan's order, and whether to stop at the game after
            which the match is decided; returns its number, if there is one.
        :param others: receives the number of machines, after each reply.
        :param own: how many games this machine played before it was interrupted.
        """
        self._client, self._joining, self._play, self._keep = client, joining, play, keep
        self._learn, self._others, self._own = learn, others, own
        self._playing: dict[int, trio.CancelScope] = {}
        self._ended: dict[int, Record] = {}
        self._known = 0
        self._decided: int | None = None
        self._news = trio.Event()
        self._error: Exception | None = None
        self._refused = False
        self.workers = 0

    async def run(self, plan: Sequence[Fixture], concurrency: int) -> int:
        """Play until the match is decided, or all its games are over; return the number of its games.

        :raises Exception: the exception of a game, or of a request; the games are given back to the other machines.
        """
        over = False
        try:
            async with trio.open_nursery() as nursery:
                try:
                    await self._work(plan, concurrency, nursery)
                    over = True
                except Exception as error:  # raised outside the nursery, which would wrap it in a group
                    self._error = self._error or error
                nursery.cancel_scope.cancel()
        finally:
            if not over:
                await self._leave(len(plan))
        if self._error is not None:
            raise self._error
        return self._known if self._decided is None else self._decided

    async def _work(self, plan: Sequence[Fixture], concurrency: int, nursery: trio.Nursery) -> None:
        while self._error is None:
            self._news = trio.Event()
            share = await self._ask(len(plan), concurrency)
            if share is None:
                await trio.sleep(REFUSED_SECONDS)
                continue
            check_known(self._own, share)
            if self._take(share, len(plan)):
                return
            for number in share["hold"]:
                if number not in self._playing and number not in self._ended:
                    self._playing[number] = trio.CancelScope()
                    nursery.start_soon(self._play_one, plan[number - 1])
            if (share["results"] and self._known < share["over"]) or self._decided is not None:
                continue  # there may be more, or the others do not know the decision
            with trio.move_on_after(min(POLL_SECONDS, self._joining.lease / 4)):
                await self._news.wait()

    async def _ask(self, games: int, want: int, *, leave: bool = False) -> WorkShare | None:
        """Send a request, and take in what became of the games played here; None if the server refuses it for now.

        :raises GmError: the server refuses it for good.
        """
        joining = self._joining
        played = [played_game(self._ended[number]) for number in sorted(self._ended)[:MOST_PLAYED]]
        claim: WorkClaim = {
            "worker": joining.worker,
            "arguments": joining.arguments,
            "games": games,
            "want": want,
            "after": self._known,
            "played": played,
            "decided": self._decided,
            "lease": joining.lease,
            "leave": leave,
        }
        try:
            share = (await self._client.work(joining.token, claim))["share"]
        except GmError as error:
            if error.code not in PASSING:
                raise
            if not self._refused:
                click.echo(f"the server hands out no games now, which is tried again: {error}", err=True)
            self._refused = True
            return None
        self._refused = False
        for game in played:
            record = self._ended.pop(game["number"])
            if game["number"] in share["counted"]:
                self._keep(record)
        self.workers = share["workers"]
        self._others(self.workers)
        return share

    def _take(self, share: WorkShare, games: int) -> bool:
        """Take in a reply; return whether the match is over."""
        for number in self._playing.keys() - set(share["hold"]):
            self._playing[number].cancel()  # another machine has it, or has ended it
        results = [game for game in share["results"] if game["number"] > self._known]
        decided = share.get("decided")
        if decided is None and self._decided is None:
            self._decided = self._learn(results, True)
        elif decided is not None:  # the first machine's word counts, should arithmetic differ between two
            self._learn(results, False)
            self._decided = decided
        if results:
            self._known = results[-1]["number"]
        return self._known >= (games if decided is None else decided)

    async def _play_one(self, fixture: Fixture) -> None:
        with self._playing[fixture.number]:
            try:
                self._ended[fixture.number] = await self._play(fixture)
            except Exception as error:  # raised outside the nursery, which would wrap it in a group
                self._error = self._error or error
        del self._playing[fixture.number]
        self._news.set()

    async def _leave(self, games: int) -> None:
        """Give the games back, and report those that are over, if the server is reachable at once."""
        with trio.CancelScope(shield=True), trio.move_on_after(LEAVING_SECONDS):
            try:
                await self._ask(games, 0, leave=True)
            except Exception as error:  # such as a lost connection: after their lease others get the games anyway
                self._error = self._error or error


def check_known(own: int, share: WorkShare) -> None:
    """Check that the server still knows a match that this machine resumes.

    :param own: games that this machine played before.
    :raises MatchError: the server knows fewer.
    """
    if own > share["over"] and share.get("decided") is None:
        raise MatchError(
            f"the server has forgotten this match: the record here has {own} games of it, and the server "
            f"{share['over']}; begin another one, with another --join and another --json-out"
        )
