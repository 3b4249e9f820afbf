"""Every route that acts in a game of blind chess: its statuses by reconchess's manual, and what its client needs.

A repeated post is answered as before, and no end of a game is an error to the client.
"""

from __future__ import annotations

import chess
import httpx
import pytest
import trio
from reconchess import LocalGame
from trio.testing import MockClock

from tests.helpers import Json
from tests.http.rbc import Player, Table, answered, as_move, rbc_table


def code(response: httpx.Response) -> tuple[int, str]:
    """Return a refusal's status and code."""
    body = response.json()
    assert isinstance(body["error"], str)
    return response.status_code, body["code"]


async def end(table: Table, game_id: int, loser: str = "white") -> None:
    """End a game as the operator."""
    await table.daemon.ask_as_operator(
        "end_game", game_id=game_id, seat=loser, termination=f"resignation_{loser}", player=None
    )


async def events(table: Table, game_id: int) -> int:
    """Return how many events of a game are in the log."""
    return len(await table.daemon.arbiter.log.load(game_id))


async def test_both_colours_play_a_turn() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        seen = (await table.white.sense(game_id, chess.A8))["sense_result"]
        piece = {square: None if what is None else (what["type"], what["value"]) for square, what in seen}
        assert list(piece.items()) == [
            (chess.A8, ("Piece", "r")),
            (chess.B8, ("Piece", "n")),
            (chess.A7, ("Piece", "p")),
            (chess.B7, ("Piece", "p")),
        ]
        assert await table.white.move(game_id, "e2e4") == {"move_result": [as_move("e2e4"), as_move("e2e4"), None]}
        assert answered(await table.white.post(game_id, "end_turn", {})) == {}
        assert (await table.black.sense(game_id, None)) == {"sense_result": []}
        assert await table.black.move(game_id, "d7d5") == {"move_result": [as_move("d7d5"), as_move("d7d5"), None]}
        result = await table.white.turn(game_id, "e4d5")
        assert result == {"move_result": [as_move("e4d5"), as_move("e4d5"), chess.D5]}
        assert await table.black.turn(game_id, None) == {"move_result": [None, None, None]}
        result = await table.white.turn(game_id, "g2h3")  # there is nothing to capture
        assert result == {"move_result": [as_move("g2h3"), None, None]}


