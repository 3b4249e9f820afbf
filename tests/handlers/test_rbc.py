"""Reconnaissance blind chess in the protocol: turns, refusals, seats, clocks, spectators, history."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import trio
from reconchess import GameHistory
from trio.testing import MockClock

from gmd.event_log.memory import MemoryLog
from tests.handlers.wrong_turns import NOBODY, WRONG_TURN
from tests.helpers import START_FEN, Client, Json, memory_daemon

BLACKS_VIEW = "rnbqkbnr/pppppppp/8/8/8/8/8/8 w kq - 0 1"
WHITES_VIEW = "8/8/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1"
NOBODYS_VIEW = "8/8/8/8/8/8/8/8 w - - 0 1"


async def new_rbc(client: Client, white: int = 1, black: int = 2, **options: Any) -> Json:
    """Make a game of rbc without a clock."""
    return await client.new_game(white, black, **{"variant": "rbc", "clock": None, **options})


async def turn(client: Client, ply: int, move: str | None, square: str | int | None = None, **fields: Any) -> Json:
    """Play a turn in game 1 by the player to move at the ply; return the reply to the move."""
    who = {"game_id": 1, "player": 1 + ply % 2, "ply": ply, **fields}
    sensed = await client.ask("sense", square=square, **who)
    assert sensed["error"] is None, sensed
    moved = await client.ask("move", move=move, **who)
    assert moved["error"] is None, moved
    return moved


async def turns(client: Client, *moves: str | None) -> None:
    """Play turns from the beginning of game 1."""
    for ply, move in enumerate(moves):
        await turn(client, ply, move)


# --- Refusals ---------------------------------------------------------------------------------------------------


#: Possible errors in blind chess, in the order in which they are checked.
WRONG_SENSES = [*WRONG_TURN, ("bad_square", {"square": "z9"})]
WRONG_MOVES = [*WRONG_TURN, ("wrong_phase", {}), ("illegal_move", {"move": "e2e5"})]


async def prepared(client: Client) -> None:
    await new_rbc(client)
    await new_rbc(client)
    assert (await client.ask("end_game", player=1, game_id=2, termination="resignation_white"))["error"] is None


async def test_first_of_two_errors_is_reported(client: Client) -> None:
    await prepared(client)
    asked: Json = {"player": 1, "game_id": 1, "square": "e7", "move": "e2e4"}
    for kind, wrong in (("sense", WRONG_SENSES), ("move", WRONG_MOVES)):
        for (code, first), (_, second) in combinations(wrong, 2):
            reply = await client.ask(kind, **{**asked, **second, **first})
            shown = set(reply), reply["state"], reply["code"]
            assert shown == ({"state", "code", "error"}, None, code), (first, second)
    assert (await client.ask("sense", **asked))["error"] is None  # the refused requests have changed nothing


@pytest.mark.parametrize(
    ("code", "fields", "error"),
    [
        ("illegal_move", {"move": "e2e5"}, "move: 'e2e5' is not among white's move_actions (UCI, or null)"),
        ("not_available", {"offer_draw": True}, "offer_draw: rbc has no draw offers: they would be signals"),
    ],
)
async def test_refused_move_has_no_effect(client: Client, code: str, fields: Json, error: str) -> None:
    await new_rbc(client)
    asked: Json = {"player": 1, "game_id": 1}
    await client.ask("sense", **asked, square=None)
    reply = await client.ask("move", **{**asked, "move": "e2e4", **fields})
    assert reply == {"state": None, "code": code, "error": error}
    assert (await client.ask("move", **asked, move="e2e4"))["taken_move"] == "e2e4"


@pytest.mark.parametrize("hello", [True, False])
async def test_impossible_game_is_refused(hello: bool) -> None:
    wrong: list[tuple[Json, str, str]] = [
        ({"max_moves": 5}, "bad_request", "max_moves: 5 does not apply to rbc"),
        (
            {"pgn": "1. e4"},
            "bad_request",
            "pgn: no game of rbc is made from a PGN; gmd import takes such games in, from the JSON lines that gmd "
            "export writes",
        ),
        ({"max_turns": 0}, "bad_request", "max_turns: 0: expected `int` >= 1"),
        (
            {"fen": "8/8/8/8/8/8/8/K7 w - - 0 1"},
            "bad_position",
            "fen: '8/8/8/8/8/8/8/K7 w - - 0 1': no position to start from: no black king",
        ),
    ]
    async with memory_daemon() as daemon:
        for fields, code, error in wrong:
            client = await daemon.connect(hello=hello)
            reply = await client.ask("new_game", player_white=1, player_black=2, variant="rbc", **fields)
            assert reply == {"game_id": None, "state": None, "code": code, "error": error}


async def test_sense_and_pass_are_refused_in_chess() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await client.new_game()
        sensed = await client.ask("sense", game_id=1, square="e7")
        assert (sensed["state"], sensed["code"]) == (None, "not_available")
        passed = await client.ask("move", game_id=1, move=None)
        assert (passed["state"], passed["code"]) == (None, "bad_request")
        assert passed["error"] == "move: null is a pass, which standard does not have; send SAN (Nf3) or UCI (g1f3)"


# --- Retries ----------------------------------------------------------------------------------------------------


async def test_latest_sense_and_move_of_each_seat_can_be_retried(client: Client) -> None:
    await new_rbc(client)
    white: Json = {"game_id": 1, "player": 1}
    sensed = await client.ask("sense", **white, ply=0, square="e7")
    moved = await client.ask("move", **white, ply=0, move="e2e4")
    for ply, move in enumerate(["d7d5", "e4d5", "d8d5"], 1):
        await turn(client, ply, move)
    assert (await client.ask("sense", **white, ply=0, square="e7"))["code"] == "stale"
    again = await client.ask("sense", **white, ply=2, square=None)
    assert (again["sense_result"], again["state"]["ply_index"], again["state"]["phase"]) == ([], 2, "move")
    assert again["state"]["opponent_capture"] is None  # as before: the pawn on d5 has been captured since
    assert "P" in again["state"]["fen"].split("/")[4]
    latest = await client.ask("move", **white, ply=2, move="e4d5")
    assert (latest["capture_square"], latest["state"]["ply_index"]) == ("d5", 3)
    assert (sensed["state"]["ply_index"], moved["state"]["ply_index"]) == (0, 1)


async def test_retry_gets_the_same_reply_byte_for_byte(client: Client) -> None:
    await new_rbc(client)
    white: Json = {"game_id": 1, "player": 1, "ply": 0}
    sensed = await client.ask("sense", **white, square="e7")
    assert await client.ask("sense", **white, square=52) == sensed
    moved = await client.ask("move", **white, move="e2e4")
    assert await client.ask("sense", **white, square="e7") == sensed
    await client.ask("sense", game_id=1, player=2, square="e4")
    assert await client.ask("move", **white, move="e2e4") == moved
    await client.ask("end_game", game_id=1, player=2, termination="resignation_black")
    assert await client.ask("sense", **white, square="e7") == sensed
    assert (await client.ask("sense", **white, square="e6"))["code"] == "game_over"


async def test_pass_and_promotion_can_be_retried_in_any_notation(client: Client) -> None:
    await new_rbc(client, fen="7k/P7/8/8/8/8/8/K7 w - - 0 1")
    moved = await turn(client, 0, "a7a8")
    assert (moved["requested_move"], moved["taken_move"]) == ("a7a8", "a7a8q")
    for text in ("a7a8", "a7a8q"):
        assert await client.ask("move", game_id=1, player=1, ply=0, move=text) == moved
    assert (await client.ask("move", game_id=1, player=1, ply=0, move="a7a8r"))["code"] == "stale"
    passed = await turn(client, 1, None)
    for text in (None, "0000"):
        assert await client.ask("move", game_id=1, player=2, ply=1, move=text) == passed


# --- Seats ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", [False, True])
async def test_player_with_both_seats_must_name_one(over: bool) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await new_rbc(client, 1, 1)
        if over:
            await client.ask("end_game", game_id=1, termination="resignation_white")
        asked: dict[str, Json] = {
            "state": {},
            "actions": {},
            "wait": {"timeout": 0},
            "sense": {"square": "e7"},
            "move": {"move": "e2e4"},
            "end_game": {"termination": "draw_agreed"},
        }
        for kind, fields in asked.items():
            reply = await client.ask(kind, game_id=1, **fields)
            assert (reply["code"], reply["error"]) == (
                "bad_request",
                "seat: missing; player 1 holds both seats in game 1 and must name one",
            )
            assert (await client.ask(kind, game_id=7, **fields))["code"] == "no_such_game"


async def test_player_with_both_seats_sees_the_one_that_it_names() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        made = await new_rbc(client, 1, 1)
        assert made["state"]["fen"] == WHITES_VIEW
        for seat, fen in (("white", WHITES_VIEW), ("black", BLACKS_VIEW)):
            assert (await client.ask("state", game_id=1, seat=seat))["state"]["fen"] == fen
            assert (await client.ask("wait", game_id=1, seat=seat, timeout=0))["state"]["fen"] == fen
        reply = await client.ask("sense", game_id=1, square="e7", seat="black")
        assert reply["code"] == "not_your_turn"
        reply = await client.ask("sense", game_id=1, square="e7", seat="white")
        assert (reply["error"], reply["state"]["fen"]) == (None, WHITES_VIEW)
        assert (await client.ask("actions", game_id=1, seat="black"))["move_actions"] is None
        reply = await client.ask("end_game", game_id=1, termination="resignation_black")
        assert (reply["error"], reply["state"]["result"]) == (None, "1-0")


async def test_wait_for_any_game_shows_a_player_with_both_seats_no_view() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await new_rbc(client, 1, 1)
        reply = await client.ask("wait", any=True, actions=True)
        assert (reply["game_id"], reply["state"]["fen"], reply["move_actions"]) == (1, NOBODYS_VIEW, None)


async def test_wait_for_several_games_without_a_seat_shows_no_view(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        for _ in range(2):
            await new_rbc(client, 1, 1)
        for ply in range(2):  # for either seat
            reply = await client.ask("wait", game_ids=[2, 1], actions=True)
            assert reply["error"] is None
            shown = (reply["game_id"], reply["state"]["turn"], reply["state"]["fen"].split()[0])
            assert shown == (2, ("white", "black")[ply], "8/8/8/8/8/8/8/8")
            assert (reply["state"]["phase"], reply["sense_actions"], reply["move_actions"]) == (None, None, None)
            who: Json = {"game_id": 2, "seat": reply["state"]["turn"]}
            await client.ask("sense", square=None, **who)
            await client.ask("move", move=None, **who)
        assert trio.current_time() == 0


async def test_two_programs_can_wait_for_one_seat_each_in_several_games(autojump_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        white, black = [await daemon.connect(player=1) for _ in range(2)]
        for _ in range(2):
            await new_rbc(white, 1, 1)
        reply = await white.ask("wait", game_ids=[1, 2], seat="white", actions=True)
        assert (reply["game_id"], reply["state"]["fen"], len(reply["move_actions"])) == (1, WHITES_VIEW, 34)
        assert await black.ask("wait", game_ids=[1, 2], seat="black", timeout=5) == {"state": None, "error": None}
        await white.ask("sense", game_id=2, seat="white", square="e7")
        assert await black.ask("wait", game_ids=[1, 2], seat="black", timeout=5) == {"state": None, "error": None}
        await white.ask("move", game_id=2, seat="white", move="e2e4")
        reply = await black.ask("wait", game_ids=[1, 2], seat="black", actions=True)
        assert (reply["game_id"], reply["state"]["phase"], len(reply["sense_actions"])) == (2, "sense", 64)
        assert reply["state"]["fen"] == BLACKS_VIEW.replace("w kq", "b kq")
        assert trio.current_time() == 10


async def test_creator_of_a_game_sees_its_own_view() -> None:
    async with memory_daemon() as daemon:
        for player, fen in ((1, WHITES_VIEW), (2, BLACKS_VIEW), (NOBODY, NOBODYS_VIEW)):
            made = await new_rbc(await daemon.connect(player=player))
            assert (made["state"]["fen"], made["state"]["start_fen"]) == (fen, START_FEN)


# --- Actions and waiting ----------------------------------------------------------------------------------------


async def test_actions_match_the_phase(client: Client) -> None:
    await new_rbc(client)

    async def counted(player: int | None) -> list[int | None]:
        state = await client.ask("state", game_id=1, player=player, actions=True)
        if player is not None:
            actions = await client.ask("actions", game_id=1, player=player)
            assert {name: state[name] for name in actions} == actions
        found = [state["sense_actions"], state["move_actions"]]
        return [None if each is None else len(each) for each in found]

    # Twenty moves, and two captures by each pawn except one by each pawn at the edge.
    assert await counted(1) == [64, 34]
    assert await counted(2) == await counted(None) == [None, None]
    await client.ask("sense", game_id=1, player=1, square="e7")
    assert await counted(1) == [None, 34]
    await client.ask("move", game_id=1, player=1, move="e2e4")
    assert await counted(1) == [None, None]
    assert await counted(2) == [64, 34]


async def test_sense_does_not_put_a_game_back_in_the_order() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        for _ in range(2):
            await new_rbc(client)
        assert (await client.ask("wait", any=True))["game_id"] == 1
        await client.ask("sense", game_id=1, square="e7")
        assert (await client.ask("wait", any=True))["game_id"] == 1
        await client.ask("move", game_id=1, move="e2e4")
        assert (await client.ask("wait", any=True))["game_id"] == 2


# --- Clocks -----------------------------------------------------------------------------------------------------


async def test_each_player_sees_only_its_own_clock(client: Client, autojump_clock: MockClock) -> None:
    await client.new_game(variant="rbc")
    clocks = [(await client.ask("state", game_id=1, player=player))["state"]["clock"] for player in (1, 2, None)]
    assert clocks == [
        {"white": 900.0, "black": None},
        {"white": None, "black": 900.0},
        {"white": None, "black": None},
    ]
    white: Json = {"game_id": 1, "player": 1}
    await trio.sleep(10)
    assert (await client.ask("sense", **white, square="e7"))["state"]["clock"] == {"white": 890.0, "black": None}
    await trio.sleep(5)
    assert (await client.ask("state", **white))["state"]["clock"] == {"white": 885.0, "black": None}
    assert (await client.ask("move", **white, move="e2e4"))["state"]["clock"] == {"white": 890.0, "black": None}
    await trio.sleep(3)
    assert (await client.ask("state", game_id=1, player=2))["state"]["clock"] == {"white": None, "black": 897.0}
    ended = await client.ask("end_game", **white, termination="resignation_white")
    assert ended["state"]["clock"] == {"white": 890.0, "black": 897.0}


async def test_time_that_runs_out_after_a_sense_loses(client: Client, autojump_clock: MockClock) -> None:
    await client.new_game(variant="rbc", clock={"initial": 10})
    await client.ask("state", game_id=1, player=2)
    await client.ask("state", game_id=1, player=1)
    await trio.sleep(6)
    await client.ask("sense", game_id=1, player=1, square="e7")
    started = trio.current_time()
    reply = await client.ask("wait", game_id=1, player=2)
    assert (reply["state"]["termination"], trio.current_time() - started) == ("timeout_white", pytest.approx(4))
    assert (await client.ask("move", game_id=1, player=1, move="e2e4"))["code"] == "game_over"


# --- The log ----------------------------------------------------------------------------------------------------


async def test_game_continues_after_any_restart() -> None:
    log = MemoryLog()
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        await new_rbc(client)
        await turns(client, "e2e4", "d7d5", "e4d5")
        sensed = await client.ask("sense", game_id=1, player=2, square="d5", ply=3)
        shown = [await client.ask("state", game_id=1, player=player, actions=True) for player in (1, 2, None)]
    async with memory_daemon(log) as daemon:
        client = await daemon.connect()
        assert [await client.ask("state", game_id=1, player=player, actions=True) for player in (1, 2, None)] == shown
        assert await client.ask("sense", game_id=1, player=2, square="d5", ply=3) == sensed
        assert (await client.ask("move", game_id=1, player=1, move="e4d5", ply=2))["capture_square"] == "d5"
        moved = await client.ask("move", game_id=1, player=2, move="d8d5", ply=3)
        assert (moved["capture_square"], moved["state"]["opponent_capture"]) == ("d5", "d5")


# --- History and spectators -------------------------------------------------------------------------------------


async def test_history_is_hidden_until_the_end_and_then_is_that_of_reconchess(client: Client, tmp_path: Path) -> None:
    await new_rbc(client)
    await turns(client, "e2e4", "f7f6", "d1h5", None, "h5e8")
    for player in (1, 2, NOBODY, None):
        reply = await client.ask("history", game_id=1, player=player)
        assert reply["error"] is None
    assert reply["moves"] == ["e2e4", "f7f6", "d1h5", "0000", "h5e8"]
    assert reply["pgn"].endswith("1. e4 1... f6 2. Qh5 2... -- 3. Qxe8 1-0\n")
    file = tmp_path / "game.json"
    file.write_text(json.dumps(reply["history"]))
    history = GameHistory.from_file(str(file))
    assert [history.capture_square(each) for each in history.turns()] == [None, None, None, None, 60]
    state = (await client.ask("state", game_id=1))["state"]
    assert (state["pgn"], state["last_move"]) == ("1.e4 f6 2.Qh5 -- 3.Qxe8", "h5e8")


async def test_history_names_registered_players(tmp_path: Path) -> None:
    async with memory_daemon() as daemon:
        clients, players = [], []
        for name in ("alice", "bob"):
            client = await daemon.connect()
            registered = await client.ask("register", name=name)
            await client.ask("hello", player=registered["player"], key=registered["key"])
            clients.append(client)
            players.append(registered["player"])
        alice, bob = clients
        await new_rbc(alice, players[0], players[1])
        await bob.ask("join", game_id=1)
        for client, move in ((alice, "e2e4"), (bob, None), (alice, "d1h5")):
            assert (await client.ask("sense", game_id=1, square="e7"))["error"] is None
            assert (await client.ask("move", game_id=1, move=move))["error"] is None
        await bob.ask("end_game", game_id=1, termination="resignation_black")
        file = tmp_path / "game.json"
        file.write_text(json.dumps((await alice.ask("history", game_id=1))["history"]))
    history = GameHistory.from_file(str(file))
    names = [history.get_white_player_name(), history.get_black_player_name()]
    assert names == ["alice", "bob"]
    assert history.num_turns() == 3


async def test_pgn_of_rbc_is_refused_with_advice(client: Client) -> None:
    await new_rbc(client)
    await turns(client, "e2e4", "e7e5", None)
    await client.ask("end_game", player=2, game_id=1, termination="resignation_black")
    pgn = (await client.ask("history", game_id=1))["pgn"]
    for fields in ({}, {"variant": "rbc"}, {"variant": "standard"}):
        reply = await client.ask("game_from_pgn", player_white=1, player_black=2, pgn=pgn, **fields)
        header = "its Variant header is 'Reconnaissance blind chess', and "
        named = fields.get("variant") == "rbc"
        assert reply["code"] == ("bad_request" if named else "bad_pgn")
        assert reply["error"] == (
            f"pgn: {'' if named else header}no game of rbc is made from a PGN; gmd import takes such games in, "
            "from the JSON lines that gmd export writes"
        )


LIVE = {"spectate": "live"}


@pytest.mark.parametrize(
    ("settings", "hello", "sees_all"),
    [
        ({}, {}, False),
        ({"spectator_key": "sesame"}, {"spectator_key": "sesame"}, False),
        (LIVE, {}, True),
        (LIVE, {"spectator_key": None}, True),
        ({**LIVE, "spectator_key": "sesame"}, {"spectator_key": "sesame"}, True),
    ],
)
async def test_live_games_are_shown_in_full_if_the_operator_allows_it(
    settings: Json, hello: Json, sees_all: bool
) -> None:
    async with memory_daemon(**settings) as daemon:
        client = await daemon.connect()
        await new_rbc(client)
        await turn(client, 0, "e2e4")
        await client.ask("sense", game_id=1, player=2, square="e4")
        assert (await client.ask("hello", **hello))["error"] is None
        state = (await client.ask("state", game_id=1))["state"]
        shown = (state["fen"], state["phase"], state["pgn"], state["last_move"])
        full = ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "move", "1.e4", "e2e4")
        assert shown == (full if sees_all else ("8/8/8/8/8/8/8/8 b - - 0 1", None, None, None))
        followed = (await client.ask("wait", game_id=1, ply=0))["state"]
        assert followed == state
        # A session with a player, even one without a seat, sees no more than without the setting.
        for player, fen in ((1, "8/8/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQ - 0 1"), (NOBODY, "8/8/8/8/8/8/8/8 b - - 0 1")):
            assert (await client.ask("state", game_id=1, player=player))["state"]["fen"] == fen
        assert (await client.ask("history", game_id=1))["code"] == "not_available"


async def test_wrong_spectator_key_is_refused_and_ends_the_session_player() -> None:
    for setting in ("sesame", None):
        async with memory_daemon(spectate="live", spectator_key=setting) as daemon:
            for key in ("sesam", "sesame ", "", "Sesame"):
                client = await daemon.connect(player=1)
                reply = await client.ask("hello", spectator_key=key, player=1)
                assert (reply["code"], reply["error"]) == (
                    "unauthorized",
                    "spectator_key: the key is wrong, or this server has none; ask the operator for it",
                )
                assert (await client.ask("actions", game_id=1))["code"] == "bad_request"  # no player any more
