"""The order in which invitations are listed: nobody's come all before another's."""

from __future__ import annotations

from collections import Counter
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from gmd.lobby.fair_order import FairOrder, Place

OWNERS = st.sampled_from("abcd")
#: An owner whose game comes in, or the number of the game that goes.
changes = st.lists(st.one_of(OWNERS, st.integers(0, 40)), max_size=60)


def changed(changes: list[str | int]) -> tuple[FairOrder, dict[int, str]]:
    """An order after these changes, and whose each game in it is."""
    order, owners, ids = FairOrder(), {}, count(1)
    for change in changes:
        if isinstance(change, str):
            game_id = next(ids)
            order.put(game_id, change)
            owners[game_id] = change
        elif owners:
            game_id = sorted(owners)[change % len(owners)]
            order.drop(game_id)
            del owners[game_id]
    return order, owners


@given(changes)
def test_whatever_comes_and_goes_the_order_has_each_game_once(changes: list[str | int]) -> None:
    order, owners = changed(changes)
    assert sorted(order) == sorted(owners)
    assert len(order) == len(owners)
    assert all(game_id in order for game_id in owners)
    for game_id in owners:
        order.drop(game_id)
        order.drop(game_id)
    assert list(order) == []


@given(changes)
def test_whoever_has_nothing_there_comes_behind_at_most_one_of_each_other(changes: list[str | int]) -> None:
    order, owners = changed(changes)
    order.put(1_000, "newcomer")
    before = Counter(owners[game_id] for game_id in list(order)[: list(order).index(1_000)])
    assert all(number <= 1 for number in before.values())


@given(st.lists(OWNERS, max_size=60))
def test_of_those_who_only_send_each_gets_its_next_before_any_other_gets_two_more(sent: list[str]) -> None:
    order, owners = changed(list(sent))
    seen: Counter[str] = Counter()
    left = Counter(sent)
    for game_id in order:
        owner = owners[game_id]
        seen[owner] += 1
        left[owner] -= 1
        assert all(seen[other] >= seen[owner] - 1 for other in left if left[other])
    of_each = {owner: [game_id for game_id in order if owners[game_id] == owner] for owner in set(sent)}
    assert all(ids == sorted(ids) for ids in of_each.values())


@given(changes, st.integers(1, 7))
def test_pages_are_the_order_cut_in_pieces(changes: list[str | int], size: int) -> None:
    order, _ = changed(changes)
    found: list[int] = []
    after: Place | None = None
    while True:
        page, after = order.page(size, after)
        assert len(page) == size or after is None
        found += page
        if after is None:
            break
    assert found == list(order)


@given(changes, st.integers(1, 7), st.integers(0, 40))
def test_a_page_goes_on_where_the_last_ended_though_its_games_are_gone(
    changes: list[str | int], size: int, gone: int
) -> None:
    order, _ = changed(changes)
    everything = list(order)
    page, after = order.page(size)
    for game_id in page[: gone % (len(page) + 1)]:
        order.drop(game_id)
    if after is not None:
        assert order.page(1_000, after) == (everything[size:], None)
    assert order.page(1_000, Place(1_000, 0)) == ([], None)
