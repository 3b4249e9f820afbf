"""Who may read which events: seats, spectators, cookies that end, and presence."""

from __future__ import annotations

import time
from typing import Any

import pytest
from trio.testing import MockClock, wait_all_tasks_blocked

from gmd.daemon import Daemon
from gmd.http.pages.live_channel import HEARTBEAT_SECONDS
from gmd.http.pages.visitor import SESSION_SECONDS
from tests.http.pages.browser import Browser, pages
from tests.http.pages.event_reader import cookie_of, live, pages_at_rest, reading, until_readers
from tests.http.pages.test_events import new_game, play

SPECTATE = {"spectate": "live", "spectator_key": "let me see"}


async def registered(daemon: Daemon, name: str) -> int:
    player: int = (await daemon.ask("register", name=name, password="correct horse"))["player"]
    return player


async def game_of(daemon: Daemon, white: int, black: int, **options: Any) -> int:
    """Return a new game of registered players, who have joined it."""
    made = await daemon.ask_as_operator("new_game", player_white=white, player_black=black, **options)
    for player in (white, black):
        await daemon.ask_as_operator("join", player=player, game_id=made["game_id"])
    game_id: int = made["game_id"]
    return game_id


async def test_spectators_of_a_hidden_game_are_sent_nothing_before_its_end(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock, require_registration=False) as (daemon, _):
        game_id = await new_game(daemon, variant="rbc")
        async with reading(daemon, f"/games/{game_id}/events", cookie_of(daemon, 77)) as reader:
            assert b"hidden from spectators" in await reader.drained()
            for player in (1, 2):
                mock_clock.jump(1.0)
                await daemon.ask("sense", player=player, game_id=game_id, square="e4")
                assert await reader.drained() == b""
                await daemon.ask("move", player=player, game_id=game_id, move=None)
                mock_clock.jump(1.0)
                assert await reader.drained() == b""
            await daemon.ask("end_game", player=1, game_id=game_id, termination="resignation_white")
            assert b"event: end" in await reader.drained()


async def test_sense_is_sent_to_its_player_and_to_those_who_see_everything(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock, **SPECTATE, require_registration=True) as (daemon, _):
        white, black = await registered(daemon, "white"), await registered(daemon, "black")
        game_id = await game_of(daemon, white, black, variant="rbc")
        path = f"/games/{game_id}/events"
        async with (
            reading(daemon, path, cookie_of(daemon, white)) as mover,
            reading(daemon, path, cookie_of(daemon, black)) as opponent,
            reading(daemon, path, cookie_of(daemon, None, oversees=True)) as overseer,
            reading(daemon, path) as spectator,
        ):
            await until_readers(daemon, 4)
            for reader in (mover, opponent, overseer, spectator):
                await reader.drained()
            mock_clock.jump(1.0)
            await daemon.ask_as_operator("sense", player=white, game_id=game_id, square="e2")
            assert b'"seat":"white"' in await mover.drained()
            assert b'"seat":null' in await overseer.drained()
            assert await opponent.drained() == b""
            assert await spectator.drained() == b""


async def test_spectator_who_takes_a_seat_reads_again_as_its_player(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock) as (daemon, _):
        game_id = await new_game(daemon, None, 2, variant="rbc")
        async with reading(daemon, f"/games/{game_id}/events", cookie_of(daemon, 1)) as reader:
            assert b'"seat":null' in await reader.drained()
            await daemon.ask("join", player=1, game_id=game_id)
            mock_clock.jump(1.0)
            await until_readers(daemon, 0)
            assert b'"seat":"white"' not in await reader.to_end()
        async with reading(daemon, f"/games/{game_id}/events", cookie_of(daemon, 1)) as reader:
            assert (await reader.state())["seat"] == "white"


async def test_players_of_both_seats_read_from_the_seat_that_they_name() -> None:
    async with pages() as (daemon, _):
        game_id = await new_game(daemon, 1, 1, variant="rbc")
        for view, seat in (("", "white"), ("?view=white", "white"), ("?view=black", "black")):
            async with reading(daemon, f"/games/{game_id}/events{view}", cookie_of(daemon, 1)) as reader:
                assert (await reader.state())["seat"] == seat


# --- Cookies that end -------------------------------------------------------------------------------------------------


