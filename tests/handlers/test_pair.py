"""``pair``: the operator pairs two players; and other requests that a tournament needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import trio.testing
from trio.testing import MockClock

from gm_protocol.messages import NewGame
from gmd.games.events import Created, Ended
from gmd.games.replay import DoesNotApply, replay
from gmd.games.variants import resolve
from gmd.handlers.context import Authority
from gmd.tcp.listener import SessionServer
from tests.helpers import Client, Json, MemoryDaemon, durable_daemon, memory_daemon, store_in
from tests.lobbying import ALICE, BOB, CAROL, House, enter, housed


class Hall(NamedTuple):
    """Three players and the operator."""

    players: House
    operator: Client


@asynccontextmanager
async def operated(daemon: MemoryDaemon) -> AsyncIterator[Client]:
    """Yield the operator's session."""
    async with trio.open_nursery() as nursery:
        server = SessionServer(daemon.services, authority=Authority.OPERATOR)
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(server.handle, theirs)
        operator = Client(ours)
        assert (await operator.ask("hello"))["error"] is None
        yield operator
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def hall(**settings: object) -> AsyncIterator[Hall]:
    async with memory_daemon(**settings) as daemon, operated(daemon) as operator:
        yield Hall(await housed(daemon), operator)


async def paired(operator: Client, white: str = "alice", black: str = "bob", **fields: object) -> Json:
    return await operator.ask("pair", white=white, black=black, brief=True, **fields)


async def test_both_players_are_invited_and_the_game_begins_when_both_accept() -> None:
    async with hall() as (players, operator):
        made = await paired(operator, variant="rbc", token="1")
        assert (made["game_id"], made["accepted"], made["called_off"]) == (1, [], None)
        assert (made["state"]["phase"], made["options"]["variant"]) == ("open", "rbc")
        assert (made["state"]["player_white"], made["state"]["player_black"]) == (ALICE, BOB)
        for player, color in ((players.bob, "black"), (players.alice, "white")):
            received = (await player.ask("invitations"))["received"]
            assert [(row["game_id"], row["color"], row["ranked"]) for row in received] == [(1, color, False)]
            assert (await player.ask("accept", game_id=1))["error"] is None
            again = await paired(operator, variant="rbc", token="1")
            assert again["accepted"] == (["black"] if color == "black" else ["white", "black"])
        assert again["state"]["phase"] == "sense"


async def test_repeated_pairing_shows_the_same_game_and_a_different_one_is_refused() -> None:
    async with hall() as (players, operator):
        for _ in range(2):
            assert (await paired(operator, token="1"))["game_id"] == 1
        refused = await paired(operator, token="1", ranked=True)
        assert (refused["code"], refused["error"][:37]) == ("bad_request", "token: '1' was used for another game ")
        await players.alice.aclose()
        await players.bob.aclose()
        assert (await paired(operator, token="1"))["game_id"] == 1  # the players need not be present for that
        assert (await paired(operator))["code"] == "not_available"


async def test_invitation_shows_that_the_game_is_ranked() -> None:
    async with hall() as (players, operator):
        assert (await paired(operator, variant="rbc", ranked=True))["error"] is None
        assert (await players.bob.ask("invitations"))["received"][0]["ranked"] is True


@pytest.mark.parametrize(
    ("fields", "code", "error"),
    [
        ({"white": "nobody"}, "not_available", "white: nobody is registered as 'nobody'"),
        ({"black": CAROL + 1}, "not_available", f"black: nobody is registered as {CAROL + 1}"),
        ({"black": 7}, "not_available", "black: nobody is registered as 7"),
        ({"black": "Alice"}, "bad_request", "black: 'Alice' plays White already; name another player"),
        ({"black": "carol"}, "not_available", "black: 'carol' is not present; try again when the player is online"),
        ({"variant": "rbc", "draws": "claimed"}, "bad_request", "draws: 'claimed' does not apply to rbc"),
        ({"ranked": True}, "bad_request", "ranked: only games of rbc are rated, and variant is None"),
        ({"vraiant": "rbc"}, "bad_request", "'vraiant': pair has no such field"),
    ],
)
async def test_invalid_pairing_is_refused(fields: Json, code: str, error: str) -> None:
    async with hall() as (players, operator):
        await players.carol.aclose()
        await trio.testing.wait_all_tasks_blocked()
        reply = await paired(operator, **fields)
        assert (reply["code"], reply["error"].partition("; it takes")[0]) == (code, error)


async def test_player_without_room_is_not_paired() -> None:
    async with hall() as (players, operator):
        await players.bob.ask("settings", max_games=1)
        assert (await paired(operator))["error"] is None
        words = "black: 'bob' has as many games as its max_games allows; try again later"
        assert (await paired(operator, white="carol"))["error"] == words
        room = {row["name"]: row["room"] for row in (await operator.ask("players"))["players"]}
        assert room == {"alice": 3, "bob": 0, "carol": 4}


