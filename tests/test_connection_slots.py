"""How slots are taken and evicted."""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gmd.net.connection_slots import IN_USE, NOT_IN_USE, ConnectionSlot, ConnectionSlots, Full, Share, Value, share_of

IDLE_SECONDS = 60.0


class Room:
    """ConnectionSlots and their owners; time stands still unless it is set."""

    def __init__(self, limit: int, share: int | None = None) -> None:
        self.slots = ConnectionSlots(limit, Share(limit if share is None else share, limit), IDLE_SECONDS)
        self.inside: dict[str, ConnectionSlot] = {}
        self.evicted: list[str] = []
        self.reasons: list[Full] = []
        self.now = 0.0
        self._names = count(1)

    def enter(self, source: str) -> str:
        """Take a slot; its owner is named for its source, as in "a1"."""
        name = f"{source}{next(self._names)}"

        def evict(why: Full) -> None:
            self.evicted.append(name)
            self.reasons.append(why)
            del self.inside[name]

        self.inside[name] = self.slots.enter(source, evict, self.now)
        return name

    def refused(self, source: str) -> tuple[int, bool]:
        with pytest.raises(Full) as full:
            self.enter(source)
        return full.value.limit, full.value.by_source


def test_address_with_most_places_gives_its_oldest_to_an_address_with_fewer() -> None:
    room = Room(4)
    for source in "baaa":
        room.enter(source)
    room.inside["a2"].rest(Value.IDLE, 1)
    room.inside["a3"].rest(Value.IDLE, 0)
    room.inside["a4"].rest(Value.IDLE, 2)
    room.enter("b")
    assert (room.evicted, room.slots.evicted) == (["a2"], 1)
    assert (room.reasons[0].limit, room.reasons[0].by_source) == (4, False)


def test_place_in_use_is_evicted_only_when_nothing_less_valuable_is_left() -> None:
    room = Room(3)
    for source in "aaa":
        room.enter(source)
    room.inside["a1"].rest(Value.PLAYER, 0, seat=(1, True))
    room.inside["a2"].begin(0)
    room.inside["a3"].rest(Value.PLAYER, 0)
    room.enter("b")
    assert room.evicted == ["a3"]
    room.inside["b4"].begin(0)
    assert room.refused("b") == (3, False)
    room.enter("c")
    assert room.evicted == ["a3", "a2"]


def test_silent_place_is_evicted_before_a_place_in_use_of_the_largest_address() -> None:
    room = Room(3)
    for source in "aab":
        room.enter(source)
    room.inside["a1"].begin(0)
    room.inside["a2"].begin(0)
    room.enter("c")
    assert room.evicted == ["b3"]


def test_oldest_place_without_a_hello_is_evicted_first_within_one_address() -> None:
    room = Room(3)
    for _ in range(3):
        room.enter("a")
    room.inside["a1"].rest(Value.IDLE, 0)
    room.enter("a")
    room.inside["a4"].rest(Value.PLAYER, 0)
    room.enter("a")
    room.inside["a5"].begin(0)
    assert room.evicted == ["a2", "a3"]
    assert room.refused("a") == (3, False)
    room.now = IDLE_SECONDS - 1
    assert room.refused("a") == (3, False)
    room.now = IDLE_SECONDS
    room.inside[room.enter("a")].begin(room.now)
    room.inside[room.enter("a")].begin(room.now)
    assert room.evicted == ["a2", "a3", "a1", "a4"]
    assert room.refused("a") == (3, False)


def test_address_with_places_takes_none_from_a_smaller_one() -> None:
    room = Room(5)
    for source in "aaabb":
        room.enter(source)
    room.enter("b")
    assert room.evicted == ["b4"]


def test_address_may_not_exceed_its_share() -> None:
    room = Room(10, share=2)
    for source in "aab":
        room.enter(source)
    room.inside["a2"].begin(0)
    room.enter("a")
    assert room.evicted == ["a1"]
    assert (room.reasons[0].limit, room.reasons[0].by_source) == (2, True)
    room.inside["a4"].begin(0)
    assert room.refused("a") == (2, True)
    room.enter("b")
    assert len(room.slots) == 4


def test_place_without_an_address_has_no_share_and_is_never_evicted() -> None:
    room = Room(3, share=1)
    for _ in range(3):
        room.enter("")
    assert room.refused("") == (3, False)
    assert room.refused("a") == (3, False)


def test_latest_of_several_places_that_play_one_seat_counts() -> None:
    room = Room(3)
    first, second, _ = (room.inside[room.enter("a")] for _ in range(3))
    first.rest(Value.PLAYER, 0, seat=(7, True))
    first.begin(1)
    assert [first.value] == [Value.PLAYING]
    second.rest(Value.PLAYER, 2, seat=(7, True))
    assert (first.value, second.value) == (Value.BUSY, Value.PLAYING)  # its request is still in progress
    first.rest(Value.PLAYER, 3)
    assert [first.value] == [Value.PLAYER]
    second.leave()
    first.rest(Value.PLAYER, 4, seat=(7, True))
    assert [first.value] == [Value.PLAYING]


def test_place_that_was_evicted_or_left_stays_so() -> None:
    room = Room(1)
    first = room.inside[room.enter("a")]
    second = room.inside[room.enter("a")]
    first.begin(0)
    first.rest(Value.PLAYER, 0, seat=1)
    first.leave()
    assert (len(room.slots), first.value) == (1, Value.SILENT)
    second.leave()
    second.leave()
    assert len(room.slots) == 0


@pytest.mark.parametrize(
    ("setting", "local", "expected"),
    [(None, True, (2_000, 2_000)), (None, False, (1_000, 500)), (3, True, (3, 3)), (3, False, (3, 3))],
)
def test_share_depends_on_who_can_reach_the_port(setting: int | None, local: bool, expected: tuple[int, int]) -> None:
    assert share_of(setting, 2_000, local=local) == expected
    assert share_of(None, 1, local=False) == (1, 1)


