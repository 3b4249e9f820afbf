"""The order in which invitations are listed is fair: one owner's invitations never all precede another's."""

from __future__ import annotations

from collections import Counter
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from gmd.lobby.book import FairOrder, Place

OWNERS = st.sampled_from("abcd")
#: An owner whose game arrives, or the number of the game that leaves.
changes = st.lists(st.one_of(OWNERS, st.integers(0, 40)), max_size=60)


def changed(changes: list[str | int]) -> tuple[FairOrder, dict[int, str]]:
    """Return an order after these changes, and the owner of each game in it."""
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
def test_newcomer_is_preceded_by_at_most_one_game_of_each_owner(changes: list[str | int]) -> None:
    order, owners = changed(changes)
    order.put(1_000, "newcomer")
    before = Counter(owners[game_id] for game_id in list(order)[: list(order).index(1_000)])
    assert all(number <= 1 for number in before.values())


@given(st.lists(OWNERS, max_size=60))
def test_each_owner_gets_its_next_game_before_another_gets_two_more(sent: list[str]) -> None:
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
def test_pages_are_consecutive_parts_of_the_order(changes: list[str | int], size: int) -> None:
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
def test_page_continues_after_the_last_even_if_its_games_are_gone(
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
