"""A game is drawn at the length that its server allowed when it was created, whatever the setting is later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.helpers import Client, Json, connected, memory_daemon, running_daemon

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")


async def play_on(client: Client, game_id: int, first: int, last: int) -> Json:
    """Play from one ply to another, moving knights out and back; return the last state."""
    state: Json = {}
    for ply in range(first, last):
        reply = await client.ask("move", game_id=game_id, player=1 + ply % 2, move=SHUFFLE[ply % 4])
        assert reply["error"] is None, reply
        state = reply["state"]
    return state


async def test_game_of_chess_is_drawn_at_the_setting() -> None:
    async with memory_daemon(max_plies=6) as daemon:
        client = await daemon.connect()
        game_id = (await client.new_game(max_moves=1_000))["game_id"]
        assert (await play_on(client, game_id, 0, 5))["termination"] == "available_move"
        state = await play_on(client, game_id, 5, 6)
        assert (state["ply_index"], state["termination"], state["result"]) == (6, "draw_move_limit", "1/2-1/2")


async def test_game_of_blind_chess_is_drawn_at_the_setting() -> None:
    async with memory_daemon(max_plies=4) as daemon:
        client = await daemon.connect()
        game_id = (await client.new_game(variant="rbc", reversible_moves=None))["game_id"]
        reply: Json = {}
        for ply in range(4):
            await client.ask("sense", game_id=game_id, player=1 + ply % 2, square=None)
            reply = await client.ask("move", game_id=game_id, player=1 + ply % 2, move=None)
        assert reply["state"]["termination"] == "draw_move_limit"


async def test_pgn_is_loaded_up_to_the_setting() -> None:
    async with memory_daemon(max_plies=6) as daemon:
        client = await daemon.connect()
        reply = await client.ask("game_from_pgn", player_white=1, player_black=2, pgn=" ".join(SHUFFLE * 3))
        assert (reply["state"]["ply_index"], reply["state"]["termination"]) == (6, "draw_move_limit")


async def test_game_keeps_its_limit_after_a_restart_with_another_setting(tmp_path: Path) -> None:
    async with running_daemon(data=str(tmp_path), max_plies=8) as daemon, connected(daemon) as client:
        game_id = (await client.new_game())["game_id"]
        await play_on(client, game_id, 0, 6)
    async with running_daemon(data=str(tmp_path), max_plies=4) as daemon, connected(daemon) as client:
        state = (await client.ask("state", game_id=game_id))["state"]
        assert (state["ply_index"], state["termination"]) == (6, "available_move")
        assert (await play_on(client, game_id, 6, 7))["termination"] == "available_move"
        assert (await play_on(client, game_id, 7, 8))["termination"] == "draw_move_limit"


async def test_game_by_challenge_has_the_limit_too() -> None:
    async with memory_daemon(max_plies=2) as daemon:
        client = await daemon.connect()
        players = [await client.ask("register", name=name) for name in ("ann", "bob")]
        ann, bob = ({"player": each["player"], "key": each["key"]} for each in players)
        await (await daemon.connect()).ask("hello", protocol=2, **bob)  # only a player who is present can be challenged
        made = await client.ask("challenge", opponent="bob", color="white", variant="standard", **ann)
        assert made["error"] is None, made
        assert (await client.ask("accept", game_id=made["game_id"], **bob))["error"] is None
        await client.ask("move", game_id=made["game_id"], move="e4", **ann)
        reply: dict[str, Any] = await client.ask("move", game_id=made["game_id"], move="e5", **bob)
        assert reply["state"]["termination"] == "draw_move_limit"


async def test_pgn_longer_than_the_setting_is_refused_with_the_name_of_the_setting() -> None:
    async with memory_daemon(max_pgn=1_024) as daemon:
        client = await daemon.connect()
        fits = "1. e4 " + "{" + "x" * 1_016 + "}"
        assert len(fits) == 1_024
        assert (await client.ask("new_game", player_white=1, player_black=2, pgn=fits))["error"] is None
        reply = await client.ask("game_from_pgn", player_white=1, player_black=2, pgn=f"{fits} ")
        assert (reply["code"], reply["error"]) == (
            "bad_pgn",
            "pgn: 1025 characters are more than 1024, the server's max_pgn: leave out its comments and variations",
        )
