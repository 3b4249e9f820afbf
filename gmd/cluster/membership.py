"""A daemon's membership of a cluster: its lease, its shards, and who the others are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Protocol

import psycopg
import trio

from gm_protocol.errors import GmError, Moved
from gmd import loop_time
from gmd.logger import get_logger

from .changes import Changes
from .directory import CannotExpel, Peer
from .lease_thread import LeaseThread, uptime
from .leases import CHANNEL, LEASE_SECONDS, Fenced, Leases, new_daemon_id
from .listening import listen
from .shard_map import Member, ShardMap
from .shards import LOBBY

logger = get_logger(__name__)

#: Seconds between two attempts at a change of the map that has failed.
RETRY_SECONDS = 0.5


class ShardHandler(Protocol):
    """A component that keeps in memory what belongs to the shards; LOBBY among them."""

    async def gained(self, shards: Mapping[int, int]) -> None:
        """Get ready to serve shards, which are this daemon's now; it serves them after the return.

        :param shards: each with the epoch in which it is this daemon's.
        :raises GmError: the database cannot be read; it is called again.
        """

    def resumed(self, seconds: float) -> None:
        """Go on after an outage of the database, in which the lease had run out for some seconds of the loop's time.

        Nobody else has owned anything in that time.
        """

    async def losing(self, shards: Mapping[int, int]) -> None:
        """Finish what is under way in shards, forget them, and send their next owners what is not in the database.

        Nothing new begins in them from the call on. They are handed over after the return.

        :param shards: each with its next owner.
        """


class Membership:
    """One daemon's place in the cluster, from :meth:`join` to :meth:`leave`.

    It is the :class:`~gmd.cluster.directory.Directory` that the links and the router use.

    :ivar me: this daemon's id; another one each time that it joins.
    :ivar map: the map as last seen.
    :ivar fenced: set once another daemon has taken over: nothing in memory may be trusted any more.
    """

    def __init__(self, url: str) -> None:
        """:param url: the database's, as psycopg takes it."""
        self.me = new_daemon_id()
        self.map = ShardMap()
        self.fenced = trio.Event()
        self._map_of_peers, self._peers = self.map, dict[int, Peer]()
        self._url = url
        self._renewals = Leases(url, self.me)
        self._thread = LeaseThread(self._renewals, self._take_in, self._fence, self._resume)
        self._leases = Leases(url, self.me)
        self._changes = Changes(self._leases, self._thread)
        #: The epochs of the shards that this daemon owns; a new mapping for each change.
        self._held: dict[int, int] = {}
        #: Those of them that it serves, and those that it is handing over.
        self._ready: set[int] = set()
        self._leaving: set[int] = set()
        self._owners: list[int | None] = [None] * (LOBBY + 1)
        self._is_failing = False
        self._handler: ShardHandler | None = None
        #: For each member the end of its lease as last seen, and since when that is the same, by :func:`uptime`.
        self._silent: dict[int, tuple[float, float]] = {}
        #: When the lease ran out, in the loop's time; None while it is valid.
        self._lapsed_at: float | None = None
        self._changed, self._renewed = trio.Event(), trio.Event()

    # --- Who is who ---------------------------------------------------------------------------------------------

    def owner_of(self, shard: int) -> int | None:
        """Return the daemon that owns a shard; None while nobody does."""
        return self._owners[shard]

    def is_mine(self, shard: int) -> bool:
        """Return whether this daemon serves a shard: it owns it, does not hand it over, and its lease is valid now."""
        return shard in self._ready and uptime() < self._thread.valid_until

    @property
    def daemon(self) -> int:
        """This daemon's id, for :class:`~gmd.cluster.fence.Fence`."""
        return self.me

    @property
    def epochs(self) -> Mapping[int, int]:
        """The epochs of the shards that this daemon owns, by which its writes are fenced: a new mapping each time."""
        return self._held

    def refused(self, epochs: Mapping[int, int]) -> None:
        """Note that the database has refused a write; see :class:`~gmd.cluster.fence.Fence`. Any thread may call it."""
        self._thread.post(partial(self._check_refusal, epochs))

    def _check_refusal(self, epochs: Mapping[int, int]) -> None:
        lost = [shard for shard, epoch in epochs.items() if self._held.get(shard) == epoch]
        if not self._leaving.issuperset(lost):
            logger.error("the database has refused a write: shards have another owner", shards=len(lost))
            self._fence()

    @property
    def valid_until(self) -> float:
        """When the lease ends for this daemon unless it is renewed, by :func:`~gmd.cluster.lease_thread.uptime`."""
        return self._thread.valid_until

    @property
    def lease_seconds(self) -> float:
        """The rest of the lease in seconds; 0 once it has run out."""
        return max(0.0, self._thread.valid_until - uptime())

    def show(self, vitals: str) -> None:
        """Store what this daemon says of itself with the next renewal of its lease, for operators."""
        self._renewals.vitals = vitals

    def ready(self) -> Collection[int]:
        """Return the shards that this daemon serves while its lease is valid."""
        return self._ready

    def peers(self) -> Mapping[int, Peer]:
        """Return all daemons that may still live by their ids, this one among them.

        One whose lease has run out is among them until another has taken over: until then it may get its lease back,
        with what it has in memory.
        """
        if self.map is not self._map_of_peers:
            members = self.map.members
            self._map_of_peers = self.map
            self._peers = {each: Peer(it.link, it.game, it.http or None, it.joining) for each, it in members.items()}
        return self._peers

    async def changed(self) -> None:
        """Return at the next change of the map, or of what this daemon serves."""
        await self._changed.wait()

    async def lease_valid(self) -> None:
        """Return as soon as the lease is valid: at once, or after the next renewal.

        :raises Moved: others have taken over, or may do so: what is in memory may be out of date.
        """
        while not self.fenced.is_set():
            if uptime() < self._thread.valid_until:
                return
            await self.renewed()
        raise Moved("this server is no longer the game's owner; nothing was done, send the request again")

    async def renewed(self) -> None:
        """Return after the next renewal of the lease, or once it has run out."""
        await self._renewed.wait()

    # --- Life ---------------------------------------------------------------------------------------------------

    async def join(self, peer: Peer, version: str) -> None:
        """Join the cluster.

        :param peer: this daemon's addresses. If it is joining, it gets no shards before :meth:`settle`, unless nobody
            else may have any.
        :raises psycopg.Error: the database cannot be used.
        """
        began = uptime()
        member = Member(self.me, peer.link, peer.game, peer.http or "", version, joining=peer.joining)
        await trio.to_thread.run_sync(self._leases.join, member)
        self._thread.start(began)
        logger.info("joined the cluster", daemon=self.me)

    async def run(self, handler: ShardHandler) -> None:
        """Renew the lease, and take part in the share-out of shards, until fenced or cancelled."""
        self._handler = handler
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen, self._url, {CHANNEL: self._thread.renew_soon})
            nursery.start_soon(self._share_out, handler)
            nursery.start_soon(self._watch_lease)
            await self.fenced.wait()
            nursery.cancel_scope.cancel()

    async def settle(self) -> None:
        """Take part in the share-out of shards from now on; return when the map is seen.

        :raises psycopg.Error: the database failed.
        :raises Fenced: this daemon is no member any more.
        """
        await self._changes.make(self._leases.settle)

    async def expel(self, daemons: Collection[int]) -> None:
        """Stop daemons from renewing their leases; see :class:`~gmd.cluster.directory.Directory`."""
        try:
            await self._changes.make(partial(self._leases.expel, daemons))
        except (psycopg.Error, Fenced) as error:
            raise CannotExpel(str(error).strip()) from error

    async def drain(self) -> None:
        """Hand all shards over to the other daemons, if there are any; :meth:`run` must be running."""
        try:
            await self._changes.make(self._leases.drain)
            while self._held and self.map.staying and not self.fenced.is_set():
                await self._changed.wait()
        except (psycopg.Error, Fenced) as error:
            logger.warning("the shards were not handed over", reason=str(error).strip())

    async def leave(self) -> None:
        """Leave the cluster, and free what is still owned. The call after that may only be a new join."""
        self._end()
        with trio.CancelScope(shield=True):
            try:
                await self._changes.make_unseen(self._leases.leave)
            except psycopg.Error as error:
                logger.warning("could not leave the cluster; the lease runs out", reason=str(error).strip())
            await self.stop()

    async def stop(self) -> None:
        """Renew the lease no more, so that it runs out; :meth:`leave` is better."""
        self._end()
        await self._thread.stop()
        await self._changes.close()

    # --- Outages --------------------------------------------------------------------------------------------------

    async def _watch_lease(self) -> None:
        """Note when the lease runs out, until cancelled."""
        while True:
            while (rest := self.valid_until - uptime()) > 0:  # noqa: ASYNC110 (renewals move it)
                await trio.sleep(rest)
            self._lapsed_at = loop_time.now()
            logger.warning("the lease has run out: nothing is answered until it is renewed")
            while self._lapsed_at is not None:
                await self.renewed()

    def _resume(self) -> None:
        """Go on: a lease that had run out is renewed."""
        lapsed_at, self._lapsed_at = self._lapsed_at, None
        if lapsed_at is not None and self._handler is not None and not self.fenced.is_set():
            self._handler.resumed(loop_time.now() - lapsed_at)

    # --- The map ------------------------------------------------------------------------------------------------

    def _take_in(self, seen: ShardMap) -> None:
        """Take in the map: called after every renewal and change, in their order."""
        if self.fenced.is_set():
            return
        is_same = seen.shards == self.map.shards  # as it is with nearly every renewal
        mine = self._held if is_same else {shard: seen.shards[shard].epoch for shard in seen.of(self.me)}
        lost = {shard for shard, epoch in self._held.items() if mine.get(shard) != epoch}
        if not lost <= self._leaving:
            logger.error("shards have another owner", shards=len(lost - self._leaving))
            self._fence()
            return
        is_new = not is_same or seen.members.keys() != self.map.members.keys()
        is_new = is_new or seen.lapsed or seen.staying != self.map.staying
        if not is_same or seen.living != self.map.living:
            self._owners = [seen.owner_of(shard) for shard in range(LOBBY + 1)]
        self.map, self._held = seen, mine
        self._note_silence()
        self._leaving -= lost
        self._renewed.set()
        self._renewed = trio.Event()
        if is_new:
            self._note_change()

    def _note_silence(self) -> None:
        """Note which members have not renewed their leases since the last look."""
        now, before = uptime(), self._silent
        untils = {daemon: member.until for daemon, member in self.map.members.items()}
        self._silent = {
            daemon: before[daemon] if before.get(daemon, (0.0, 0.0))[0] == until else (until, now)
            for daemon, until in untils.items()
        }

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    def _fence(self) -> None:
        """Serve nothing more: another daemon has taken over, or a shard that was ours has another owner."""
        if not self.fenced.is_set():
            logger.error("other daemons have taken over: no shard is served any more", daemon=self.me)
            self._end()

    def _end(self) -> None:
        self._ready.clear()
        self._held = {}
        self.fenced.set()
        self._renewed.set()
        self._note_change()

    async def _share_out(self, handler: ShardHandler) -> None:
        """Take over, take, gain and hand over shards, whenever the map has changed."""
        while not self.fenced.is_set():
            changed = self._changed
            try:
                await self._step(handler)
            except Fenced:
                self._fence()
            except (psycopg.Error, GmError) as error:
                if not self._is_failing:
                    logger.warning("the shards cannot be shared out now", reason=str(error).strip())
                self._is_failing = True
                with trio.move_on_after(RETRY_SECONDS):
                    await changed.wait()
                continue
            self._is_failing = False
            await changed.wait()

    async def _step(self, handler: ShardHandler) -> None:
        if self._leaving:  # handing them over has failed, or nobody knows whether it has
            await self._thread.look()
            self._leaving.clear()
        if (dead := self._dead()) and (freed := await self._changes.make(partial(self._leases.take_over, dead))):
            logger.warning("took over from a daemon whose lease has run out", shards=len(freed))
        if not self.map.staying and self.me in self.map.members and self.map.members[self.me].joining:
            await self.settle()  # there is nobody who could reach it
        if take := self.map.plan(self.me).take:
            await self._changes.make(partial(self._leases.take, take))
        await self._gain(handler)
        if give := self._to_give():
            await self._give(give, handler)

    def _dead(self) -> list[int]:
        """Return the daemons to take over from: their leases have run out, by the database's clock and by ours.

        The database's clock may be set, or be another server's by now; so a daemon must have been silent for as long as
        a lease while this one was looking. After an outage each gets time to renew its lease.
        """
        now = uptime()
        if now < self._thread.steady_since + LEASE_SECONDS:
            return []
        lapsed = [daemon for daemon, member in self.map.members.items() if member.lapsed]
        return [daemon for daemon in lapsed if now >= self._silent[daemon][1] + LEASE_SECONDS]

    async def _gain(self, handler: ShardHandler) -> None:
        """Begin to serve the shards that this daemon has got: first those of games, then the lobby."""
        all_new = {shard: epoch for shard, epoch in self._held.items() if shard not in self._ready | self._leaving}
        for is_lobby in (False, True):
            new = {shard: epoch for shard, epoch in all_new.items() if (shard == LOBBY) is is_lobby}
            if new:
                await handler.gained(new)
                # Nobody takes a shard from its owner while the lease is valid; if one is lost, everything is.
                self._ready.update(shard for shard, epoch in new.items() if self._held.get(shard) == epoch)
                self._note_change()

    def _to_give(self) -> dict[int, int]:
        """Return shards to hand over now: the lobby alone, if it is one of them, then those of games.

        What is under way in the lobby may need games of this daemon; so they are still served meanwhile.
        """
        give = {shard: to for shard, to in self.map.plan(self.me).give.items() if shard in self._ready}
        return {LOBBY: give[LOBBY]} if LOBBY in give else give

    async def _give(self, give: Mapping[int, int], handler: ShardHandler) -> None:
        """Hand shards over."""
        await self._changes.make(partial(self._leases.want, give))
        self._ready -= give.keys()
        self._leaving |= give.keys()
        self._note_change()
        try:
            await handler.losing(give)
        except Exception:
            logger.exception("shards cannot be handed over")
            self._fence()  # memory may still have something of them
            return
        await self._changes.make(partial(self._leases.hand_over, give))