@pytest.mark.parametrize(
    ("source", "share"),
    [
        ("8.8.8.8", 2),
        ("2600:1f18::/64", 2),
        ("192.168.0.9", 4),
        ("127.0.0.1", 4),
        ("fd00::/64", 4),
        ("100.64.0.1", 4),
        ("no address", 4),
    ],
)
def test_address_of_the_internet_has_a_smaller_share_than_a_private_one(source: str, share: int) -> None:
    slots = ConnectionSlots(10, Share(private=4, public=2), IDLE_SECONDS)
    for _ in range(share):
        slots.enter(source, lambda _: None, 0.0).rest(Value.PLAYER, 0.0)
    with pytest.raises(Full) as full:
        slots.enter(source, lambda _: None, 0.0)
    assert (full.value.limit, full.value.by_source) == (share, True)


class AnyOrder(RuleBasedStateMachine):
    """Connections come, are used and go in any order; what each may know of the policy's promises is checked."""

    @initialize(limit=st.integers(1, 7), share=st.integers(1, 7))
    def begin(self, limit: int, share: int) -> None:
        self.limit, self.share = limit, share
        self.room = Room(limit, share)

    def of(self, source: str) -> list[ConnectionSlot]:
        return [slot for slot in self.room.inside.values() if slot.source == source]

    @rule(source=st.sampled_from(["", "a", "b", "c", "d"]))
    def enter(self, source: str) -> None:
        before = dict(self.room.inside)
        values = {name: (slot.value, slot.since) for name, slot in before.items()}
        sources = {name: slot.source for name, slot in before.items()}
        counts = Counter(sources.values())
        counts[""] = 0
        evicted = len(self.room.evicted)
        try:
            self.room.enter(source)
        except Full as full:
            assert self.room.inside == before
            self.check_refusal(source, full, values, sources, counts)
            return
        if len(self.room.evicted) == evicted:
            assert len(before) < self.limit
            assert not source or counts[source] < self.share
            return
        self.check_eviction(source, self.room.evicted[-1], values, sources, counts)

    def check_refusal(
        self,
        source: str,
        full: Full,
        values: dict[str, tuple[Value, float]],
        sources: dict[str, str],
        counts: Counter[str],
    ) -> None:
        assert full.by_source == (source != "" and self.share <= counts[source] < self.limit)
        # No newcomer is refused while another address has two slots more than its own, or one of its own slots is
        # silent.
        if not full.by_source:
            assert max(counts.values()) <= counts[source] + 1
        mine = [values[name][0] for name in values if sources[name] == source != ""]
        assert Value.SILENT not in mine

    def check_eviction(
        self,
        source: str,
        victim: str,
        values: dict[str, tuple[Value, float]],
        sources: dict[str, str],
        counts: Counter[str],
    ) -> None:
        home, (value, since) = sources[victim], values[victim]
        assert home != ""
        assert home == source or not counts[source] or counts[home] >= counts[source] + 2
        at_share = source != "" and self.share <= counts[source] < self.limit
        assert home == source if at_share else len(values) == self.limit
        from_largest = counts[home] >= counts[source] + 2 and not at_share
        same = [values[name] for name in values if sources[name] == home]
        assert (value, since) == min(
            each for each in same if from_largest or each[0] is Value.SILENT or self.room.now - each[1] >= IDLE_SECONDS
        )
        if value in IN_USE:  # no unused slot could be evicted: the rest belongs to others, or was used lately
            assert counts[home] == max(counts.values())
            left = values if not counts[source] else [name for name in values if sources[name] in (source, home)]
            for name in left:
                if sources[name] and values[name][0] in NOT_IN_USE:
                    assert values[name][0] is not Value.SILENT
                    assert self.room.now - values[name][1] < IDLE_SECONDS

    @precondition(lambda self: self.room.inside)
    @rule(data=st.data(), value=st.sampled_from(NOT_IN_USE), seat=st.none() | st.integers(1, 2))
    def rest(self, data: st.DataObject, value: Value, seat: int | None) -> None:
        slot = self.room.inside[data.draw(st.sampled_from(sorted(self.room.inside)))]
        slot.rest(value, self.room.now, seat)
        assert slot.value is (value if seat is None else Value.PLAYING)

    @rule(seat=st.integers(1, 2))
    def end(self, seat: int) -> None:
        self.room.slots.end_seat(seat, self.room.now)
        assert all(slot.seat != seat for slot in self.room.inside.values())

    @precondition(lambda self: self.room.inside)
    @rule(data=st.data())
    def use(self, data: st.DataObject) -> None:
        slot = self.room.inside[data.draw(st.sampled_from(sorted(self.room.inside)))]
        slot.begin(self.room.now)
        assert slot.value in IN_USE

    @precondition(lambda self: self.room.inside)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        self.room.inside.pop(data.draw(st.sampled_from(sorted(self.room.inside)))).leave()

    @rule(seconds=st.sampled_from([1.0, 30.0, 60.0]))
    def pass_time(self, seconds: float) -> None:
        self.room.now += seconds

    @invariant()
    def slots_stay_within_their_limits(self) -> None:
        if not hasattr(self, "room"):
            return
        assert len(self.room.slots) == len(self.room.inside) <= self.limit
        for source in "abcd":
            assert len(self.of(source)) <= self.share
        seats = Counter(slot.seat for slot in self.room.inside.values() if slot.seat is not None)
        assert set(seats.values()) <= {1}


TestAnyOrder = pytest.mark.slow(AnyOrder.TestCase)
TestAnyOrder.settings = settings(stateful_step_count=40)
