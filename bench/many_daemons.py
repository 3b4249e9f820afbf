"""A simulation of 2 to 64 daemons on one database, with measured costs: where their lobby's owner becomes the limit.

Two cores cannot run that many, so this computes them: each daemon is a processor that does one thing after the other,
and bots ask as fast as they are answered. The database is not part of it, nor is the network.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random

#: Plies of a game, and bots connected to each daemon.
PLIES, BOTS = 80, 32
#: Games that each bot plays; the first are not counted.
GAMES, WARM_UP = 6, 2
SIZES = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Costs:
    """Microseconds of a daemon's processor time: ``python -m bench costs`` measures all of them.

    :ivar local: a durable move at the game's owner.
    :ivar passed_on: what forwarding it costs the daemon that its client is connected to; likewise ``received``, what
        it costs the owner beyond ``local``: less than nothing, as it serves a link instead of many connections.
    :ivar made: making a game, one at a time: with a commit of its own, and a question to the lobby's owner.
    :ivar noted: what the lobby's owner spends on a game that another daemon makes, and on its end: half of both.
    :ivar admitted: what the lobby's owner spends on a game of two seekers at another daemon, which makes it; and
        ``sought`` what that daemon does, both with the two seeks and the acceptance, one after the other.
    :ivar sought_alone: what the lobby's owner spends on such a game if the seekers are connected to it.
    """

    local: float = 225.0
    passed_on: float = 205.0
    received: float = -47.0
    made: float = 1953.0
    noted: float = 676.0
    admitted: float = 3876.0
    sought: float = 6148.0
    sought_alone: float = 4662.0


@dataclass
class Daemon:
    """A processor with a queue."""

    queue: deque[tuple[float, Callable[[], None]]] = field(default_factory=deque)
    busy: bool = False
    worked: float = 0.0


class Cluster:
    """The simulated daemons; the first owns the lobby. Times are in microseconds."""

    def __init__(self, size: int, costs: Costs, *, by_lobby: bool, follow: bool, seed: int = 1) -> None:
        """:param by_lobby: whether all games pass the lobby's owner, as by ``seek``, before the daemon of White's bot
            makes them; otherwise that daemon makes them at once, as by ``new_game``.
        :param follow: whether bots move to the owner of their game.
        """
        self.daemons = [Daemon() for _ in range(size)]
        self.costs, self.by_lobby, self.follow = costs, by_lobby, follow
        self.random = Random(seed)
        self.now = 0.0
        self.moves = 0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def run(self) -> tuple[float, list[float]]:
        """Return the moves a second, and each daemon's share of time at work."""
        bots = [number for number in range(len(self.daemons)) for _ in range(BOTS)]
        self.random.shuffle(bots)
        games = [self._play(white, black) for white, black in zip(bots[::2], bots[1::2], strict=True)]
        for game in games:
            self._go_on(game)
        warm = len(games) * PLIES * WARM_UP
        began, before = 0.0, [0.0] * len(self.daemons)
        while self._events:
            self.now, _, then = heapq.heappop(self._events)
            then()
            if not began and self.moves >= warm:
                began, before = self.now, [daemon.worked for daemon in self.daemons]
                warm = self.moves
            if self.moves >= len(games) * PLIES * (GAMES - 1):  # before the first bots are done
                break
        seconds = (self.now - began) / 1e6
        shares = [(daemon.worked - was) / (self.now - began) for daemon, was in zip(self.daemons, before, strict=True)]
        return (self.moves - warm) / seconds, shares

    def _go_on(self, game: Iterator[tuple[int, float]]) -> None:
        """Queue a game's next piece of work."""
        step = next(game, None)
        if step is not None:
            at, cost = step
            self._queue(at, cost, lambda: self._go_on(game))

    def _queue(self, at: int, cost: float, then: Callable[[], None]) -> None:
        self.daemons[at].queue.append((cost, then))
        if not self.daemons[at].busy:
            self._begin(self.daemons[at])

    def _begin(self, daemon: Daemon) -> None:
        cost, then = daemon.queue.popleft()
        took = cost * self.random.uniform(0.5, 1.5)
        daemon.busy = True
        daemon.worked += took

        def done() -> None:
            daemon.busy = False
            then()
            if daemon.queue and not daemon.busy:
                self._begin(daemon)

        heapq.heappush(self._events, (self.now + took, next(self._order), done))

    def _play(self, white: int, black: int) -> Iterator[tuple[int, float]]:
        """Yield the work of two bots' games: where it is done, and how long it takes."""
        costs = self.costs
        for _ in range(GAMES):
            owner = white
            if self.by_lobby and owner != 0:
                yield 0, costs.admitted
                yield owner, costs.sought
            elif self.by_lobby:
                yield owner, costs.sought_alone
            else:
                if owner != 0:
                    yield 0, costs.noted  # it is asked whether there is room for the game
                yield owner, costs.made
            for ply in range(PLIES):
                entry = owner if self.follow else (white, black)[ply % 2]
                if entry != owner:
                    yield entry, costs.passed_on
                yield owner, costs.local + (costs.received if entry != owner else 0.0)
                self.moves += 1
            if owner != 0:
                self._queue(0, costs.noted, lambda: None)


def measure(costs: Costs | None = None) -> None:
    """Print the table."""
    costs = costs or Costs()
    print(f"simulated: {costs}; games of {PLIES} plies, {BOTS} bots at each daemon")
    for by_lobby in (False, True):
        for follow in (False, True):
            where = "through the lobby's owner (seek)" if by_lobby else "by the daemon of White's bot (new_game)"
            print(f"\ngames made {where}{', and bots follow home' if follow else ''}")
            print(f"{'daemons':>8} {'moves/s':>10} {'of one, each':>13} {'lobby owner':>12} {'others':>8}")
            _table(costs, by_lobby=by_lobby, follow=follow)


def _table(costs: Costs, *, by_lobby: bool, follow: bool) -> None:
    one, limit = 0.0, None
    for size in SIZES:
        speed, shares = Cluster(size, costs, by_lobby=by_lobby, follow=follow).run()
        one = one or speed
        others = sum(shares[1:]) / (size - 1) if size > 1 else shares[0]
        print(f"{size:>8} {speed:>10,.0f} {speed / one / size:>13.2f} {shares[0]:>12.0%} {others:>8.0%}")
        if limit is None and size > 1 and shares[0] > 0.95 and others < 0.8:
            limit = size
    print(f"the lobby's owner is the limit from {limit} daemons on" if limit else "the lobby's owner is not the limit")
