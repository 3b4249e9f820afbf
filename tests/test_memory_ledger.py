"""The ledger of what connections hold: its sums are right, and it cuts off the largest offender."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from gm_protocol.errors import TooMany
from gmd.net.memory_ledger import UNCOUNTED, MemoryAccount, MemoryLedger, MemoryLimits

TOTAL = 1_000_000
SHARE = 400_000
#: Peers of connections from two addresses, from one network of IPv6, and without an address.
PEERS = ["192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1", "[2001:db8::1]:1", "[2001:db8::2]:1", ""]
SIZES = st.integers(0, 2 * UNCOUNTED) | st.integers(0, SHARE)


class Holder:
    """A connection with its account in the ledger, and the reason why it was cut off."""

    def __init__(self, ledger: MemoryLedger, peer: str) -> None:
        self.peer = peer
        self.why: TooMany | None = None
        self.account = ledger.open(peer, self.cut_off)

    def cut_off(self, why: TooMany) -> None:
        assert self.why is None, "no connection is cut off twice"
        self.why = why


def ledger_of(total: int = TOTAL, per_address: int = SHARE) -> MemoryLedger:
    return MemoryLedger(MemoryLimits(total, per_address))


class AnyOrder(RuleBasedStateMachine):
    """Connections open, hold, release and close in any order."""

    @initialize()
    def begin(self) -> None:
        self.ledger = ledger_of()
        self.holders: list[Holder] = []

    def pick(self, data: st.DataObject) -> Holder:
        if not self.holders:
            self.open(PEERS[0])
        return data.draw(st.sampled_from(self.holders))

    @rule(peer=st.sampled_from(PEERS))
    def open(self, peer: str) -> None:
        self.holders.append(Holder(self.ledger, peer))

    @rule(data=st.data(), size=SIZES, hold=st.sampled_from([MemoryAccount.hold_requests, MemoryAccount.hold_replies]))
    def hold(self, data: st.DataObject, size: int, hold: Callable[[MemoryAccount, int], None]) -> None:
        holder = self.pick(data)
        hold(holder.account, size)
        self.holders = [each for each in self.holders if each.why is None]

    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        holder = self.pick(data)
        holder.account.close()
        holder.account.hold_requests(10 * UNCOUNTED)  # comes too late, and counts as nothing
        self.holders.remove(holder)

    @invariant()
    def accounts_sum_to_the_total_and_nothing_is_negative(self) -> None:
        held = [holder.account.held for holder in self.holders]
        assert all(size >= 0 for size in held)
        by_address = self.ledger.by_address()
        assert self.ledger.held == sum(held) == sum(by_address.values())
        assert all(size > 0 for size in by_address.values()), "an address that holds nothing is forgotten"

    @invariant()
    def no_limit_is_exceeded(self) -> None:
        assert self.ledger.held <= TOTAL
        assert all(size <= SHARE for address, size in self.ledger.by_address().items() if address)

    def teardown(self) -> None:
        for holder in self.holders:
            holder.account.close()
        assert self.ledger.held == 0
        assert self.ledger.by_address() == {}


@pytest.mark.slow
def test_accounts_sum_to_the_total_whatever_happens_in_any_order() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        AnyOrder, settings=settings(stateful_step_count=40)
    )


def test_address_over_its_share_loses_its_largest_connection_and_others_lose_nothing() -> None:
    ledger = ledger_of(total=3 * TOTAL)
    others = [Holder(ledger, "192.0.2.2:1"), Holder(ledger, "")]
    for holder in others:
        holder.account.hold_requests(SHARE)
    small, large = Holder(ledger, "192.0.2.1:1"), Holder(ledger, "192.0.2.1:2")
    small.account.hold_replies(150_000)
    large.account.hold_requests(240_000)
    small.account.hold_requests(10_001)
    assert [holder.why for holder in (small, *others)] == [None, None, None]
    assert str(large.why) == (
        "max_memory_per_address: this address makes the server hold more than 400000 bytes; "
        "read the replies, complete the requests, and connect again later"
    )
    assert large.why is not None
    assert large.why.retry_after == 5.0
    assert (ledger.held, ledger.cut_off) == (2 * SHARE + 160_001, 1)
    assert ledger.by_address() == {"192.0.2.2": SHARE, "": SHARE, "192.0.2.1": 160_001}


def test_largest_connections_of_the_largest_address_are_cut_off_first_over_the_total() -> None:
    ledger = ledger_of(total=TOTAL, per_address=TOTAL)
    honest = Holder(ledger, "192.0.2.9:1")
    honest.account.hold_requests(100_000)  # more than any connection of the attacker holds
    attackers = [Holder(ledger, f"192.0.2.1:{port}") for port in range(30)]
    for holder in attackers:
        holder.account.hold_requests(30_000)
    assert not ledger.cut_off
    attackers[7].account.hold_requests(30_001)
    assert [holder for holder in attackers if holder.why] == [attackers[0], attackers[1], attackers[7]]
    assert str(attackers[7].why).startswith("max_memory: clients make the server hold more than 1000000 bytes")
    assert honest.why is None


@given(st.lists(st.tuples(st.sampled_from(PEERS[:3]), st.integers(UNCOUNTED, SHARE)), min_size=2))
def test_connection_cut_off_held_at_least_as_much_as_any_left_at_its_address(held: list[tuple[str, int]]) -> None:
    ledger = ledger_of()
    holders = []
    for peer, size in held:
        holders.append((size, Holder(ledger, peer)))
        cut_before = {holder for _, holder in holders if holder.why}
        holders[-1][1].account.hold_requests(size)
        for cut_size, cut in holders:
            if cut.why is not None and cut not in cut_before:
                left = [size for size, other in holders if other.peer[:9] == cut.peer[:9] and other.why is None]
                assert max(left, default=0) <= cut_size


def test_connection_too_large_for_the_limit_is_cut_off_itself() -> None:
    ledger = ledger_of(total=SHARE)
    nowhere = Holder(ledger, "")
    nowhere.account.hold_replies(SHARE)
    assert nowhere.why is None
    nowhere.account.hold_replies(SHARE + 1)
    assert nowhere.why is not None
    assert nowhere.account.is_closed
    assert ledger.held == 0


@given(st.integers(0, UNCOUNTED - 1), st.integers(0, UNCOUNTED - 1))
def test_size_of_a_usual_request_counts_as_nothing(requests: int, replies: int) -> None:
    ledger = ledger_of()
    holder = Holder(ledger, PEERS[0])
    holder.account.hold_requests(requests)
    holder.account.hold_replies(replies)
    assert ledger.held == 0
