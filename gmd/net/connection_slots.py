"""The policy by which connections are admitted and evicted when their number is limited; it does no I/O.

Each connection has a slot, with a value (:class:`Value`) and a source, the address that it counts for. A source may
have a share of all slots. When no slot is free for a new connection, another one is evicted, in this order:

1. an idle slot of the source with the most slots, if it then still has at least as many as the newcomer's source;
2. an idle slot of the newcomer's source or, if that has no slot, of any source. Here a slot that has been in use
   counts as idle only after some time, because otherwise too many clients would evict each other for ever;
3. a slot in use of the source with the most slots, as in 1.

Of these, the least valuable slot goes first; of equal ones, the one that has had its value for the longest time. If
there is none, the newcomer is refused. A newcomer whose source has used up its share is admitted only by 2, among the
slots of its source.

An empty source, which stands for no address, has no share, and its slots are never evicted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from enum import IntEnum
from operator import attrgetter
from typing import NamedTuple

from gmd.net.addresses import is_public


class Value(IntEnum):
    """The value of a slot: slots of lower value are evicted first."""

    #: Nothing complete has arrived: no frame, no HTTP request head, no TLS handshake.
    SILENT = 0
    #: It has been in use, and no request is in progress.
    IDLE = 1
    #: As IDLE, and its client has named its player.
    PLAYER = 2
    #: A request is in progress.
    BUSY = 3
    #: It is the connection over which a seat in a live game is played.
    PLAYING = 4


#: Values of slots that are not in use now.
NOT_IN_USE = (Value.SILENT, Value.IDLE, Value.PLAYER)
IN_USE = (Value.BUSY, Value.PLAYING)


#: The connections that an address of the internet may have by default: one turn of the event loop wakes all of them if
#: they send at once. A private one, which may be that of a proxy or of many clients, has half of all.
MOST_OF_PUBLIC = 500


class Share(NamedTuple):
    """The connections that one address may have: a private one, and one of the internet."""

    private: int
    public: int


class Full(Exception):
    """An error: no slot is free, and none can be evicted.

    :ivar limit: the number of slots.
    :ivar by_source: whether the limit is the source's share.
    """

    def __init__(self, limit: int, *, by_source: bool) -> None:
        super().__init__(f"all {limit} slots are taken")
        self.limit = limit
        self.by_source = by_source


#: Called with the reason when a slot is evicted; it ends the connection.
Evict = Callable[[Full], None]


class ConnectionSlot:
    """One connection's slot. The connection reports its use, and leaves the slot at the end."""

    __slots__ = ("_at_rest", "_busy", "_evict", "_home", "_seat", "_slots", "since", "value")

    def __init__(self, slots: ConnectionSlots, home: _SourceSlots | None, evict: Evict, now: float) -> None:
        self._slots = slots
        self._home = home
        self._evict = evict
        self._busy = False
        self._at_rest = Value.SILENT
        self._seat: Hashable = None
        self.value = Value.SILENT
        #: When it got its value, or was last in use.
        self.since = now

    @property
    def source(self) -> str:
        """The address that it counts for; empty for none."""
        return "" if self._home is None else self._home.name

    @property
    def seat(self) -> Hashable:
        """The seat played over this connection; None if there is none, or if another connection has taken it over."""
        return self._seat

    def begin(self, now: float) -> None:
        """Note that a request is in progress."""
        self._busy = True
        self._slots._settle(self, now)

    def rest(self, value: Value, now: float, seat: Hashable = None) -> None:
        """Note that no request is in progress.

        :param value: its value from now on, one of :data:`NOT_IN_USE`.
        :param seat: the live game and the player it has played; None for none. The last slot to play a seat has it.
        """
        self._busy, self._at_rest = False, value
        self._slots._seat(self, seat, now)
        self._slots._settle(self, now)

    def leave(self) -> None:
        """Leave the slot; no effect if it was evicted or left before."""
        self._slots._remove(self)


#: Slots in order of arrival. (Finding the first key of a dict is slow after many keys before it were deleted.)
_Rank = OrderedDict[ConnectionSlot, None]


class _SourceSlots:
    """The slots of one address, by value; of each value, the oldest first."""

    __slots__ = ("count", "name", "ranks", "share")

    def __init__(self, name: str, share: int = 0) -> None:
        self.name = name
        self.share = share
        self.count = 0
        self.ranks: tuple[_Rank, ...] = tuple(OrderedDict() for _ in Value)