async def test_only_the_operator_can_pair() -> None:
    async with hall() as (players, _):
        assert (await paired(players.alice))["code"] == "unauthorized"


@pytest.mark.parametrize("accepting", ["nobody", "alice", "bob"])
async def test_expired_pairing_shows_who_has_accepted(autojump_clock: MockClock, accepting: str) -> None:
    async with hall(invitation_timeout=30) as (players, operator):
        await paired(operator, token="1")
        if accepting != "nobody":
            await getattr(players, accepting).ask("accept", game_id=1)
        await trio.sleep(31)
        made = await paired(operator, token="1")
        assert made["state"]["termination"] == "expired"
        assert made["accepted"] == {"nobody": [], "alice": ["white"], "bob": ["black"]}[accepting]
        assert made["called_off"] is None


@pytest.mark.parametrize(
    ("name", "first", "variant"),
    [("alice", None, "standard"), ("bob", "bob", "standard"), ("bob", "alice", "rbc"), ("alice", "alice", "rbc")],
)
async def test_pairing_shows_who_called_it_off_even_after_a_restart(
    tmp_path: Path, name: str, first: str | None, variant: str
) -> None:
    color = {"alice": "white", "bob": "black"}[name]
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon, operated(daemon) as operator:
            players = await housed(daemon)
            await paired(operator, token="1", variant=variant)
            if first is not None:
                await getattr(players, first).ask("accept", game_id=1)
            assert (await getattr(players, name).ask("decline", game_id=1))["error"] is None
            made = await paired(operator, token="1", variant=variant)
        async with durable_daemon(store) as daemon, operated(daemon) as operator:
            again = await paired(operator, token="1", variant=variant)
        assert made["called_off"] == again["called_off"] == color
        assert made["state"]["termination"] == ("withdrawn" if first == name else "declined")


async def test_revoked_player_counts_as_the_one_who_called_off() -> None:
    async with memory_daemon() as daemon, operated(daemon) as operator:
        await housed(daemon)
        await paired(operator, token="1")
        await operator.ask("revoke", name="bob")
        await trio.testing.wait_all_tasks_blocked()
        made = await paired(operator, token="1")
        assert (made["called_off"], made["state"]["termination"]) == ("black", "declined")


@pytest.mark.parametrize(
    ("ended", "applies"),
    [
        (Ended("declined"), True),  # as in logs from before ends named a side
        (Ended("declined", seat="white"), True),
        (Ended("declined", seat="black"), True),
        (Ended("withdrawn", seat="black"), False),
        (Ended("expired"), True),
        (Ended("expired", seat="white"), False),
        (Ended("declined", 1.0, seat="white"), False),
    ],
)
def test_log_may_name_the_side_that_called_a_game_off(ended: Ended, applies: bool) -> None:
    options = resolve(NewGame(player_white=ALICE, player_black=BOB), {}, 0, strict=True)
    created = Created(ALICE, BOB, options, "2026-11-21T00:00:00Z", invited=["white", "black"], lapses=30.0)
    if applies:
        assert replay(1, [created, ended]).called_off_by == ended.side
    else:
        with pytest.raises(DoesNotApply):
            replay(1, [created, ended])


async def test_present_players_are_listed_newest_first_in_pages() -> None:
    async with memory_daemon() as daemon, operated(daemon) as operator:
        players = await housed(daemon)
        await players.bob.aclose()
        await trio.testing.wait_all_tasks_blocked()
        listed = await operator.ask("players")
        assert [(row["name"], row["here"]) for row in listed["players"]] == [
            ("carol", True),
            ("bob", False),
            ("alice", True),
        ]
        page = await operator.ask("players", here=True, limit=1)
        assert ([row["name"] for row in page["players"]], page["before"]) == (["carol"], CAROL)
        page = await operator.ask("players", here=True, limit=1, before=CAROL)
        assert ([row["name"] for row in page["players"]], page["before"]) == (["alice"], None)
        await enter(daemon, "bob")
        assert len((await operator.ask("players", here=True))["players"]) == 3


async def test_spectator_waits_for_the_first_end_of_several_games(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        player, looker = await daemon.connect(), await daemon.connect()
        for _ in range(3):
            await player.new_game(1, 2)
        await looker.send({"kind": "wait", "game_ids": [1, 2, 3], "brief": True})
        await player.play(2, "e4", "e5")
        await player.ask("end_game", game_id=3, player=2, termination="resignation_black")
        reply = await looker.receive()
        assert (reply["game_id"], reply["state"]["termination"]) == (3, "resignation_black")
        reply = await looker.ask("wait", game_ids=[1, 2], timeout=5)
        assert (reply["state"], reply["error"]) == (None, None)
        reply = await looker.ask("wait", game_ids=[1, 2], ply=1)
        assert reply["error"] == "ply: 1 applies to one game; send it with game_id"
        assert (await looker.ask("wait", game_ids=[1, 9]))["code"] == "no_such_game"
