"""Open seats, seats reserved for invited players, and games before both seats are taken."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio
from trio.testing import MockClock

from gmd.players.account import FIRST_PLAYER
from tests.helpers import Client, Json, MemoryDaemon, durable_daemon, memory_daemon, store_in

ALICE, BOB = FIRST_PLAYER, FIRST_PLAYER + 1


class House(NamedTuple):
    """A daemon with two registered players, each in its own session, and a player with an open id."""

    daemon: MemoryDaemon
    alice: Client
    bob: Client
    open: Client


async def enter(daemon: MemoryDaemon, name: str) -> Client:
    """Register a player and return its session."""
    client = await daemon.connect()
    key = (await client.ask("register", name=name, token="t"))["key"]
    assert (await client.ask("hello", name=name, key=key))["error"] is None
    return client


@asynccontextmanager
async def house(**settings: Any) -> AsyncIterator[House]:
    async with memory_daemon(**settings) as daemon:
        yield House(daemon, await enter(daemon, "alice"), await enter(daemon, "bob"), await daemon.connect(player=7))


def seats(reply: Json) -> tuple[object, object, object]:
    state = reply["state"]
    return state["player_white"], state["player_black"], state["phase"]


async def listed(client: Client, **fields: Any) -> list[tuple[int, str]]:
    rows = (await client.ask("games", **{"player": None, **fields}))["games"]
    return [(row["game_id"], row["status"]) for row in rows]


async def test_open_seat_goes_to_the_first_player_who_joins() -> None:
    async with house() as (_, alice, bob, anybody):
        made = await alice.new_game(ALICE, None)
        assert seats(made) == (ALICE, None, "open")
        assert await listed(bob, status="open") == [(1, "open")]
        assert await listed(bob, status="live") == []
        joined = await bob.ask("join", game_id=1)
        assert (joined["error"], joined["seat"], joined["options"]) == (None, "black", made["options"])
        assert seats(joined) == (ALICE, BOB, "move")
        late = await anybody.ask("join", game_id=1)
        assert (late["code"], late["error"]) == (
            "not_available",
            "seat: no seat is free for player 7 in game 1: taken",
        )
        assert await listed(bob, status="live") == [(1, "live")]
        assert await listed(bob, player=BOB) == [(1, "live")]


async def test_state_and_join_name_registered_players_only() -> None:
    async with house() as (_, alice, bob, anybody):
        await alice.new_game(ALICE, None)
        for client, player in ((alice, ALICE), (bob, BOB), (anybody, None)):
            reply = await client.ask("state", game_id=1, player=player, brief=True)
            assert reply["names"] == {"white": "alice", "black": None}
        joined = await bob.ask("join", game_id=1, brief=True)
        assert joined["names"] == {"white": "alice", "black": "bob"}
        assert (await anybody.ask("state", game_id=1, brief=True))["names"] == joined["names"]
        moved = await alice.ask("move", game_id=1, move="e4", brief=True)
        waited = await bob.ask("wait", game_id=1, brief=True)
        assert "names" not in moved | waited


async def test_game_of_open_ids_has_no_names() -> None:
    async with house() as (_, _, _, anybody):
        await anybody.new_game(7, 8)
        shown, joined = await anybody.ask("state", game_id=1), await anybody.ask("join", game_id=1)
        assert "names" not in shown | joined


async def test_repeated_join_shows_the_game_again() -> None:
    async with house() as (_, alice, bob, _open):
        await alice.new_game(None, ALICE)
        first = await bob.ask("join", game_id=1)
        assert await bob.ask("join", game_id=1) == first
        assert await bob.ask("join", game_id=1, seat="white") == first
        assert (await alice.ask("join", game_id=1))["seat"] == "black"


async def test_open_id_may_join_both_seats_if_it_names_them() -> None:
    async with house() as (_, _alice, _bob, anybody):
        await anybody.new_game(None, None)
        assert (await anybody.ask("join", game_id=1))["seat"] == "white"
        assert (await anybody.ask("join", game_id=1))["seat"] == "white"
        joined = await anybody.ask("join", game_id=1, seat="black")
        assert (joined["seat"], *seats(joined)) == ("black", 7, 7, "move")


async def test_registered_player_is_seated_only_in_games_of_its_own_request() -> None:
    async with house() as (_, alice, bob, anybody):
        for game_id, (client, phase) in enumerate([(alice, "open"), (bob, "open"), (anybody, "open")], 1):
            made = await client.new_game(ALICE, BOB)
            assert (made["game_id"], seats(made)) == (game_id, (ALICE, BOB, phase))
        assert seats(await alice.ask("new_game", player_white=ALICE, player_black=7)) == (ALICE, 7, "move")
        for game_id, holders in ((1, {ALICE}), (2, {BOB}), (3, set())):
            for player, client in ((ALICE, alice), (BOB, bob)):
                acted = await client.ask("actions", game_id=game_id)
                assert acted.get("code") == (None if player in holders else "not_a_player")
                if player not in holders:
                    words = f"player: {player} has no seat in game {game_id}; it is invited to one: join first"
                    assert acted["error"] == words


async def test_reserved_seat_is_refused_to_other_players() -> None:
    async with house() as (_, alice, bob, anybody):
        await anybody.new_game(7, BOB)
        refused = await alice.ask("join", game_id=1)
        assert refused["error"] == f"seat: no seat is free for player {ALICE} in game 1: kept for another player"
        refused = await alice.ask("join", game_id=1, seat="black")
        assert refused["error"] == (
            f"seat: black's seat is not free for player {ALICE} in game 1: kept for another player"
        )
        assert (await bob.ask("join", game_id=1, seat="white"))["code"] == "not_available"
        assert (await bob.ask("join", game_id=1))["seat"] == "black"


async def test_game_cannot_be_played_before_both_seats_are_taken() -> None:
    async with house() as (_, alice, bob, _open):
        await alice.new_game(ALICE, None, pgn="1.Nf3 Nf6 2.Ng1 Ng8 3.Nf3 Nf6 4.Ng1 Ng8")
        for kind, fields in {
            "move": {"move": "e4"},
            "move ": {"move": "e4", "ply": 0},
            "end_game": {"termination": "taken_draw_white"},
        }.items():
            reply = await alice.ask(kind.strip(), game_id=1, **fields)
            assert reply == {
                "state": None,
                "code": "not_available",
                "error": "game 1 has not begun: black's seat is not taken; wait for it",
            }
        assert (await alice.ask("actions", game_id=1))["move_actions"] is None
        await bob.ask("join", game_id=1)
        assert (await alice.ask("move", game_id=1, move="e4"))["error"] is None


async def test_wait_ends_when_the_seats_are_taken_and_the_player_is_to_move() -> None:
    async with house() as (_, alice, bob, _open):
        await alice.new_game(ALICE, None)
        assert (await alice.ask("wait", game_id=1, timeout=0))["state"]["phase"] == "open"
        await alice.send({"kind": "wait", "game_id": 1})
        await bob.ask("join", game_id=1)
        assert seats(await alice.receive()) == (ALICE, BOB, "move")


async def test_wait_for_any_game_shows_an_invitation_until_it_is_accepted() -> None:
    async with house() as (_, alice, bob, _open):
        await bob.send({"kind": "wait", "any": True})
        await alice.new_game(ALICE, BOB)
        shown = await bob.receive()
        assert (shown["game_id"], seats(shown)) == (1, (ALICE, BOB, "open"))
        assert (await bob.ask("wait", any=True, timeout=0))["game_id"] == 1
        assert await bob.ask("wait", any=True, timeout=0, **{"except": [1]}) == {"state": None, "error": None}
        assert await alice.ask("wait", any=True, timeout=0) == {"state": None, "error": None}
        await bob.ask("join", game_id=1)
        assert await bob.ask("wait", any=True, timeout=0) == {"state": None, "error": None}
        assert (await alice.ask("wait", any=True, timeout=0))["game_id"] == 1


async def test_game_can_be_resigned_before_it_has_begun() -> None:
    async with house() as (_, alice, bob, _open):
        await alice.new_game(ALICE, BOB)
        assert (await bob.ask("wait", any=True, timeout=0))["game_id"] == 1
        over = await alice.ask("end_game", game_id=1, termination="resignation_white")
        assert (over["state"]["phase"], over["state"]["result"]) == ("over", "0-1")
        assert (await bob.ask("join", game_id=1))["code"] == "game_over"
        assert await bob.ask("wait", any=True, timeout=0) == {"state": None, "error": None}
        assert await listed(bob, status="open") == []


async def test_clocks_start_after_both_seats_are_taken_and_first_contact(autojump_clock: MockClock) -> None:
    async with house(start_timeout=30.0) as (_, alice, bob, _open):
        await alice.new_game(ALICE, None, clock={"initial": 10})
        await alice.ask("state", game_id=1)
        await trio.sleep(1_000)
        joined = await bob.ask("join", game_id=1)  # both players have made contact now
        assert joined["state"]["clock"] == {"white": 10.0, "black": 10.0}
        await trio.sleep(4)
        assert (await alice.ask("state", game_id=1))["state"]["clock"] == {"white": 6.0, "black": 10.0}
        await trio.sleep(7)
        assert (await bob.ask("state", game_id=1))["state"]["termination"] == "timeout_white"


async def test_start_timeout_begins_when_the_last_seat_is_taken(autojump_clock: MockClock) -> None:
    async with house(start_timeout=30.0) as (_, alice, bob, _open):
        await alice.new_game(ALICE, None, clock={"initial": 10})
        await trio.sleep(1_000)
        await bob.ask("join", game_id=1)
        await trio.sleep(29)
        assert (await bob.ask("state", game_id=1))["state"]["termination"] == "available_move"
        await trio.sleep(2)
        assert (await bob.ask("state", game_id=1))["state"]["termination"] == "timeout_white"


@pytest.mark.parametrize("clock", [None, {"initial": 100}])
async def test_open_seats_and_invitations_survive_a_restart(tmp_path: Path, clock: Json | None) -> None:
    keys = {}
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            for name in ("alice", "bob"):
                keys[name] = (await client.ask("register", name=name, token="t"))["key"]
            mine = {"player": ALICE, "key": keys["alice"]}
            await client.new_game(ALICE, BOB, clock=clock, **mine)
            await client.new_game(ALICE, None, clock=clock, **mine)
            await client.new_game(ALICE, None, clock=clock, **mine)
            await client.ask("join", game_id=3, player=7)
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            bobs = {"player": BOB, "key": keys["bob"]}
            assert await listed(client) == [(3, "live"), (2, "open"), (1, "open")]
            assert (await client.ask("wait", any=True, timeout=0, **bobs))["game_id"] == 1
            assert (await client.ask("join", game_id=1, **bobs))["seat"] == "black"
            assert (await client.ask("join", game_id=2, **bobs))["seat"] == "black"
            assert await listed(client, player=7) == [(3, "live")]
            assert await listed(client, player=BOB) == [(2, "live"), (1, "live")]
        async with durable_daemon(store) as daemon:
            client = await daemon.connect(player=7)
            assert seats(await client.ask("state", game_id=1)) == (ALICE, BOB, "move")
            assert seats(await client.ask("state", game_id=3)) == (ALICE, 7, "move")
            assert (await client.ask("wait", any=True, timeout=0, player=ALICE, key=keys["alice"]))["game_id"] == 3


async def test_unregistered_player_cannot_be_invited() -> None:
    async with house() as (_, alice, _bob, _open):
        for field in ("player_white", "player_black"):
            named = {"player_white": ALICE, "player_black": ALICE, field: BOB + 1}
            reply = await alice.ask("new_game", **named)
            assert (reply["code"], reply["error"]) == (
                "not_available",
                f"{field}: {BOB + 1} is in the range of registered players, and nobody has that id",
            )


async def test_rbc_shows_the_view_of_a_seat_only_to_its_holder() -> None:
    async with house() as (_, alice, bob, anybody):
        await alice.new_game(ALICE, BOB, variant="rbc", clock=None)
        for client, own in ((alice, "w"), (bob, None), (anybody, None)):
            state = (await client.ask("state", game_id=1))["state"]
            assert pieces(state) == ({own} if own else set())
            assert (state["phase"], state["player_black"]) == ("open", BOB)
        for kind, fields in {"sense": {"square": "e7"}, "move": {"move": "e2e4"}}.items():
            assert (await alice.ask(kind, game_id=1, **fields))["code"] == "not_available"
        assert (await alice.ask("actions", game_id=1))["sense_actions"] is None
        joined = await bob.ask("join", game_id=1)
        assert (joined["seat"], pieces(joined["state"]), joined["state"]["phase"]) == ("black", {"b"}, None)
        assert (await alice.ask("sense", game_id=1, square="e7"))["state"]["phase"] == "move"
        assert pieces((await bob.ask("state", game_id=1))["state"]) == {"b"}
        assert (await anybody.ask("state", game_id=1, player=BOB))["code"] == "unauthorized"
        assert pieces((await anybody.ask("state", game_id=1))["state"]) == set()


async def test_rbc_player_with_both_seats_sees_the_seat_that_it_names() -> None:
    async with house() as (_, alice, _bob, _open):
        await alice.new_game(None, None, variant="rbc", clock=None)
        assert pieces((await alice.ask("join", game_id=1, seat="black"))["state"]) == {"b"}
        assert pieces((await alice.ask("join", game_id=1, seat="white"))["state"]) == {"w"}
        again = await alice.ask("join", game_id=1)
        assert (again["seat"], pieces(again["state"])) == ("white", {"w"})


def pieces(state: Json) -> set[str]:
    """Return the colours of the pieces on a board."""
    return {piece[0] for rank in state["board"] for piece in rank if piece is not None}
