"""``games``: pages of games, newest first."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.helpers import Client, memory_daemon


async def listed(client: Client, **query: Any) -> list[int]:
    """Return the ids on one page."""
    reply = await client.ask("games", **query)
    assert reply["error"] is None
    return [row["game_id"] for row in reply["games"]]


async def prepared(client: Client) -> None:
    """Make five games: 2 is over, 3 is crazyhouse, 4 is without player 1, in 5 player 1 has both seats."""
    await client.new_game(1, 2)
    await client.new_game(2, 1)
    await client.ask("end_game", player=2, game_id=2, termination="resignation_white")
    await client.new_game(1, 2, variant="crazyhouse")
    await client.new_game(3, 2)
    await client.new_game(1, 1)


async def test_row_describes_the_current_game(client: Client) -> None:
    await client.new_game(1, -7)
    await client.play(1, "e4", black=-7)
    (row,) = (await client.ask("games"))["games"]
    for time in (row.pop("created"), row.pop("changed")):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time)
    assert row == {
        "game_id": 1,
        "variant": "standard",
        "player_white": 1,
        "player_black": -7,
        "status": "live",
        "turn": "black",
        "ply_index": 1,
        "termination": "available_move",
        "result": "*",
    }
    await client.ask("end_game", player=-7, game_id=1, termination="resignation_black")
    (row,) = (await client.ask("games"))["games"]
    assert (row["status"], row["termination"], row["result"]) == ("over", "resignation_black", "1-0")


async def test_listing_can_be_filtered(client: Client) -> None:
    queries: list[tuple[dict[str, Any], list[int]]] = [
        ({}, [5, 4, 3, 2, 1]),
        ({"player": 1}, [5, 3, 2, 1]),
        ({"player": 3}, [4]),
        ({"player": 9}, []),
        ({"player": None}, [5, 4, 3, 2, 1]),
        ({"status": "live"}, [5, 4, 3, 1]),
        ({"status": "over"}, [2]),
        ({"status": "open"}, []),
        ({"variant": "crazyhouse"}, [3]),
        ({"variant": "chess960"}, []),
        ({"before": 3}, [2, 1]),
        ({"before": 0}, []),
        ({"before": 2**53 - 1}, [5, 4, 3, 2, 1]),
        ({"player": 1, "status": "live", "variant": "standard", "before": 5}, [1]),
    ]
    await prepared(client)
    for query, found in queries:
        assert await listed(client, **query) == found, query


async def test_player_of_the_session_filters_the_listing() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=3)
        await prepared(client)
        assert await listed(client) == [4]
        assert await listed(client, player=None) == [5, 4, 3, 2, 1]


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
@pytest.mark.parametrize("query", [{}, {"player": 2}], ids=str)
async def test_pages_follow_each_other_by_before(client: Client, limit: int, query: dict[str, Any]) -> None:
    await prepared(client)
    everything = await listed(client, **query)
    found: list[int] = []
    before = None
    while True:
        reply = await client.ask("games", limit=limit, before=before, **query)
        found += [row["game_id"] for row in reply["games"]]
        before = reply["before"]
        if before is None:
            break
        assert len(reply["games"]) == limit
    assert found == everything


async def test_page_has_at_most_a_hundred_rows(client: Client) -> None:
    for _ in range(101):
        await client.new_game(brief=True)
    reply = await client.ask("games")
    assert (len(reply["games"]), reply["games"][0]["game_id"], reply["before"]) == (100, 101, 2)
    assert (await listed(client, before=2)) == [1]


@pytest.mark.parametrize(("field", "value"), [("limit", 0), ("limit", 101), ("status", "new"), ("variant", "atomic")])
async def test_wrong_value_is_refused_with_its_field(client: Client, field: str, value: object) -> None:
    reply = await client.ask("games", **{field: value})
    assert reply["code"] == "bad_request"
    assert reply["error"].startswith(f"{field}: ")
