"""The games of the shards that a daemon gains and loses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from gmd.arbiter import Arbiter
from gmd.cluster.game_ids import GameIds
from gmd.cluster.handed_clocks import HandedClocks, ShardClocks
from gmd.cluster.shards import SHARDS, shard_of
from gmd.cluster.tenure import Tenure
from gmd.event_log.database import Database

if TYPE_CHECKING:
    from gmd.event_log.shard_state import ShardState

#: Sends clocks to the daemon that gets their shards, and returns when it has them, or cannot be reached.
SendClocks = Callable[[int, HandedClocks], Awaitable[None]]


class ShardGames:
    """Has an arbiter take games over from other daemons, and hand them over to others.

    An owner that hands a shard over says how much time its games have left until their deadlines. When the owner has
    died, the log has that of the last move: nobody is charged for the time since.
    """

    def __init__(
        self, arbiter: Arbiter, ids: GameIds, database: Database, tenure: Tenure, send: SendClocks | None = None
    ) -> None:
        """:param ids: gives the arbiter's new games their ids.
        :param database: the games'.
        :param send: without it, clocks that are handed over go on as after the death of their owner.
        """
        self._arbiter = arbiter
        self._ids = ids
        self._database = database
        self._tenure = tenure
        self._send = send
        self._handed: dict[int, ShardClocks] = {}

    def accept(self, clocks: HandedClocks) -> None:
        """Take the clocks of shards that their owner is about to hand over to this daemon."""
        self._handed.update(clocks.shards)

    async def gained(self, shards: Mapping[int, int]) -> None:
        """Take over the games of shards, LOBBY's excepted. Each is loaded when it is needed.

        :param shards: with the epochs in which they are this daemon's.
        :raises LogFailed: the database cannot be read; nothing was taken over.
        """
        from gmd.event_log.shard_state import shard_state  # imports SQLAlchemy

        mine = {shard: epoch for shard, epoch in shards.items() if shard < SHARDS}
        state = await self._database.read(partial(shard_state, shards=mine))
        handed: dict[int, float] = {}
        for shard, epoch in mine.items():
            clocks = self._handed.pop(shard, None)
            if clocks is not None and clocks.epoch + 1 == epoch:  # else others have owned it since
                handed |= clocks.seconds_left
        self._arbiter.gain(_deadlines(state, handed), state.live)
        self._ids.gain(state.highest, state.retired)

    async def losing(self, shards: Mapping[int, int]) -> None:
        """Finish what is under way in shards, forget their games, and send their clocks.

        :param shards: each with its next owner.
        """
        self._ids.lose(shards)
        left = await self._arbiter.lose(shards)
        if self._send is not None:
            for daemon, clocks in self._sorted(left, shards).items():
                await self._send(daemon, clocks)

    def resumed(self, seconds: float) -> None:
        """Charge nobody for the time in which the lease had run out."""
        self._arbiter.give_back(seconds)

    def _sorted(self, seconds_left: Mapping[int, float], shards: Mapping[int, int]) -> dict[int, HandedClocks]:
        """Return the clocks by the daemons that get them."""
        clocks: defaultdict[int, dict[int, ShardClocks]] = defaultdict(dict)
        for game_id, left in seconds_left.items():
            shard = shard_of(game_id)
            of_shard = clocks[shards[shard]].setdefault(shard, ShardClocks(self._tenure.epochs[shard], {}))
            of_shard.seconds_left[game_id] = left
        return {daemon: HandedClocks(each) for daemon, each in clocks.items()}


def _deadlines(state: ShardState, handed: Mapping[int, float]) -> list[tuple[int, float | None]]:
    """Return the games' deadlines: what the owner before has said counts, if the log knows the game."""
    return [(game_id, handed.get(game_id, left)) for game_id, left in state.deadlines]
