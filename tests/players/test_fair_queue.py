"""The queue for passwords: no address can fill it, and known clients come first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf

import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from gm_protocol.errors import TooMany
from gmd.players.fair_queue import KNOWN_IN_A_ROW, OURSELVES, RETRY_AFTER, FairQueue, QueuedClient

FULL = "max_waiting_passwords: {} wait to be compared; try again later"
OWN = "max_waiting_passwords_per_address: {} from this address wait to be compared; try again later"


class Crowd:
    """Clients of one queue, whose turns take a second each by the test's clock.

    :ivar served: the clients that had a turn, in order.
    :ivar refused: the clients that were refused, with the reason.
    """

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.served: list[QueuedClient] = []
        self.refused: list[tuple[QueuedClient, str]] = []
        self.retry_after: set[float | None] = set()

    async def ask(self, client: QueuedClient) -> None:
        try:
            async with self.queue.turn(client):
                self.served.append(client)
                await trio.sleep(1)
        except TooMany as error:
            self.refused.append((client, str(error)))
            self.retry_after.add(error.retry_after)


async def crowded(queue: FairQueue, clients: Sequence[QueuedClient]) -> Crowd:
    """Let the clients queue one after the other before the first turn, which is not recorded, has ended."""
    crowd = Crowd(queue)
    async with trio.open_nursery() as nursery:
        for client in clients:
            nursery.start_soon(crowd.ask, client)
            await wait_all_tasks_blocked()
    crowd.served = crowd.served[1:]
    return crowd


def unknown(*sources: str) -> list[QueuedClient]:
    return [QueuedClient(source, known=False) for source in sources]


def known(*sources: str) -> list[QueuedClient]:
    return [QueuedClient(source, known=True) for source in sources]


def one_at_a_time(max_waiting: int = 100, max_of_one: int = 100) -> FairQueue:
    return FairQueue("max_waiting_passwords", 1, max_waiting, max_of_one)


async def test_addresses_take_turns_in_rounds(autojump_clock: MockClock) -> None:
    crowd = await crowded(one_at_a_time(), unknown("-", *"aaaabbc"))
    assert [client.source for client in crowd.served] == list("abcabaa")
    assert crowd.refused == []


async def test_known_clients_come_first_without_blocking_others(autojump_clock: MockClock) -> None:
    crowd = await crowded(one_at_a_time(), [*unknown("-", "x", "y"), *known(*"abcdefgh")])
    assert KNOWN_IN_A_ROW == 3
    assert "".join(client.source for client in crowd.served) == "abcxdefygh"


async def test_address_cannot_exceed_its_share_of_places(autojump_clock: MockClock) -> None:
    crowd = await crowded(one_at_a_time(max_of_one=2), [*unknown("-", "a", "a", "a"), *known("a"), *unknown("b")])
    assert "".join(client.source for client in crowd.served) == "aba"
    assert crowd.refused == [(*unknown("a"), OWN.format(2)), (*known("a"), OWN.format(2))]
    assert crowd.retry_after == {RETRY_AFTER}


async def test_newcomer_replaces_a_client_of_the_address_with_the_most_places(autojump_clock: MockClock) -> None:
    crowd = await crowded(one_at_a_time(max_waiting=4), unknown("-", *"aaaabcad"))
    assert "".join(client.source for client in crowd.served) == "abcd"
    assert crowd.refused == [(client, FULL.format(4)) for client in unknown(*"aaaa")]


async def test_known_client_but_no_stranger_gets_a_place_if_every_address_has_one(
    autojump_clock: MockClock,
) -> None:
    crowd = await crowded(one_at_a_time(max_waiting=3), [*unknown("-", *"abcd"), *known("e")])
    assert "".join(client.source for client in crowd.served) == "ebc"
    assert crowd.refused == [(*unknown("d"), FULL.format(3)), (*unknown("a"), FULL.format(3))]


async def test_own_process_and_operator_are_never_refused(autojump_clock: MockClock) -> None:
    crowd = await crowded(one_at_a_time(max_waiting=2, max_of_one=1), [*unknown("-", "a", "b"), *[OURSELVES] * 4])
    assert crowd.refused == []
    assert Counter(client.source for client in crowd.served) == {"": 4, "a": 1, "b": 1}


async def test_hundred_addresses_that_fill_the_queue_do_not_block_another(autojump_clock: MockClock) -> None:
    attackers = [f"attacker-{number}" for number in range(100)] * 3
    crowd = await crowded(one_at_a_time(max_waiting=200, max_of_one=64), unknown("-", *attackers, "honest"))
    sources = [client.source for client in crowd.served]
    assert sources.index("honest") <= 100  # at most one of each address comes before it
    assert "honest" not in {client.source for client, _ in crowd.refused}


asked = st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=40)


@given(asked, st.integers(1, 3), st.integers(1, 8), st.integers(1, 4), st.sets(st.integers(0, 39)))
def test_every_client_is_served_refused_or_gone_and_every_turn_is_returned(
    clients: list[tuple[str, bool]], at_a_time: int, max_waiting: int, max_of_one: int, leaving: set[int]
) -> None:
    async def run() -> None:
        queue = FairQueue("max_waiting_passwords", at_a_time, max_waiting, max_of_one)
        crowd = Crowd(queue)

        async def ask(number: int, client: QueuedClient) -> None:
            with trio.move_on_after(number % 3 if number in leaving else inf):
                await crowd.ask(client)

        async with trio.open_nursery() as nursery:
            for number, (source, is_known) in enumerate(clients):
                nursery.start_soon(ask, number, QueuedClient(source, is_known))
                await wait_all_tasks_blocked()
                assert len(queue) <= max_waiting
        assert len(queue) == 0
        assert len(crowd.served) + len(crowd.refused) >= len(clients) - len(leaving)
        begun = trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in range(at_a_time):
                nursery.start_soon(crowd.ask, QueuedClient(str(number), known=False))
        assert trio.current_time() - begun == 1, "all turns are free"

    trio.run(run, clock=MockClock(autojump_threshold=0))


async def test_client_cancelled_as_its_turn_begins_passes_it_on(autojump_clock: MockClock) -> None:
    queue = one_at_a_time()
    crowd = Crowd(queue)
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as leaving:
            async with trio.open_nursery() as waiting, queue.turn(QueuedClient("-", known=False)):
                waiting.start_soon(crowd.ask, QueuedClient("a", known=False))
                await wait_all_tasks_blocked()
                nursery.start_soon(crowd.ask, QueuedClient("b", known=False))
                await wait_all_tasks_blocked()
                leaving.cancel()  # the turn ends before the cancellation is noticed
    assert crowd.served == [QueuedClient("b", known=False)]
    await crowd.ask(QueuedClient("c", known=False))
    assert len(crowd.served) == 2
