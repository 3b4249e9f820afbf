"""The leaderboard, for every client, and the games from which it is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import structlog
import trio
from trio.testing import MockClock

from gmd.event_log.memory import MemoryLog
from gmd.lobby.invitation import Offer
from gmd.lobby.results import Record
from gmd.lobby.strengths import MEAN, SPREAD
from tests.helpers import durable_daemon, store_in
from tests.http.helpers import http_daemon
from tests.lobbying import ALICE, BOB, CAROL, House, house, housed
from tests.ranked.ladders import rate

#: Longer than the time to compute a small ladder, and to rest afterwards.
MOMENT = 5.0


async def play(there: House, white: int, black: int, winner: int, *, ranked: bool = True) -> None:
    """Play a game that ends as soon as it has begun, by resignation."""
    lobby, now = there.daemon.lobby, trio.current_time()
    game_id = (await lobby.offer(Offer(white, black, ranked=ranked))).game.id
    for player in (white, black):
        await lobby.accept(game_id, player, now)
    clients = {ALICE: there.alice, BOB: there.bob, CAROL: there.carol}
    loser = black if winner == white else white
    color = "white" if loser == white else "black"
    reply = await clients[loser].ask("end_game", game_id=game_id, termination=f"resignation_{color}")
    assert reply["error"] is None, reply


async def play_some(there: House) -> None:
    """Let Alice beat Bob and Bob beat Carol three times each, and lose once."""
    for one, other in ((ALICE, BOB), (BOB, CAROL)):
        for number in range(4):
            white, black = (one, other) if number % 2 else (other, one)
            await play(there, white, black, winner=one if number < 3 else other)
    await play(there, ALICE, CAROL, winner=CAROL, ranked=False)


async def board(there: House, **fields: Any) -> dict[str, Any]:
    await trio.sleep(MOMENT)
    reply: dict[str, Any] = await there.alice.ask("leaderboard", **fields)
    assert reply["error"] is None, reply
    return reply


async def test_leaderboard_lists_all_ranked_players_strongest_first(autojump_clock: MockClock) -> None:
    async with house() as there:
        assert await board(there) == {"leaderboard": [], "after": None, "games": 0, "error": None}
        await play_some(there)
        reply = await board(there)
        assert reply["games"] == 8
        rows = reply["leaderboard"]
        assert [(row["place"], row["name"], row["player"]) for row in rows] == [
            (1, "alice", ALICE),
            (2, "bob", BOB),
            (3, "carol", CAROL),
        ]
        score = [(row["games"], row["wins"], row["draws"], row["losses"]) for row in rows]
        assert score == [(4, 3, 0, 1), (8, 4, 0, 4), (4, 1, 0, 3)]
        assert rows[1]["rating"] == MEAN
        assert rows[0]["rating"] + rows[2]["rating"] == 2 * MEAN
        assert rows[1]["deviation"] < rows[0]["deviation"] == rows[2]["deviation"] < SPREAD
        assert not any(row["anchor"] or row["version"] for row in rows)


async def test_leaderboard_is_shown_in_pages_without_a_player_too(autojump_clock: MockClock) -> None:
    async with house() as there:
        await play_some(there)
        first = await board(there, limit=2, player=None)
        assert ([row["place"] for row in first["leaderboard"]], first["after"]) == ([1, 2], 2)
        second = await board(there, limit=2, after=2)
        assert ([row["place"] for row in second["leaderboard"]], second["after"]) == ([3], None)
        beyond = await board(there, after=2**53 - 1)
        assert (beyond["leaderboard"], beyond["after"]) == ([], None)


async def test_anchor_keeps_its_given_rating(autojump_clock: MockClock) -> None:
    async with house(anchors="Carol=800, nobody=1") as there:
        await play_some(there)
        rows = {row["name"]: row for row in (await board(there))["leaderboard"]}
        assert (rows["carol"]["rating"], rows["carol"]["deviation"], rows["carol"]["anchor"]) == (800, 0, True)
        assert 800 < rows["bob"]["rating"] < rows["alice"]["rating"]
        ratings = there.daemon.services.ranked.ratings
        assert ratings.of(CAROL, 9).rating == 800


async def test_anchor_without_a_player_is_warned_about(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            await housed(daemon)
        with structlog.testing.capture_logs() as logged:
            async with durable_daemon(store, anchors="Carol=800,carrol=900"):
                pass
    warned = [entry["anchor"] for entry in logged if "anchor" in entry]
    assert warned == ["carrol"]


async def computed(there: House, games: int) -> dict[str, Any]:
    """Return the leaderboard once it covers this many games, on a real disk and in real time."""
    while True:
        reply: dict[str, Any] = await there.alice.ask("leaderboard")
        if reply["games"] == games:
            return reply


async def test_leaderboard_is_the_same_after_a_restart_and_agrees_with_the_log(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            there = await housed(daemon)
            await play_some(there)
            before = await computed(there, 8)
            recomputed = rate(Record((await daemon.arbiter.log.ranked()).results))
            shown = [(row["rating"], row["deviation"]) for row in before["leaderboard"]]
            assert sorted((r.rating, r.deviation) for r in recomputed.values()) == sorted(shown)
        async with durable_daemon(store) as daemon:
            assert await computed(await housed(daemon), 8) == before


async def test_pruned_games_no_longer_count(autojump_clock: MockClock) -> None:
    log = MemoryLog()
    async with house(log) as there:
        await play_some(there)
        while pruned := await log.prune(0):
            for game in pruned:
                there.daemon.arbiter.forget(game)
        assert await board(there) == {"leaderboard": [], "after": None, "games": 0, "error": None}
        await play(there, ALICE, BOB, winner=BOB)
        assert (await board(there))["games"] == 1
    async with house(log) as there:
        assert (await board(there))["games"] == 1


async def test_leaderboard_over_http_needs_no_authorization() -> None:
    async with http_daemon() as (_, client):
        for path in ("/api/leaderboard", "/api/leaderboard/", "/api/leaderboard?limit=1&after=7"):
            response = await client.get(path)
            assert (response.status_code, response.json()) == (200, {"leaderboard": [], "games": 0, "after": None})
        for query in ("limit=0", "limit=101", "after=-1", "after=x"):
            response = await client.get(f"/api/leaderboard?{query}")
            assert response.status_code == 400, query
            assert response.json()["code"] == "bad_request"
