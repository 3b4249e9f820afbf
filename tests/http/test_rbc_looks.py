"""Every route that reads a game of blind chess, with every status of reconchess's manual."""

from __future__ import annotations

import chess
import pytest
import trio
from reconchess.history import GameHistoryDecoder

from tests.helpers import START_FEN
from tests.http.rbc import ENDED, PLAYERS, Table, answered, rbc_table

#: White captures on f7 with its queen, and then captures the king.
TAKEN = ("e2e4", "a7a6", "d1h5", "a6a5", "h5f7", "a5a4", "f7e8")


async def play(table: Table, game_id: int, *moves: str) -> None:
    """Make moves in turn, White's first."""
    for ply, uci in enumerate(moves):
        await (table.black if ply % 2 else table.white).turn(game_id, uci)


async def test_invited_player_can_read_its_game_after_joining() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game(player_black=table.other.id)
        for what in PLAYERS:
            assert (await table.other.get(game_id, what)).status_code == 401
        assert answered(await table.white.get(game_id, "opponent_name")) == {"opponent_name": "other-bot"}
        assert answered(await table.white.get(game_id, "is_my_turn")) == {"is_my_turn": False}
        await table.daemon.ask_as_operator("join", player=table.other.id, game_id=game_id)
        assert answered(await table.other.get(game_id, "color")) == {"color": False}
        assert answered(await table.white.get(game_id, "is_my_turn")) == {"is_my_turn": True}


async def test_players_read_the_start_of_the_game() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        for player, is_white, other in ((table.white, True, "black-bot"), (table.black, False, "white-bot")):
            assert answered(await player.get(game_id, "color")) == {"color": is_white}
            board = {"type": "Board", "value": START_FEN}
            assert answered(await player.get(game_id, "starting_board")) == {"board": board}
            assert answered(await player.get(game_id, "opponent_name")) == {"opponent_name": other}
            assert answered(await player.get(game_id, "opponent_move_results")) == {"opponent_move_results": None}
            assert answered(await player.get(game_id, "seconds_left")) == {"seconds_left": 900.0}
            assert answered(await player.get(game_id, "is_my_turn")) == {"is_my_turn": is_white}
            squares = list(chess.SQUARES) if is_white else []
            assert answered(await player.get(game_id, "sense_actions")) == {"sense_actions": squares}
            moves = answered(await player.get(game_id, "move_actions"))["move_actions"]
            assert [move["type"] for move in moves] == ["Move"] * (34 if is_white else 0)
            for what in ENDED:
                response = await player.get(game_id, what)
                assert (response.status_code, response.json()["code"]) == (400, "not_available")


async def test_opponent_without_a_name_is_shown_by_its_id() -> None:
    async with rbc_table() as table:
        for black, name in ((7, "7"), (None, "?")):
            game_id = await table.new_game(player_black=black)
            assert answered(await table.white.get(game_id, "opponent_name")) == {"opponent_name": name}


async def test_capture_is_shown_to_the_player_who_lost_the_piece() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        await play(table, game_id, *TAKEN[:5])
        assert answered(await table.black.get(game_id, "opponent_move_results")) == {"opponent_move_results": chess.F7}
        assert answered(await table.white.get(game_id, "opponent_move_results")) == {"opponent_move_results": None}


async def test_every_registered_player_can_read_the_end() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        await play(table, game_id, *TAKEN)
        for player in (table.white, table.black, table.other):
            assert answered(await player.get(game_id, "game_status")) == {"is_my_turn": False, "is_over": True}
            assert answered(await player.get(game_id, "winner_color")) == {"winner_color": True}
            reason = {"type": "WinReason", "value": "KING_CAPTURE"}
            assert answered(await player.get(game_id, "win_reason")) == {"win_reason": reason}
            response = await player.get(game_id, "game_history")
            history = response.json(cls=GameHistoryDecoder)["game_history"]
            assert (history.get_white_player_name(), history.get_black_player_name()) == ("white-bot", "black-bot")
            taken = [str(history.taken_move(turn)) for turn in history.turns()]
            assert taken == list(TAKEN)
        assert answered(await table.black.get(game_id, "opponent_move_results")) == {"opponent_move_results": chess.E8}
        assert answered(await table.black.get(game_id, "seconds_left"))["seconds_left"] > 0
        assert answered(await table.white.get(game_id, "move_actions")) == {"move_actions": []}


@pytest.mark.parametrize(
    ("options", "moves", "winner", "reason"),
    [
        ({"max_turns": 1}, ["e2e4", "e7e5"], None, "TURN_LIMIT"),
        ({"reversible_moves": 2}, ["g1f3", "g8f6"], None, "MOVE_LIMIT"),
        ({}, ["e2e4"], True, "RESIGN"),
    ],
)
async def test_other_endings_have_the_names_of_reconchess(
    options: dict[str, int], moves: list[str], winner: bool | None, reason: str
) -> None:
    async with rbc_table() as table:
        game_id = await table.new_game(**options)
        await play(table, game_id, *moves)
        if reason == "RESIGN":
            assert answered(await table.black.post(game_id, "resign")) == {}
        assert answered(await table.other.get(game_id, "winner_color")) == {"winner_color": winner}
        expected = {"type": "WinReason", "value": reason}
        assert answered(await table.other.get(game_id, "win_reason")) == {"win_reason": expected}


async def test_actions_stay_readable_after_a_sudden_end() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        await play(table, game_id, "e2e4")
        before = answered(await table.black.get(game_id, "move_actions"))
        await table.daemon.ask_as_operator("end_game", game_id=game_id, seat="white", termination="resignation_white")
        assert answered(await table.black.get(game_id, "move_actions")) == before
        assert answered(await table.black.get(game_id, "sense_actions")) == {"sense_actions": list(chess.SQUARES)}


async def test_game_without_clocks_shows_ample_time() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game(clock=None)
        assert answered(await table.white.get(game_id, "seconds_left")) == {"seconds_left": 10_000_000.0}


async def test_reading_starts_no_clock() -> None:
    async with rbc_table(start_timeout=1000) as table:
        game_id = await table.new_game()
        for what in (*PLAYERS, "is_over", "is_my_turn", *ENDED):
            for player in (table.white, table.black):
                await player.get(game_id, what)
        game = (await table.daemon.arbiter.live_game(game_id)).game
        assert game.contacted == [True, False]  # Black has joined, and that is first contact
        for _ in range(2):
            assert answered(await table.white.post(game_id, "ready", {})) == {}
        assert game.contacted == [True, True]


async def test_invalid_wait_is_refused_with_its_name() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        for wait in ("-1", "30.1", "long", "nan", ""):
            response = await table.black.get(game_id, f"game_status?wait={wait}")
            assert (response.status_code, response.json()["code"]) == (400, "bad_request")
            assert response.json()["error"].startswith("wait: Expected `float`")


async def test_held_status_is_answered_when_the_turn_begins() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        answers: list[object] = []

        async def ask() -> None:
            answers.append(answered(await table.black.get(game_id, "game_status?wait=30")))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            while table.daemon.arbiter.watchers.watched(game_id) is False:
                await trio.lowlevel.checkpoint()
            assert answers == []
            await table.white.turn(game_id, "e2e4")
        assert answers == [{"is_my_turn": True, "is_over": False}]
