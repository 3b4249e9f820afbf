"""Turns and games in the three Python clients: in python-chess's terms or in plain ones, and what closes them."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import chess
import pytest
from chess import Move, Piece

import gm_client
from gm_client import GmError, blocking, chess_client, trio_client
from tests.serving import Served

ME, OTHER = 79_101, 79_102


def test_sense_shows_squares_and_pieces_of_python_chess(daemon_process: Served) -> None:
    with gm_client.connect(port=daemon_process.port, player=ME) as client:
        seen = []
        for square in ("a7", chess.A7):
            for turn in client.turns(client.new_game(ME, OTHER, variant="rbc")["game_id"]):
                seen.append(turn.sense(square))
                assert turn.reply["sense_result"][0] == ["a8", "bR"]
                turn.move(Move.from_uci("e2e4"))
                assert turn.reply["taken_move"] == "e2e4"
                break
    assert seen[0] == seen[1]
    assert seen[0][0] == (chess.A8, Piece(chess.ROOK, chess.BLACK))
    assert seen[0][-1] == (chess.B6, None)


def test_sense_of_the_file_to_copy_is_as_the_server_sends_it(daemon_process: Served) -> None:
    with blocking.connect(port=daemon_process.port, player=ME) as client:
        for turn in client.turns(client.new_game(ME, OTHER, variant="rbc")["game_id"]):
            assert turn.sense("a7")[0] == ["a8", "bR"]
            break


def test_client_without_python_chess_is_the_plain_one() -> None:
    code = "import sys; sys.modules['chess'] = None; import gm_client; print(gm_client.connect.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "gm_client.blocking\n"
    assert gm_client.connect is chess_client.connect


@pytest.mark.parametrize(
    ("variant", "kind"), [("standard", "Board"), ("chess960", "Board"), ("crazyhouse", "CrazyhouseBoard")]
)
def test_turn_has_a_board_where_all_is_shown(variant: Any, kind: str, daemon_process: Served) -> None:
    rng = random.Random(1)
    with gm_client.connect(port=daemon_process.port, player=ME) as client:
        game_id = client.new_game(ME, ME, variant=variant, max_moves=12)["game_id"]
        for turn in client.turns(game_id):
            board = turn.board
            assert type(board).__name__ == kind
            legal = list(board.legal_moves)
            assert len(legal) == len(turn.move_actions)
            turn.move(rng.choice(legal))


def test_turn_of_blind_chess_has_no_board(daemon_process: Served) -> None:
    with gm_client.connect(port=daemon_process.port, player=ME) as client:
        for turn in client.turns(client.new_game(ME, OTHER, variant="rbc")["game_id"]):
            with pytest.raises(ValueError, match="board: a game of rbc does not show its position"):
                _ = turn.board
            break


def play(turns: Any) -> None:
    for turn in turns:
        turn.move(turn.move_actions[0])


def test_loop_has_the_result_of_its_game(daemon_process: Served) -> None:
    with gm_client.connect(port=daemon_process.port, player=ME) as client:
        turns = client.turns(client.new_game(ME, ME, max_moves=3)["game_id"])
        assert (turns.state, turns.result) == (None, None)
        play(turns)
        assert turns.state is not None
        assert (turns.result, turns.state["termination"]) == ("1/2-1/2", "draw_move_limit")


def test_loop_over_all_games_ends_after_as_many_as_are_wanted(daemon_process: Served) -> None:
    ends: list[int] = []
    player = ME + 10
    with gm_client.connect(port=daemon_process.port, player=player) as client:
        made = [client.new_game(player, player, max_moves=2)["game_id"] for _ in range(3)]
        turns = client.turns(games=2, over=lambda state: ends.append(state["game_id"]))
        play(turns)
        assert turns.result == "1/2-1/2"
        assert len(ends) == 2
        assert set(ends) < set(made)
        assert client.state(made[0])["state"]["game_id"] == made[0], "the client goes on"


async def test_loop_of_trio_is_closed_by_its_block_and_after_a_break(daemon_process: Served) -> None:
    async with trio_client.Client(port=daemon_process.port, player=ME) as client:
        game_id = (await client.new_game(ME, OTHER))["game_id"]
        async with client.turns(game_id) as turns:
            async for _ in turns:
                break
            assert len(client._loops) == 1
        assert not client._loops
        async for _ in client.turns(game_id):
            break
        assert not client._loops


def test_loop_left_by_break_lets_the_client_go_on(daemon_process: Served) -> None:
    with gm_client.connect(port=daemon_process.port, player=ME) as client:
        game_id = client.new_game(ME, OTHER)["game_id"]
        with client.turns(game_id) as turns:
            for turn in turns:
                turn.move("e2e4")
                break
        assert next(turns, None) is None
        assert client.state(game_id)["state"]["last_move"] == "e2e4"


def test_game_has_its_state_moves_and_result_and_is_resigned(daemon_process: Served) -> None:
    with gm_client.connect(port=daemon_process.port, player=OTHER) as client:
        game = client.game(client.new_game(ME, OTHER)["game_id"])
        client.move(game.game_id, "e4", player=ME)
        assert (game.moves, game.result, game.state["turn"]) == (["e2e4"], "*", "black")
        for turn in game.turns():
            turn.move("e5")
            assert game.resign()["termination"] == "resignation_black"
        assert (game.result, game.moves) == ("1-0", ["e2e4", "e7e5"])
        with pytest.raises(GmError, match="is over"):
            game.resign()


def test_player_of_both_seats_resigns_for_the_side_to_move_or_the_seat_that_it_names(daemon_process: Served) -> None:
    with gm_client.connect(port=daemon_process.port, player=ME) as client:
        ends = [client.game(client.new_game(ME, ME)["game_id"]).resign()["termination"]]
        ends.append(client.game(client.new_game(ME, ME)["game_id"], seat="black").resign()["termination"])
    assert ends == ["resignation_white", "resignation_black"]


def test_draw_is_offered_with_the_next_move_and_an_offer_is_accepted(daemon_process: Served) -> None:
    def white(game_id: int) -> None:
        with gm_client.connect(port=daemon_process.port, player=ME) as client:
            game = client.game(game_id)
            game.offer_draw()
            turns = game.turns()
            with pytest.raises(gm_client.GmError):
                next(turns).move("e2e5")  # the offer goes with the move that is made
            play(turns)

    with gm_client.connect(port=daemon_process.port, player=OTHER) as client, ThreadPoolExecutor() as threads:
        game = client.game(client.new_game(ME, OTHER)["game_id"])
        playing = threads.submit(white, game.game_id)
        for turn in game.turns():
            assert turn.state["draw_offered"]
            game.offer_draw()
        playing.result()
        assert game.state["termination"] == "draw_agreed"


@pytest.mark.parametrize("connect", [blocking.connect, chess_client.connect])
def test_server_s_own_bots_are_listed(connect: Callable[..., Any], daemon_process: Served) -> None:
    with connect(port=daemon_process.port) as client:
        assert isinstance(client.bots, list)
