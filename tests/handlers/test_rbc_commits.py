"""While a sense is being committed, its own side waits for it, and nobody else can notice it."""

from __future__ import annotations

from pathlib import Path

import trio
from trio.testing import wait_all_tasks_blocked

from tests.helpers import Client, Json, durable_daemon, store_in

#: Limit in seconds of a reply that waits for nothing.
PATIENCE_SECONDS = 120

SENSE: Json = {"kind": "sense", "game_id": 1, "player": 1, "square": "e7"}

#: Requests whose replies show White its sense, in order, and the codes of the replies.
WHITES: list[Json] = [
    SENSE,
    {"kind": "state", "game_id": 1, "player": 1},
    {"kind": "actions", "game_id": 1, "player": 1},
    {"kind": "belief", "game_id": 1, "player": 1},
    SENSE,
]
ANSWERED = [None, None, None, None, "wrong_phase"]

#: Requests whose replies show nothing of the sense.
OTHERS: list[Json] = [
    *({"kind": "state", "game_id": 1, "player": player, "actions": True} for player in (2, 77, None)),
    *({"kind": "sense", "game_id": 1, "player": player, "square": "e2"} for player in (2, 77)),
    {"kind": "move", "game_id": 1, "player": 2, "move": "e7e5", "ply": 3},
    {"kind": "end_game", "game_id": 1, "player": 2, "termination": "draw_agreed"},
    {"kind": "wait", "game_id": 1, "player": 2, "timeout": 0},
    {"kind": "wait", "any": True, "player": 2, "timeout": 0},
    {"kind": "actions", "game_id": 1, "player": 2},
    {"kind": "belief", "game_id": 1, "player": 2},
    {"kind": "history", "game_id": 1},
    {"kind": "games"},
]


async def collect(client: Client, requests: list[Json], replies: list[Json]) -> None:
    """Send requests one after the other."""
    for request in requests:
        replies.append(await client.ask(**request))


async def test_only_the_side_that_senses_waits_for_its_sense(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            await client.new_game(variant="rbc", clock=None)
            before = [await client.ask(**request) for request in OTHERS]
            whites: list[list[Json]] = [[] for _ in WHITES]
            async with trio.open_nursery() as nursery:
                with store.held():
                    for request, replies in zip(WHITES, whites, strict=True):
                        nursery.start_soon(collect, await daemon.connect(), [request], replies)
                        await wait_all_tasks_blocked()
                    during: list[Json] = []
                    with trio.fail_after(PATIENCE_SECONDS):
                        await collect(client, OTHERS, during)
                    assert during == before
                    assert whites == [[]] * len(WHITES)
            assert [reply.get("code") for [reply] in whites] == ANSWERED
            assert [await client.ask(**request) for request in OTHERS] == before


async def test_move_is_answered_before_the_next_sense_is_durable(tmp_path: Path) -> None:
    """White's move is being written; Black has already sensed without having seen the move."""
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            white, black = await daemon.connect(player=1), await daemon.connect(player=2)
            await white.new_game(variant="rbc", clock=None)
            await white.ask("sense", game_id=1, square=None)
            replies: list[Json] = []
            async with trio.open_nursery() as nursery:
                with store.held():
                    nursery.start_soon(collect, white, [{"kind": "move", "game_id": 1, "move": "e2e4"}], replies)
                    await wait_all_tasks_blocked()
                    await black.send({"kind": "sense", "game_id": 1, "square": "e4"})
                    await wait_all_tasks_blocked()
            assert replies[0]["taken_move"] == "e2e4"
            assert (await black.receive())["sense_result"][4] == ["e4", "wp"]
            assert (await black.ask("wait", game_id=1))["state"]["phase"] == "move"


async def test_sense_that_cannot_be_written_has_no_effect(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            await client.new_game(variant="rbc", clock=None)
            before = [await client.ask(**request) for request in OTHERS]
            store.fault = OSError("disk full")
            assert (await client.ask(**SENSE))["code"] == "internal"
            store.fault = None
            assert [await client.ask(**request) for request in OTHERS] == before
            assert (await client.ask("state", game_id=1, player=1))["state"]["phase"] == "sense"
            assert (await client.ask(**SENSE))["error"] is None


async def test_belief_forgets_a_sense_that_could_not_be_written(tmp_path: Path) -> None:
    belief: Json = {"kind": "belief", "game_id": 1, "player": 2}
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            await client.new_game(variant="rbc", clock=None)
            await client.ask("sense", game_id=1, player=1, square=None)
            await client.ask("move", game_id=1, player=1, move="e2e4")
            before = await client.ask(**belief)
            assert before["count"] == 21
            replies: list[Json] = []
            async with trio.open_nursery() as nursery:
                with store.held():
                    nursery.start_soon(
                        collect, await daemon.connect(), [{**SENSE, "player": 2, "square": "e3"}], replies
                    )
                    await wait_all_tasks_blocked()
                    nursery.start_soon(collect, await daemon.connect(), [belief], replies)
                    await wait_all_tasks_blocked()
                    store.fault = OSError("disk full")
            assert [reply["code"] for reply in replies] == ["internal", "internal"]
            store.fault = None
            assert await client.ask(**belief) == before
