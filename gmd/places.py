"""Who may have one of a limited number of connections, and who gives one up: a policy without I/O.

A connection has a place, which has a value (:class:`Value`) and a source, the address it counts for. Each source may
have a share of all places. Where there is none left for a newcomer, another gives up its place, in this order:

1. an idle place of the source with the most places, if that still has no fewer than the newcomer's afterwards;
2. an idle place of the newcomer's own source; if that has no place at all, one of anybody's. To be idle here, a place
   that has been in use must have been out of use for some time, or clients that are too many would drive each other out
   for ever;
3. a place in use of the source with the most places, as in 1.

Among these the least valuable goes first, and of several the one that has had its value for the longest. If there is
none, the newcomer is refused. A newcomer at the end of its source's share has 2 alone, among the places of its source.

The source that is empty, which is no address at all, has no share, and its places are never given up.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from enum import IntEnum


class Value(IntEnum):
    """What a place is worth."""

    #: Nothing whole has come: no frame, no head of a request, no agreement on TLS.
    SILENT = 0
    #: It has been in use, and nothing is under way.
    IDLE = 1
    #: The same, and its client has said which player it is.
    PLAYER = 2
    #: A request is under way.
    BUSY = 3
    #: It is the one connection by which a seat in a running game is played.
    PLAYING = 4


#: Values of places that are not in use now.
NOT_IN_USE = (Value.SILENT, Value.IDLE, Value.PLAYER)
IN_USE = (Value.BUSY, Value.PLAYING)


class Full(Exception):
    """There is no place, and none is given up.

    :ivar limit: how many there are.
    :ivar by_source: whether it is the source's share that is used up.
    """

    def __init__(self, limit: int, *, by_source: bool) -> None:
        super().__init__(f"all {limit} places are taken")
        self.limit = limit
        self.by_source = by_source


#: Ends the connection that has given up its place; it is given the reason.
Evict = Callable[[Full], None]


class Place:
    """One connection's place. Its owner says what it does with it, and leaves it."""

    __slots__ = ("_at_rest", "_busy", "_evict", "_home", "_places", "_seat", "since", "value")

    def __init__(self, places: Places, home: _Source | None, evict: Evict, now: float) -> None:
        self._places = places
        self._home = home
        self._evict = evict
        self._busy = False
        self._at_rest = Value.SILENT
        self._seat: Hashable = None
        self.value = Value.SILENT
        #: When it came to its value, or was last in use.
        self.since = now

    @property
    def source(self) -> str:
        """The address it counts for; empty for none."""
        return "" if self._home is None else self._home.name

    @property
    def seat(self) -> Hashable:
        """The seat that it is the one to play; None where it plays none, or another has played it since."""
        return self._seat

    @property
    def neighbours(self) -> int:
        """How many places its address has; none where it counts for no address."""
        return 0 if self._home is None else self._home.count

    def begin(self, now: float) -> None:
        """Note that a request is under way."""
        self._busy = True
        self._places._settle(self, now)

    def rest(self, value: Value, now: float, seat: Hashable = None) -> None:
        """Note that none is.

        :param value: what it is worth then, of :data:`NOT_IN_USE`.
        :param seat: a running game and its player, where it plays one. The last to play a seat is the one that counts.
        """
        self._busy, self._at_rest = False, value
        self._places._seat(self, seat, now)
        self._places._settle(self, now)

    def leave(self) -> None:
        """Give the place back; one that was given up, or given back, stays so."""
        self._places._remove(self)


#: Places in the order in which they came. (The first of a dict is slow to find once those before it have gone.)
_Rank = OrderedDict[Place, None]


class _Source:
    """The places of one address, by their values, those that came to them first at the front."""

    __slots__ = ("count", "name", "ranks")

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.ranks: tuple[_Rank, ...] = tuple(OrderedDict() for _ in Value)