async def test_pawn_becomes_a_queen_by_default() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game(fen="4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
        assert (await table.white.turn(game_id, "a7a8"))["move_result"] == [as_move("a7a8"), as_move("a7a8q"), None]


#: Bodies without a valid action.
WRONG = {
    "sense": [
        b"",
        b"{}",
        b"[]",
        b'{"square": 64}',
        b'{"square": -1}',
        b'{"square": 1.5}',
        b'{"square": true}',
        b'{"square": "e4"}',
        b'{"square": 5',
        b"[" * 5_000,
        b'{"square": 5, "\xff": 1}',
    ],
    "move": [
        b"{}",
        b'{"requested_move": "e2e4"}',
        b'{"requested_move": {"type": "Move"}}',
        b'{"requested_move": {"type": "Piece", "value": "e2e4"}}',
        b'{"requested_move": {"type": "Move", "value": "e2e5"}}',
        b'{"requested_move": {"type": "Move", "value": "0000"}}',
        b'{"requested_move": {"type": "Move", "value": "e4"}}',
        b'{"requested_move": {"type": "Move", "value": "xxxxxxxxxxx"}}',
    ],
}


async def test_invalid_action_is_refused_and_changes_nothing() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        await table.white.post(game_id, "ready")
        for what, bodies in WRONG.items():
            before = await events(table, game_id)
            for body in bodies:
                url = f"/api/games/{game_id}/{what}"
                response = await table.client.post(url, content=body, auth=table.white.auth)
                assert response.status_code == 400, (body, response.text)
                assert isinstance(response.json(), dict)
            assert await events(table, game_id) == before
            assert answered(await table.white.get(game_id, "is_my_turn")) == {"is_my_turn": True}
            if what == "sense":
                await table.white.sense(game_id, None)


async def test_repeated_post_is_answered_as_before_and_done_once() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        for _ in range(2):  # the second time it is answered from the log
            seen = await table.white.sense(game_id, chess.E7)
            count = await events(table, game_id)
            assert await table.white.sense(game_id, chess.E7) == seen
            assert await events(table, game_id) == count
            result = await table.white.move(game_id, "e2e4")
            count = await events(table, game_id)
            assert await table.white.move(game_id, "e2e4") == result
            assert await table.white.sense(game_id, chess.E7) == seen
            for _ in range(2):
                assert answered(await table.white.post(game_id, "end_turn")) == {}
            assert await events(table, game_id) == count
            await table.black.turn(game_id, "a7a6")
            # The opponent has moved too, but White's latest turn is still the one before.
            assert await table.white.move(game_id, "e2e4") == result
            assert answered(await table.white.post(game_id, "end_turn")) == {}
            game_id = await table.new_game()


async def test_same_move_in_two_turns_is_two_moves() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        for ply in range(4):
            player = table.black if ply % 2 else table.white
            assert (await player.turn(game_id, None, chess.E4))["move_result"] == [None, None, None]
        assert (await table.daemon.arbiter.live_game(game_id)).game.now.ply == 4


async def test_action_after_a_sudden_end_is_answered_as_by_local_game() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        await table.white.turn(game_id, "e2e4", chess.E7)
        await table.black.turn(game_id, "e7e5")
        await end(table, game_id, "black")  # at the beginning of White's turn
        assert await table.white.sense(game_id, chess.E7) == {"sense_result": []}
        assert await table.white.move(game_id, "d2d4") == {"move_result": [as_move("d2d4"), None, None]}
        assert await table.white.move(game_id, None) == {"move_result": [None, None, None]}
        assert answered(await table.white.post(game_id, "end_turn")) == {}
        assert answered(await table.white.post(game_id, "ready")) == {}
        assert answered(await table.white.post(game_id, "error_resign")) == {}
        assert answered(await table.white.get(game_id, "win_reason"))["win_reason"]["value"] == "RESIGN"
        # The latest requests, whose replies may have been lost, are answered as before.
        assert (await table.white.move(game_id, "e2e4"))["move_result"][1] == as_move("e2e4")


async def test_end_between_sense_and_move_keeps_the_sense_and_makes_no_move() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        await table.white.turn(game_id, "e2e4")
        await table.black.turn(game_id, "e7e5")
        seen = await table.white.sense(game_id, chess.E5)
        await end(table, game_id)
        assert await table.white.sense(game_id, chess.E5) == seen
        # The same move as in the previous turn, but in another turn.
        assert await table.white.move(game_id, "e2e4") == {"move_result": [as_move("e2e4"), None, None]}
        assert answered(await table.white.post(game_id, "end_turn")) == {}


async def test_king_capture_is_answered_again_after_the_end() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game(fen="4k3/8/8/8/8/8/8/4RK2 w - - 0 1")
        result = {"move_result": [as_move("e1e8"), as_move("e1e8"), chess.E8]}
        await table.white.sense(game_id, None)
        for _ in range(2):
            assert await table.white.move(game_id, "e1e8") == result
            assert answered(await table.white.post(game_id, "end_turn", {})) == {}
        assert answered(await table.white.get(game_id, "winner_color")) == {"winner_color": True}
        assert await table.black.sense(game_id, 0) == {"sense_result": []}


async def test_repeated_resignation_is_no_error_but_resigning_a_finished_game_is() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        for _ in range(2):
            assert answered(await table.white.post(game_id, "resign", {})) == {}
        assert code(await table.black.post(game_id, "resign", {})) == (400, "game_over")
        assert answered(await table.black.get(game_id, "winner_color")) == {"winner_color": False}


async def test_error_resign_loses_whoever_is_to_move() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        for player in (table.black, table.black, table.white):
            assert answered(await player.post(game_id, "error_resign")) == {}
        assert answered(await table.white.get(game_id, "winner_color")) == {"winner_color": True}
        assert answered(await table.white.get(game_id, "win_reason"))["win_reason"]["value"] == "TIMEOUT"
        assert await turns_seconds(table.black, game_id) == 0  # as reconchess's manual says
        assert await turns_seconds(table.white, game_id) > 0


async def test_error_resign_without_a_running_clock_resigns() -> None:
    async with rbc_table() as table:
        untimed = await table.new_game(clock=None)
        unanswered = await table.new_game(player_black=table.other.id)  # this player is invited, but has not come
        for game_id in (untimed, unanswered):
            for _ in range(2):
                assert answered(await table.white.post(game_id, "error_resign")) == {}
            assert answered(await table.white.get(game_id, "winner_color")) == {"winner_color": False}
            assert answered(await table.white.get(game_id, "win_reason"))["win_reason"]["value"] == "RESIGN"


async def test_game_over_http_equals_the_same_game_over_tcp() -> None:
    turns = [("e7", "e2e4"), (None, "d7d5"), ("d5", "e4d5"), ("a1", None), (None, "f1a6"), (None, "b7a6")]
    async with rbc_table() as table:
        over_http, over_tcp = [await table.new_game(clock=None) for _ in range(2)]
        for ply, (square, uci) in enumerate(turns):
            player = table.black if ply % 2 else table.white
            await player.turn(over_http, uci, None if square is None else chess.parse_square(square))
            actor = {"player": player.id, "key": player.auth[1], "game_id": over_tcp}
            await table.daemon.ask("sense", square=square, **actor)
            await table.daemon.ask("move", move=uci, **actor)
        for player in (table.white, table.black):
            views = [await seen(table, player, game_id) for game_id in (over_http, over_tcp)]
            assert views[0] == views[1]
        assert answered(await table.white.post(over_http, "resign")) == {}
        white = {"player": table.white.id, "key": table.white.auth[1], "game_id": over_tcp}
        await table.daemon.ask("end_game", termination="resignation_white", **white)
        logs = [await table.daemon.arbiter.log.load(game_id) for game_id in (over_http, over_tcp)]
        assert logs[0][1:] == logs[1][1:]
        assert [type(event).__name__ for event in logs[0][1:]][-3:] == ["Sensed", "Moved", "Ended"]
        histories = [await table.daemon.ask("history", game_id=game_id) for game_id in (over_http, over_tcp)]
        assert histories[0]["history"] == histories[1]["history"]
        (listed, *_) = (await table.daemon.ask("games", limit=2, before=over_tcp))["games"]
        assert (listed["game_id"], listed["termination"]) == (over_http, "resignation_white")


async def seen(table: Table, player: Player, game_id: int) -> Json:
    """Return a game as a player sees it over TCP, without its id."""
    reply = await table.daemon.ask("state", game_id=game_id, player=player.id, key=player.auth[1])
    return {**reply["state"], "game_id": None}


async def turns_seconds(player: Player, game_id: int) -> float:
    """Return a player's remaining seconds."""
    left: float = answered(await player.get(game_id, "seconds_left"))["seconds_left"]
    return left


async def test_clock_runs_from_ready_to_the_move_and_then_switches(autojump_clock: MockClock) -> None:
    async with rbc_table(idle_timeout=10_000, frame_timeout=10_000) as table:
        game_id = await table.new_game(clock={"initial": 100, "increment": 5})
        await trio.sleep(40)
        await table.white.post(game_id, "ready")
        await trio.sleep(3)
        await table.white.sense(game_id, None)
        await trio.sleep(2)
        await table.white.move(game_id, "e2e4")
        assert await turns_seconds(table.white, game_id) == pytest.approx(100, abs=0.5)
        await trio.sleep(20)  # White's late end_turn costs only Black's time, because it is Black's turn
        await table.white.post(game_id, "end_turn")
        assert await turns_seconds(table.white, game_id) == pytest.approx(100, abs=0.5)
        assert await turns_seconds(table.black, game_id) == pytest.approx(80, abs=0.5)
        await trio.sleep(81)
        assert answered(await table.white.get(game_id, "is_over")) == {"is_over": True}
        assert answered(await table.white.get(game_id, "win_reason"))["win_reason"]["value"] == "TIMEOUT"
        assert answered(await table.black.get(game_id, "seconds_left")) == {"seconds_left": 0.0}


async def test_late_move_is_not_made_although_local_game_makes_it(autojump_clock: MockClock) -> None:
    local = LocalGame(seconds_increment=5)
    local.start()
    local.seconds_left_by_color[chess.WHITE] = 0.0
    local.sense(None)
    local.move(chess.Move.from_uci("e2e4"))
    local.end_turn()
    assert (local.turn, local.is_over()) == (chess.BLACK, False)
    async with rbc_table(idle_timeout=10_000, frame_timeout=10_000) as table:
        game_id = await table.new_game(clock={"initial": 10, "increment": 5})
        await table.white.post(game_id, "ready")
        await table.white.sense(game_id, None)
        await trio.sleep(12)
        assert await table.white.move(game_id, "e2e4") == {
            "move_result": [{"type": "Move", "value": "e2e4"}, None, None]
        }
        assert answered(await table.white.get(game_id, "winner_color")) == {"winner_color": False}
        assert answered(await table.white.get(game_id, "win_reason"))["win_reason"]["value"] == "TIMEOUT"
        history = answered(await table.white.get(game_id, "game_history"))["game_history"]
        assert history["taken_moves"] == {"true": [], "false": []}


async def test_abandoned_status_request_leaves_nothing_behind(autojump_clock: MockClock) -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        with trio.move_on_after(1):
            await table.black.get(game_id, "game_status?wait=5")
        await trio.sleep(10)
        assert not table.daemon.arbiter.watchers.watched(game_id)
        status = answered(await table.black.get(game_id, "game_status?wait=5"))  # nothing happens for five seconds
        assert status == {"is_my_turn": False, "is_over": False}
