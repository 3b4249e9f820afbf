"""``state`` and ``actions``: the position and the legal actions."""

from __future__ import annotations

import chess

from tests.helpers import START_FEN, Client, Json

POSITIONS = [
    START_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1",
]


async def test_actions_are_the_legal_moves_on_the_own_turn_only(client: Client) -> None:
    for game_id, fen in enumerate(POSITIONS, 1):
        board = chess.Board(fen)
        await client.new_game(fen=fen)
        to_move, other = (1, 2) if board.turn else (2, 1)
        reply = await client.ask("actions", game_id=game_id, player=to_move)
        assert (reply["sense_actions"], reply["error"]) == (None, None)
        assert sorted(reply["move_actions"]) == sorted(move.uci() for move in board.legal_moves)
        none: Json = {"sense_actions": None, "move_actions": None, "error": None}
        assert await client.ask("actions", game_id=game_id, player=other) == none
        stranger = await client.ask("actions", game_id=game_id, player=3)
        assert (stranger["code"], stranger["error"]) == (
            "not_a_player",
            f"player: 3 has no seat in game {game_id}",
        )
        await client.ask("end_game", game_id=game_id, player=2, termination="resignation_black")
        assert await client.ask("actions", game_id=game_id, player=to_move) == none


async def test_state_contains_actions_on_request(client: Client) -> None:
    await client.new_game()
    actions = await client.ask("actions", game_id=1, player=1)
    state = await client.ask("state", game_id=1, player=1, actions=True)
    assert set(state) == {"state", "sense_actions", "move_actions", "error"}
    assert state["move_actions"] == actions["move_actions"]
    assert (await client.ask("state", game_id=1, player=2, actions=True))["move_actions"] is None
    assert set(await client.ask("state", game_id=1, player=1, actions=False)) == {"state", "error"}
