"""``state`` and ``actions``: the position and the legal actions."""

from __future__ import annotations

import random

import chess
import pytest
from chess.variant import CrazyhouseBoard

from tests.helpers import START_FEN, Json, memory_daemon

POSITIONS = [
    START_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbqkb1r/pp1p1ppp/8/2pPp3/4n3/8/PPP1PPPP/RNBQKBNR w KQkq c6 0 5",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1",
]


@pytest.mark.parametrize("fen", POSITIONS)
async def test_actions_are_the_legal_moves_on_the_own_turn_only(fen: str) -> None:
    board = chess.Board(fen)
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game(fen=fen)
        to_move, other = (1, 2) if board.turn else (2, 1)
        reply = await client.ask("actions", game_id=1, player=to_move)
        assert (reply["sense_actions"], reply["error"]) == (None, None)
        assert sorted(reply["move_actions"]) == sorted(move.uci() for move in board.legal_moves)
        off_turn: Json = {"sense_actions": None, "move_actions": None, "error": None}
        assert await client.ask("actions", game_id=1, player=other) == off_turn


async def test_crazyhouse_actions_contain_drops() -> None:
    board = CrazyhouseBoard()
    rng = random.Random(1)
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1, variant="crazyhouse")
        for _ in range(60):
            moves = (await client.ask("actions", game_id=1))["move_actions"]
            assert sorted(moves) == sorted(move.uci() for move in board.legal_moves)
            if not moves:
                break
            move = rng.choice([move for move in moves if board.is_capture(chess.Move.from_uci(move))] or moves)
            assert (await client.ask("move", game_id=1, move=move, brief=True))["error"] is None
            board.push_uci(move)
        assert any("@" in move for move in moves)


async def test_finished_game_has_no_actions() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game()
        await client.ask("end_game", game_id=1, player=2, termination="resignation_black")
        for player in (1, 2):
            assert (await client.ask("actions", game_id=1, player=player))["move_actions"] is None


async def test_player_without_a_seat_gets_no_actions() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game()
        reply = await client.ask("actions", game_id=1, player=3)
        assert (reply["code"], reply["error"]) == ("not_a_player", "player: 3 has no seat in game 1")


async def test_state_equals_the_state_in_the_reply_to_the_move() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        new = await client.new_game()
        assert (await client.ask("state", game_id=1))["state"] == new["state"]
        moved = await client.ask("move", game_id=1, move="e4")
        assert await client.ask("state", game_id=1) == moved


async def test_state_contains_actions_on_request() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game()
        actions = await client.ask("actions", game_id=1, player=1)
        state = await client.ask("state", game_id=1, player=1, actions=True)
        assert set(state) == {"state", "sense_actions", "move_actions", "error"}
        assert state["move_actions"] == actions["move_actions"]
        assert (await client.ask("state", game_id=1, player=2, actions=True))["move_actions"] is None
        assert set(await client.ask("state", game_id=1, player=1, actions=False)) == {"state", "error"}
