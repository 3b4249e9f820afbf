"""Two programs of one player never both play a game; a game made by hand is played by the player's own program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
import trio
from trio.testing import MockClock

from gm_protocol.errors import NotAvailable
from gmd.http.claims import MAX_CLAIMS, Claims
from tests.http.helpers import http_client, http_daemon
from tests.http.rbc import PATIENCE_SECONDS, Player, Table, answered, rbc_table

#: Settings under which no connection ends by a timeout.
PATIENT = {"idle_timeout": 10_000, "frame_timeout": 10_000, "presence_timeout": 10_000}


class Program:
    """A program of a player, on its own connection."""

    def __init__(self, client: httpx.AsyncClient, player: Player) -> None:
        self._client = client
        self._auth = player.auth

    async def listed(self) -> list[int]:
        invitations: list[int] = answered(await self._client.get("/api/invitations/", auth=self._auth))["invitations"]
        return invitations

    async def accept(self, game_id: int) -> httpx.Response:
        return await self._client.post(f"/api/invitations/{game_id}", auth=self._auth)

    async def finish(self, game_id: int) -> httpx.Response:
        return await self._client.post(f"/api/invitations/{game_id}/finish", auth=self._auth)

    async def look(self, game_id: int) -> None:
        answered(await self._client.get(f"/api/games/{game_id}/color", auth=self._auth))

    async def invite(self, opponent: Player) -> int:
        body = {"opponent": opponent.auth[0], "color": True}
        game_id: int = answered(await self._client.post("/api/invitations/", json=body, auth=self._auth))["game_id"]
        return game_id


@asynccontextmanager
async def program(table: Table, player: Player) -> AsyncIterator[Program]:
    """Yield a :class:`Program`."""
    async with http_client(table.daemon.http_port, timeout=PATIENCE_SECONDS) as client:
        yield Program(client, player)


@asynccontextmanager
async def two_programs(**settings: float) -> AsyncIterator[tuple[Table, Program, Program, Program]]:
    """Yield a daemon, two programs of Black, and a program of White, which invites."""
    async with (
        rbc_table(**PATIENT, **settings) as table,
        program(table, table.black) as one,
        program(table, table.black) as other,
        program(table, table.white) as white,
    ):
        assert await one.listed() == await white.listed() == []  # now both players are active
        yield table, one, other, white


async def test_accepted_invitation_is_listed_only_to_the_connection_that_accepted_it() -> None:
    async with two_programs() as (table, one, other, white):
        game_id = await white.invite(table.black)
        assert await one.listed() == await other.listed() == [game_id]
        for _ in range(2):  # the first reply may have been lost
            assert answered(await one.accept(game_id)) == {"game_id": game_id}
            assert (await one.listed(), await other.listed()) == ([game_id], [])
        response = await other.accept(game_id)
        assert (response.status_code, response.json()["code"]) == (401, "not_available")
        assert response.json()["error"] == (
            f"invitation {game_id}: another program of this account has accepted it and plays it; "
            "run one rc-connect for each account"
        )
        answered(await table.black.post(game_id, "ready"))
        assert (await one.listed(), await other.listed()) == ([], [])
        assert (await other.accept(game_id)).status_code == 401
        assert answered(await one.accept(game_id)) == {"game_id": game_id}


async def test_one_of_two_simultaneous_accepts_gets_the_game() -> None:
    async with two_programs() as (table, one, other, white):
        for _ in range(5):
            game_id = await white.invite(table.black)
            statuses: list[int] = []

            async def accept(program: Program, game_id: int, statuses: list[int]) -> None:
                statuses.append((await program.accept(game_id)).status_code)

            async with trio.open_nursery() as nursery:
                for each in (one, other):
                    nursery.start_soon(accept, each, game_id, statuses)
            assert sorted(statuses) == [200, 401]
            answered(await table.black.post(game_id, "error_resign"))


async def test_invitation_of_a_lost_program_is_listed_to_others_again(autojump_clock: MockClock) -> None:
    async with two_programs(start_timeout=1_000) as (table, one, other, white):
        game_id = await white.invite(table.black)
        answered(await one.accept(game_id))  # the reply is lost, and the program with it
        await trio.sleep(59)
        assert await other.listed() == []
        await trio.sleep(2)
        assert await other.listed() == [game_id]
        assert answered(await other.accept(game_id)) == {"game_id": game_id}
        assert (await one.accept(game_id)).status_code == 401


async def test_program_that_has_asked_about_its_game_keeps_it(autojump_clock: MockClock) -> None:
    async with two_programs(start_timeout=1_000) as (table, one, other, white):
        game_id = await white.invite(table.black)
        answered(await one.accept(game_id))
        await trio.sleep(30)
        await one.look(game_id)  # as reconchess's client does before it is ready
        await trio.sleep(500)
        assert await other.listed() == []
        assert (await other.accept(game_id)).status_code == 401


async def test_program_has_at_most_half_of_the_start_timeout_to_be_ready(autojump_clock: MockClock) -> None:
    async with two_programs(start_timeout=20) as (table, one, other, white):
        game_id = await white.invite(table.black)
        answered(await one.accept(game_id))
        await trio.sleep(11)
        assert await other.listed() == [game_id]


async def test_refused_accept_claims_nothing() -> None:
    async with two_programs() as (table, one, other, white):
        for game_id in (1, 99):
            assert (await one.accept(game_id)).status_code == 400
        assert await white.invite(table.black) == 1
        assert answered(await other.accept(1)) == {"game_id": 1}


async def test_game_played_over_tcp_cannot_be_accepted_over_http() -> None:
    async with two_programs() as (table, one, _, white):
        game_id = await white.invite(table.black)
        assert await one.listed() == [game_id]
        await table.daemon.ask_as_operator("accept", player=table.black.id, game_id=game_id)
        assert await one.listed() == []
        assert (await one.accept(game_id)).status_code == 401


async def test_game_made_by_hand_is_offered_to_the_program_of_its_player(autojump_clock: MockClock) -> None:
    async with two_programs() as (table, one, other, white):
        game_id = await one.invite(table.white)
        assert await white.listed() == [game_id]
        assert answered(await white.accept(game_id)) == {"game_id": game_id}
        await trio.sleep(14)
        assert await other.listed() == []
        assert (await other.accept(game_id)).status_code == 400
        await trio.sleep(2)
        assert await other.listed() == [game_id]
        assert answered(await other.accept(game_id)) == {"game_id": game_id}
        assert await one.listed() == []
        assert (await one.accept(game_id)).status_code == 401
        await other.look(game_id)
        answered(await table.black.post(game_id, "ready"))
        answered(await table.black.post(game_id, "error_resign"))
        assert answered(await other.finish(game_id)) == {}
        assert await other.listed() == []


async def test_offered_game_is_accepted_after_a_restart_has_forgotten_the_claims() -> None:
    async with two_programs() as (table, one, other, _):
        game_id = await one.invite(table.white)
        table.daemon.http.claims.forget(table.black.id, game_id)
        assert answered(await other.accept(game_id)) == {"game_id": game_id}
        assert (await one.accept(game_id)).status_code == 401


async def test_game_is_not_offered_to_a_player_who_plays_it(autojump_clock: MockClock) -> None:
    async with two_programs() as (table, one, other, _):
        game_id = await one.invite(table.white)
        await one.look(game_id)
        await trio.sleep(100)
        assert await other.listed() == []
        assert (await other.accept(game_id)).status_code == 400


@pytest.mark.parametrize("how", ["error_resign", "expired"])
async def test_finished_game_is_not_offered(autojump_clock: MockClock, how: str) -> None:
    async with two_programs(invitation_timeout=30) as (table, one, other, _):
        game_id = await one.invite(table.white)
        if how == "error_resign":
            await table.daemon.ask_as_operator(
                "end_game", game_id=game_id, seat="white", termination="resignation_white"
            )
        await trio.sleep(40)
        assert await other.listed() == []
        assert (await other.accept(game_id)).status_code == 400


async def test_claims_are_bounded() -> None:
    claims = Claims(300)
    for game_id in range(MAX_CLAIMS + 1):
        with claims.accepting(1, game_id, "one"):
            pass
    assert claims.admits(1, 0, "other")
    assert not claims.admits(1, 1, "other")
    assert claims.admits(2, 1, "other")
    with pytest.raises(NotAvailable, match="invitation 1:"), claims.accepting(1, 1, "other"):
        pass


async def test_claims_of_a_revoked_player_are_forgotten() -> None:
    """A thief of the key must not keep games from the owner, who returns with a new key."""
    async with http_daemon() as (daemon, _):
        account, _ = await daemon.authenticator.registry.register("bot", None, None)
        assert daemon.http is not None
        claims = daemon.http.claims
        with claims.accepting(account.player, 7, "thief"):
            pass
        claims.act(account.player, 7)
        assert not claims.admits(account.player, 7, "owner")
        await daemon.authenticator.registry.revoke(account.player)
        assert claims.admits(account.player, 7, "owner")