class Places:
    """The places there are. Every operation takes the same time, however many are taken.

    :ivar evicted: how many were given up to others.
    """

    def __init__(self, limit: int, share: int, idle_seconds: float) -> None:
        """:param limit: how many there are.
        :param share: how many of them one source may have.
        :param idle_seconds: how long a place that has been in use must have been out of use to be given up to one of
            the same source.
        """
        self._limit = limit
        self._share = min(share, limit)
        self._idle_seconds = idle_seconds
        self._taken: set[Place] = set()
        self._sources: dict[str, _Source] = {}
        #: All places that have an address and are not in use, as each source has its own.
        self._idle: tuple[_Rank, ...] = tuple(OrderedDict() for _ in NOT_IN_USE)
        #: The sources, by how many places they have; and the largest of these numbers.
        self._by_count: dict[int, OrderedDict[_Source, None]] = {}
        self._most = 0
        self._seats: dict[Hashable, Place] = {}
        self.evicted = 0

    def __len__(self) -> int:
        return len(self._taken)

    def enter(self, source: str, evict: Evict, now: float) -> Place:
        """Take a place, which may be another's that gives it up.

        :param evict: is called when this one is to be given up; it is no place any more by then.
        :raises Full: there is none.
        """
        home = self._sources.get(source)
        count = 0 if home is None else home.count
        if home is not None and self._share <= count < self._limit:
            self._give_up(self._idle_one(home, now), Full(self._share, by_source=True))
        elif len(self._taken) >= self._limit:
            self._give_up(self._least(home, count, now), Full(self._limit, by_source=False))
        place = Place(self, self._home(source), evict, now)
        self._taken.add(place)
        self._put(place)
        return place

    def _give_up(self, place: Place | None, why: Full) -> None:
        if place is None:
            raise why
        self._remove(place)
        self.evicted += 1
        place._evict(why)

    def _least(self, home: _Source | None, count: int, now: float) -> Place | None:
        """The place to be given up where all are taken, to a source that has so many."""
        largest = next(iter(self._by_count[self._most])) if self._most > count + 1 else _Source("")
        return (
            _first(largest.ranks[value] for value in NOT_IN_USE)
            or self._idle_one(home, now)
            or _first(largest.ranks[value] for value in IN_USE)
        )

    def _idle_one(self, home: _Source | None, now: float) -> Place | None:
        """The least valuable of a source's places that are out of use, or of all places where there is no source."""
        for value in NOT_IN_USE:
            place = _first([self._idle[value] if home is None else home.ranks[value]])
            if place is not None and (value is Value.SILENT or now - place.since >= self._idle_seconds):
                return place
        return None

    def _home(self, source: str) -> _Source | None:
        """A source with one place more."""
        if not source:
            return None
        home = self._sources.get(source) or self._sources.setdefault(source, _Source(source))
        self._count(home, home.count + 1)
        return home

    def _count(self, home: _Source, count: int) -> None:
        if home.count:
            same = self._by_count[home.count]
            del same[home]
            if not same:
                del self._by_count[home.count]
        if count:
            self._by_count.setdefault(count, OrderedDict())[home] = None
        else:
            del self._sources[home.name]
        if count > self._most or self._most not in self._by_count:  # it changes by one at a time
            self._most = count
        home.count = count

    def _seat(self, place: Place, seat: Hashable, now: float) -> None:
        if place._seat == seat or place not in self._taken:
            return
        if place._seat is not None:
            del self._seats[place._seat]
        place._seat = seat
        if seat is not None:
            before = self._seats.get(seat)
            self._seats[seat] = place
            if before is not None:
                before._seat = None
                self._settle(before, now)

    def end_seat(self, seat: Hashable, now: float) -> None:
        """Note that a seat's game is over: nobody plays it any more."""
        place = self._seats.pop(seat, None)
        if place is not None:
            place._seat = None
            self._settle(place, now)

    def _settle(self, place: Place, now: float) -> None:
        """Put a place where it belongs, behind those that came there before."""
        if place in self._taken:
            self._take_out(place)
            place.value, place.since = _value(place), now
            self._put(place)

    def _remove(self, place: Place) -> None:
        if place not in self._taken:
            return
        self._taken.discard(place)
        self._take_out(place)
        if place._seat is not None:
            del self._seats[place._seat]
        if place._home is not None:
            self._count(place._home, place._home.count - 1)

    def _put(self, place: Place) -> None:
        if place._home is not None:
            place._home.ranks[place.value][place] = None
            if place.value in NOT_IN_USE:
                self._idle[place.value][place] = None

    def _take_out(self, place: Place) -> None:
        if place._home is not None:
            del place._home.ranks[place.value][place]
            if place.value in NOT_IN_USE:
                del self._idle[place.value][place]


def _value(place: Place) -> Value:
    if place._seat is not None:
        return Value.PLAYING
    return Value.BUSY if place._busy else place._at_rest


def _first(ranks: Iterable[_Rank]) -> Place | None:
    return next((next(iter(rank)) for rank in ranks if rank), None)


def share_of(setting: int | None, limit: int, *, local: bool) -> int:
    """How many of a number of connections one address may have.

    :param setting: what the operator has said, if anything.
    :param local: whether nobody but this machine's own users can reach the port: then everybody has one address.
    """
    if setting is not None:
        return setting
    return limit if local else max(1, limit // 2)
