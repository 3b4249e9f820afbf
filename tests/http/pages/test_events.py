"""Server-sent events: what a reader is sent, and when."""

from __future__ import annotations

from typing import Any

from trio.testing import MockClock

from gmd.daemon import Daemon
from gmd.http.pages import live_events
from gmd.http.pages.live_channel import HEARTBEAT, HEARTBEAT_SECONDS
from gmd.http.pages.live_view import MOST_MOVES
from tests.helpers import Json
from tests.http.pages.browser import pages
from tests.http.pages.event_reader import EventReader, cookie_of, live, pages_at_rest, reading, until_readers


async def new_game(daemon: Daemon, white: int | None = 1, black: int | None = 2, **options: Any) -> int:
    game_id: int = (await daemon.ask("new_game", player_white=white, player_black=black, **options))["game_id"]
    return game_id


async def play(daemon: Daemon, game_id: int, *moves: str, first: int = 0) -> None:
    """Make moves; players 1 and 2 take turns."""
    for ply, move in enumerate(moves, first):
        await daemon.ask("move", player=1 + ply % 2, game_id=game_id, move=move)


async def test_reader_is_sent_the_present_state_at_once_and_each_change() -> None:
    async with pages() as (daemon, _):
        game_id = await new_game(daemon, clock="300")
        await play(daemon, game_id, "e4")
        async with reading(daemon, f"/games/{game_id}/events") as reader:
            assert reader.head.startswith(b"HTTP/1.1 200 OK\r\n")
            first = await reader.state()
            assert (first["ply"], first["moves"], first["seat"], first["over"]) == (1, [], None, False)
            assert first["board"]["last_move"] == "e2e4"
            assert first["clock"]["running"] == "black"
            assert 'class="clock running" data-clock="black"' in first["html"]
            await play(daemon, game_id, "c5", first=1)
            second = await reader.state()
            assert second["moves"] == [{"ply": 2, "number": 1, "color": "black", "san": "c5"}]
            assert second["seq"] > first["seq"]


async def test_last_event_of_a_game_is_followed_by_the_end() -> None:
    async with pages() as (daemon, _):
        game_id = await new_game(daemon)
        async with reading(daemon, f"/games/{game_id}/events") as reader:
            await reader.state()
            await daemon.ask("end_game", player=1, game_id=game_id, termination="resignation_white")
            last = await reader.state()
            assert last["over"]
            assert "Black won by resignation" in last["html"]
            assert (await reader.event()).name == "end"
            assert await reader.to_end() == b""
        async with reading(daemon, f"/games/{game_id}/events") as reader:
            assert (await reader.state())["over"]
            assert (await reader.event()).name == "end"
            assert await reader.to_end() == b""
        await until_readers(daemon, 0)
        assert live(daemon).channels == 0


#: The value of Last-Event-ID, the query, and the moves that are sent after three.
SINCE: list[tuple[str | None, str, list[str]]] = [
    (str(1 * 16 + 3), "", ["e5", "Nf3"]),
    (None, "?since=2", ["Nf3"]),
    (str(2 * 16), "?since=0", ["Nf3"]),
    ("0", "", ["e4", "e5", "Nf3"]),
    ("x", "?since=1", ["e5", "Nf3"]),
    *((last, "", []) for last in (None, str(3 * 16 + 3), str(4 * 16), "-16", "1e2", "²", "9" * 400)),
    *((None, f"?since={since}", []) for since in ("-1", "1.0", "", "%00")),
]


async def test_moves_since_the_last_event_are_sent_and_malformed_numbers_are_ignored() -> None:
    async with pages() as (daemon, _):
        game_id = await new_game(daemon)
        await play(daemon, game_id, "e4", "e5", "Nf3")
        for last, query, moves in SINCE:
            async with reading(daemon, f"/games/{game_id}/events{query}", last=last) as reader:
                assert [move["san"] for move in (await reader.state())["moves"]] == moves


async def test_moves_are_numbered_as_in_a_game_that_black_begins() -> None:
    async with pages() as (daemon, _):
        game_id = await new_game(daemon, fen="4k3/8/8/8/8/8/4P3/4K3 b - - 0 7")
        await daemon.ask("move", player=2, game_id=game_id, move="Kd7")
        await daemon.ask("move", player=1, game_id=game_id, move="e4")
        async with reading(daemon, f"/games/{game_id}/events?since=0") as reader:
            moves = (await reader.state())["moves"]
        assert [(move["ply"], move["number"], move["color"], move["san"]) for move in moves] == [
            (1, 7, "black", "Kd7"),
            (2, 8, "white", "e4"),
        ]