async def test_stream_ends_when_its_player_is_revoked_or_has_another_key(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock) as (daemon, _):
        game_id = await new_game(daemon)
        for number, act in enumerate(("revoke", "rekey")):
            player = await registered(daemon, f"ann{number}")
            for path in (f"/games/{game_id}/events", "/events"):
                other = reading(daemon, path, cookie_of(daemon, 77))
                async with reading(daemon, path, cookie_of(daemon, player)) as reader, other as stays:
                    await until_readers(daemon, 2)
                    await stays.drained()
                    if act == "revoke" and path != "/events":
                        await daemon.ask_as_operator("rekey", player=player)
                    else:
                        await daemon.ask_as_operator(act, player=player)
                    await until_readers(daemon, 1)
                    await reader.to_end()
                    mock_clock.jump(HEARTBEAT_SECONDS)
                    assert await stays.drained() == b":\n\n"
                await until_readers(daemon, 0)


async def test_stream_ends_when_its_visitor_signs_out_and_others_of_the_player_go_on(
    mock_clock: MockClock,
) -> None:
    async with pages_at_rest(mock_clock) as (daemon, browser):
        mock_clock.rate = 1.0
        game_id = await new_game(daemon)
        cookies = [await signed_in(daemon, browser) for _ in range(2)]
        path = f"/games/{game_id}/events"
        async with reading(daemon, path, cookies[0]) as stays, reading(daemon, path, cookies[1]) as reader:
            await until_readers(daemon, 2)
            await browser.submit((await browser.get("/")).form("/sign-out"))
            await until_readers(daemon, 1)
            await reader.to_end()
            await stays.state()
            await play(daemon, game_id, "e4")
            assert (await stays.state())["ply"] == 1


async def signed_in(daemon: Daemon, browser: Browser) -> str:
    """Sign a browser in, and return its cookie."""
    if daemon.authenticator.registry.named("ann") is None:
        await registered(daemon, "ann")
    browser.client.cookies.clear()
    await browser.submit((await browser.get("/sign-in")).form("/sign-in"), name="ann", password="correct horse")
    cookie: str = browser.client.cookies["gmd_session"]
    return cookie


async def test_stream_of_a_cookie_that_is_worth_nothing_any_more_ends_at_the_next_heartbeat(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with pages_at_rest(mock_clock, **SPECTATE, require_registration=True) as (daemon, _):
        game_id = await game_of(daemon, await registered(daemon, "ann"), await registered(daemon, "bob"), variant="rbc")
        cookie, issued = cookie_of(daemon, None, oversees=True), time.time()
        async with reading(daemon, f"/games/{game_id}/events", cookie) as reader:
            assert b"hidden from spectators" not in await reader.drained()
            monkeypatch.setattr(time, "time", lambda: issued + SESSION_SECONDS + 10)
            mock_clock.jump(HEARTBEAT_SECONDS)
            await until_readers(daemon, 0)
            await reader.to_end()


# --- Presence ---------------------------------------------------------------------------------------------------------


async def test_registered_player_is_here_while_it_reads_its_own_game(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock, presence_timeout=10, idle_timeout=10_000) as (daemon, _):
        player, other = await registered(daemon, "ann"), await registered(daemon, "bob")
        game_id = await game_of(daemon, player, await registered(daemon, "cid"))
        presence = daemon.authenticator.presence
        path = f"/games/{game_id}/events"
        async with (
            reading(daemon, path, cookie_of(daemon, player)) as reader,
            reading(daemon, path, cookie_of(daemon, other)),
        ):
            await until_readers(daemon, 2)
            await reader.drained()
            mock_clock.jump(1_000.0)
            await wait_all_tasks_blocked()
            assert (presence.is_here(player), presence.is_here(other)) == (True, False)
        await until_readers(daemon, 0)
        assert live(daemon).channels == 0
        mock_clock.jump(11.0)
        assert not presence.is_here(player)


async def test_own_stream_does_not_keep_the_opponent_waiting_for_ever(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock) as (daemon, _):
        game_id = await new_game(daemon, clock="5")
        await play(daemon, game_id, "e4", "e5")
        path = f"/games/{game_id}/events"
        async with (
            reading(daemon, path, cookie_of(daemon, 1)) as white,
            reading(daemon, path, cookie_of(daemon, 2)) as black,
        ):
            for reader in (white, black):
                await reader.drained()
            mock_clock.jump(6.0)
            for reader in (white, black):
                data = await reader.drained()
                assert b"event: end" in data
                assert b'"over":true' in data