class ConnectionSlots:
    """All slots. Only when all are taken does a new one cost time in the number of addresses; nothing else grows.

    :ivar evicted: how many slots were evicted so far.
    """

    def __init__(self, limit: int, share: Share, idle_seconds: float) -> None:
        """:param limit: the number of slots.
        :param share: how many of them one source may have; more than all are as many as all.
        :param idle_seconds: how long a slot that has been in use must be out of use before rule 2 may evict it.
        """
        self._limit = limit
        self._share = share
        self._idle_seconds = idle_seconds
        self._taken: set[ConnectionSlot] = set()
        self._sources: dict[str, _SourceSlots] = {}
        #: All slots that have an address and are not in use, by value.
        self._idle: tuple[_Rank, ...] = tuple(OrderedDict() for _ in NOT_IN_USE)
        self._seats: dict[Hashable, ConnectionSlot] = {}
        self.evicted = 0

    def __len__(self) -> int:
        return len(self._taken)

    def enter(self, source: str, evict: Evict, now: float) -> ConnectionSlot:
        """Take a slot, after the eviction of another one if need be.

        :param evict: called if this slot is evicted, after it was removed.
        :raises Full: no slot is free, and none can be evicted.
        """
        home = self._sources.get(source)
        count = 0 if home is None else home.count
        if home is not None and home.share <= count < self._limit:
            self._give_up(self._idle_one(home, now), Full(home.share, by_source=True))
        elif len(self._taken) >= self._limit:
            self._give_up(self._least(home, count, now), Full(self._limit, by_source=False))
        slot = ConnectionSlot(self, self._home(source), evict, now)
        self._taken.add(slot)
        self._put(slot)
        return slot

    def _give_up(self, slot: ConnectionSlot | None, why: Full) -> None:
        if slot is None:
            raise why
        self._remove(slot)
        self.evicted += 1
        slot._evict(why)

    def _least(self, home: _SourceSlots | None, count: int, now: float) -> ConnectionSlot | None:
        """Return the slot to evict when all are taken; None for none.

        :param home: the newcomer's source; None if it has no slot yet.
        :param count: the number of slots that the newcomer's source has.
        """
        largest = max(self._sources.values(), key=attrgetter("count"), default=None)
        ranks = () if largest is None or largest.count <= count + 1 else largest.ranks
        idle = len(NOT_IN_USE)
        return _first(ranks[:idle]) or self._idle_one(home, now) or _first(ranks[idle:])

    def _idle_one(self, home: _SourceSlots | None, now: float) -> ConnectionSlot | None:
        """Return the least valuable idle slot of a source, or of all sources if it is None; None for no such slot."""
        for value in NOT_IN_USE:
            slot = _first([self._idle[value] if home is None else home.ranks[value]])
            if slot is not None and (value is Value.SILENT or now - slot.since >= self._idle_seconds):
                return slot
        return None

    def _home(self, source: str) -> _SourceSlots | None:
        """Return a source, after adding one to its number of slots; None for the empty source."""
        if not source:
            return None
        home = self._sources.get(source)
        if home is None:
            share = self._share.public if is_public(source) else self._share.private
            home = self._sources[source] = _SourceSlots(source, share)
        home.count += 1
        return home

    def _seat(self, slot: ConnectionSlot, seat: Hashable, now: float) -> None:
        if slot._seat == seat or slot not in self._taken:
            return
        if slot._seat is not None:
            del self._seats[slot._seat]
        slot._seat = seat
        if seat is not None:
            before = self._seats.get(seat)
            self._seats[seat] = slot
            if before is not None:
                before._seat = None
                self._settle(before, now)

    def end_seat(self, seat: Hashable, now: float) -> None:
        """Note that a seat's game is over."""
        slot = self._seats.pop(seat, None)
        if slot is not None:
            slot._seat = None
            self._settle(slot, now)

    def _settle(self, slot: ConnectionSlot, now: float) -> None:
        """Update a slot's value, and queue it behind the other slots of this value."""
        if slot in self._taken:
            self._take_out(slot)
            slot.value, slot.since = _value(slot), now
            self._put(slot)

    def _remove(self, slot: ConnectionSlot) -> None:
        if slot not in self._taken:
            return
        self._taken.discard(slot)
        self._take_out(slot)
        if slot._seat is not None:
            del self._seats[slot._seat]
        if slot._home is not None:
            slot._home.count -= 1
            if not slot._home.count:
                del self._sources[slot._home.name]

    def _put(self, slot: ConnectionSlot) -> None:
        if slot._home is not None:
            slot._home.ranks[slot.value][slot] = None
            if slot.value in NOT_IN_USE:
                self._idle[slot.value][slot] = None

    def _take_out(self, slot: ConnectionSlot) -> None:
        if slot._home is not None:
            del slot._home.ranks[slot.value][slot]
            if slot.value in NOT_IN_USE:
                del self._idle[slot.value][slot]


def _value(slot: ConnectionSlot) -> Value:
    if slot._seat is not None:
        return Value.PLAYING
    return Value.BUSY if slot._busy else slot._at_rest


def _first(ranks: Iterable[_Rank]) -> ConnectionSlot | None:
    return next((next(iter(rank)) for rank in ranks if rank), None)


def share_of(setting: int | None, limit: int, *, local: bool) -> Share:
    """Return how many of a number of connections one address may have.

    :param setting: the operator's setting; None for the default.
    :param local: whether only this machine's users can reach the port: they all share one address.
    """
    if setting is not None:
        return Share(setting, setting)
    half = max(1, limit // 2)
    return Share(limit, limit) if local else Share(half, min(half, MOST_OF_PUBLIC))