async def test_reader_who_lacks_very_many_moves_is_sent_none_of_them() -> None:
    async with pages() as (daemon, _):
        game_id = await new_game(daemon)
        shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"]
        await play(daemon, game_id, *(shuffle * (MOST_MOVES // 4)), "Nf3")
        async with reading(daemon, f"/games/{game_id}/events?since=1") as reader:
            assert len((await reader.state())["moves"]) == MOST_MOVES
        async with reading(daemon, f"/games/{game_id}/events?since=0") as reader:
            assert (await reader.state())["moves"] == []


async def test_changes_that_nobody_sees_send_nothing() -> None:
    async with pages() as (daemon, _):
        game_id = await new_game(daemon, clock="300")
        async with reading(daemon, f"/games/{game_id}/events") as reader:
            assert b"data: " in await reader.drained()
            for player in (1, 2):  # first contact, which starts the clock and is not shown
                await daemon.ask("wait", player=player, game_id=game_id, timeout=0)
            await daemon.ask("state", game_id=game_id)
            assert await reader.drained() == b""


async def test_unknown_game_is_refused_as_other_addresses_refuse_it() -> None:
    async with pages() as (_, browser):
        answer = await browser.client.get("/games/7/events")
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
        for strange in ("/games/x/events", "/games/1_0/events", "/games/99999999999999999999/events"):
            assert (await browser.client.get(strange)).status_code in (400, 404)


async def test_head_has_no_events() -> None:
    async with pages() as (daemon, browser):
        game_id = await new_game(daemon)
        for path in (f"/games/{game_id}/events", "/events"):
            answer = await browser.client.head(path)
            assert (answer.status_code, answer.headers["content-type"], answer.content) == (
                200,
                "text/event-stream",
                b"",
            )
        assert live(daemon).readers == 0


async def test_heartbeats_come_at_a_fixed_rhythm_from_the_connection_on(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock) as (daemon, _):
        game_id = await new_game(daemon)
        async with reading(daemon, f"/games/{game_id}/events") as reader:
            await reader.drained()
            mock_clock.jump(HEARTBEAT_SECONDS - 0.5)
            assert await reader.drained() == b""
            await play(daemon, game_id, "e4")
            assert b'"ply":1' in await reader.drained()
            mock_clock.jump(0.5)
            assert await reader.drained() == HEARTBEAT
            mock_clock.jump(HEARTBEAT_SECONDS)
            assert await reader.drained() == HEARTBEAT


async def test_spectator_is_sent_changes_in_quick_succession_together(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock) as (daemon, _):
        game_id = await new_game(daemon)
        async with (
            reading(daemon, f"/games/{game_id}/events") as watcher,
            reading(daemon, f"/games/{game_id}/events", cookie_of(daemon, 2)) as player,
        ):
            for reader in (watcher, player):
                await reader.drained()
            mock_clock.jump(live_events.LEAST_SECONDS)
            await play(daemon, game_id, "e4")
            assert b'"san":"e4"' in await watcher.drained()
            await play(daemon, game_id, "e5", "Nf3", first=1)
            assert await watcher.drained() == b""
            assert b'"san":"Nf3"' in await player.drained()  # who plays does not wait
            mock_clock.jump(live_events.LEAST_SECONDS)
            data = await watcher.drained()
            assert data.count(b"data: ") == 1
            assert b'"san":"e5"' in data
            assert b'"san":"Nf3"' in data


# --- The home page's lists --------------------------------------------------------------------------------------------


async def next_lists(reader: EventReader) -> Json:
    event = await reader.event()
    assert event.name == "lists"
    lists: Json = event.data
    return lists


async def test_lists_follow_games_that_begin_move_and_end(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock) as (daemon, _), reading(daemon, "/events") as reader:
        mock_clock.rate = 10.0
        assert "No game is being played" in (await next_lists(reader))["live"]
        game_id = await new_game(daemon, None, 2)
        assert f"/games/{game_id}" in (await next_lists(reader))["offered"]
        await daemon.ask("join", player=1, game_id=game_id)
        lists = await next_lists(reader)
        assert (lists["offered"], f"/games/{game_id}" in lists["live"]) == ("", True)
        await play(daemon, game_id, "e4")
        assert "Black to move" in (await next_lists(reader))["live"]
        await daemon.ask("end_game", player=1, game_id=game_id, termination="resignation_white")
        lists = await next_lists(reader)
        assert "No game is being played" in lists["live"]
        assert "Black won by resignation" in lists["finished"]


async def test_player_is_told_that_its_own_games_have_changed_and_nobody_else_is() -> None:
    async with pages() as (daemon, browser):
        async with (
            reading(daemon, "/events", cookie_of(daemon, 10**9 + 1)) as player,
            reading(daemon, "/events", cookie_of(daemon, 10**9 + 2)) as other,
        ):
            for reader in (player, other):
                await reader.drained()
            game_id = await new_game(daemon, 10**9 + 1, 2)
            assert b"event: mine\n" in await player.drained()
            assert b"event: mine\n" not in await other.drained()
        browser.client.cookies.set("gmd_session", cookie_of(daemon, 10**9 + 1))
        part = await browser.client.get("/?part=mine")
        assert f"/games/{game_id}" in part.text
        assert "<html" not in part.text
