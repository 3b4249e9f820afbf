"""The state that each viewer of a game of reconnaissance blind chess sees equals reconchess's view after every
action.
"""

from __future__ import annotations

import random
from collections import Counter

import chess
from chess import BLACK, WHITE, Color
from reconchess import GameHistory, LocalGame, WinReason

from tests.blind_oracle import BlindOracle, name, uci
from tests.helpers import Client, Json, memory_daemon
from tests.oracle import access_map, board_rows, castles, fen, passant_file
from tests.proofs import cases
from tests.side_by_side import RandomPlayers, Start, count_events, short_start

#: The most turns of a side: four views after each action take long to compute.
TURNS = 7

#: The first seed with which the ordinary run's few games have every event.
FIRST_SEED = 44

#: Events that the games must reach.
HAPPENS = ("en passant", "castled", "captured", "refused", "promoted as asked", "promoted by default", "KING_CAPTURE")

VIEWERS: dict[int | None, Color | None] = {1: WHITE, 2: BLACK, None: None, 77: None}


async def test_every_viewer_sees_exactly_its_own_view() -> None:
    seen: Counter[str] = Counter()
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        for seed in range(FIRST_SEED, FIRST_SEED + cases(12)):
            rng = random.Random(seed)
            count_events(await play_and_look(client, short_start(rng, TURNS), RandomPlayers(rng)), seen)
    assert [what for what in HAPPENS if not seen[what]] == []


async def play_and_look(client: Client, start: Start, players: RandomPlayers) -> GameHistory:
    """Play a game in which every viewer looks after every action; return its history."""
    local = start.local_game()
    local.start()
    limits = {"reversible_moves": start.reversible_moves, "max_turns": start.max_turns, "clock": None}
    made = await client.new_game(variant="rbc", fen=start.fen, **limits)
    oracle = BlindOracle(local, made["game_id"], (1, 2))
    assert local.is_over() or made["state"] == oracle.blind_state(None)
    while not local.is_over():
        await everybody_looks(client, oracle)
        seat: Json = {"game_id": oracle.game_id, "player": 1 if local.turn else 2}
        square = players.choose_sense(local, local.sense_actions(), local.move_actions())
        expected: Json = {"sense_result": oracle.sense(square), "state": oracle.blind_state(local.turn), "error": None}
        assert await client.ask("sense", **seat, square=name(square)) == expected
        await everybody_looks(client, oracle)
        while not may_ask(local, move := players.choose_move(local, local.move_actions())):
            pass
        mover = local.turn
        result = oracle.move(move)
        reply = await client.ask("move", **seat, move=uci(move))
        if not local.is_over():
            assert reply == {**result, "state": oracle.blind_state(mover), "error": None}
    await everybody_sees_everything(client, oracle)
    local.end()
    return local.get_game_history()


def may_ask(local: LocalGame, move: chess.Move | None) -> bool:
    """Return whether the side to move may request a move; a pawn need not name the queen that it becomes."""
    if move is None:
        return True
    queen = chess.Move(move.from_square, move.to_square, move.promotion or chess.QUEEN)
    return move in local.move_actions() or queen in local.move_actions()


async def everybody_looks(client: Client, oracle: BlindOracle) -> None:
    for player, seat in VIEWERS.items():
        reply = await client.ask("state", game_id=oracle.game_id, player=player)
        assert reply == {"state": oracle.blind_state(seat), "error": None}


async def everybody_sees_everything(client: Client, oracle: BlindOracle) -> None:
    """Assert that nothing of a finished game is hidden, except that each seat's own results stay its own."""
    board = oracle.local.board
    shown = []
    for player, seat in VIEWERS.items():
        state = (await client.ask("state", game_id=oracle.game_id, player=player))["state"]
        blind = oracle.blind_state(seat)
        assert [state.pop(field) for field in SEAT_FIELDS] == [blind[field] for field in SEAT_FIELDS]
        shown.append(state)
    assert shown == [shown[0]] * 4
    full = shown[0]
    expected = {
        "board": board_rows(board),
        "available_castles": castles(board),
        "passant_file": passant_file(board),
        "access_map": access_map(board),
        "ply_index": oracle.ply,
        "fen": fen(board),
        "draws": 0,
        "termination": TERMINATIONS[oracle.local.get_win_reason(), oracle.local.get_winner_color()],
        "in_check": board.king(board.turn) is not None and board.is_check(),
        "turn": "white" if board.turn else "black",
        "phase": "over",
        "clock": None,
        "draw_offered": False,
        "last_move": oracle.last_move,
    }
    assert {field: full[field] for field in expected} == expected


TERMINATIONS = {
    (WinReason.KING_CAPTURE, WHITE): "victory_white",
    (WinReason.KING_CAPTURE, BLACK): "victory_black",
    (WinReason.MOVE_LIMIT, None): "draw_fifty_moves",
    (WinReason.TURN_LIMIT, None): "draw_turn_limit",
}


SEAT_FIELDS = ("opponent_capture", "last_sense", "last_result")
