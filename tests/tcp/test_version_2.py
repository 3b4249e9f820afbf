"""Version 2 sessions: hello, then any number of requests, answered strictly in order."""

from __future__ import annotations

import pytest

from gm_protocol.framing import encode_frame
from gm_protocol.messages import FIRST_REGISTERED, LAST_REGISTERED, REQUESTS
from gmd import __version__
from tests.helpers import Json, connected, running_daemon

PINGS = 100


async def test_hello_reply_states_the_server_and_its_features() -> None:
    settings = {
        "max_message": 4096,
        "max_connections": 7,
        "max_wait": 5.5,
        "idle_timeout": 60.0,
        "frame_timeout": 20.0,
        "start_timeout": 10.0,
        "max_pgn": 5_000,
        "max_work_per_minute": 700,
    }
    async with running_daemon(**settings) as daemon, connected(daemon, hello=False) as client:
        reply = await client.ask("hello", protocol=2, client="test/1")
        assert (
            reply.pop("limits").items()
            >= {
                "max_message": 4096,
                "max_connections": 7,
                "max_wait_seconds": 5.5,
                "max_wait_games": 100,
                "max_games_page": 100,
                "max_plies": 2_000,
                "max_pgn": 5_000,
                "max_work_per_minute": 700,
                "idle_seconds": 60.0,
                "frame_seconds": 20.0,
                "start_seconds": 10.0,
            }.items()
        )
        assert reply == {
            "protocol": 2,
            "server": f"gmd/{__version__}",
            "kinds": list(REQUESTS),
            "player": None,
            "error": None,
        }


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (2, 2), (3, 2), (2**70, 2)])
async def test_protocol_version_is_the_highest_not_above_the_requested_one(asked: int, given: int) -> None:
    async with running_daemon() as daemon, connected(daemon, hello=False) as client:
        assert (await client.ask("hello", protocol=asked))["protocol"] == given
        assert (await client.ask("ping")) == {"error": None}
        assert (await client.ask("ping")) == {"error": None}


async def test_pipelined_requests_see_the_effects_of_earlier_ones() -> None:
    async with running_daemon() as daemon, connected(daemon, player=1) as client:
        moves = ["e4", "e5", "Nf3", "Nc6"]
        await client.send(
            {"kind": "new_game", "player_white": 1, "player_black": 1},
            *({"kind": "move", "game_id": 1, "move": move} for move in moves),
            {"kind": "history", "game_id": 1},
        )
        assert (await client.receive())["game_id"] == 1
        assert [(await client.receive())["state"]["ply_index"] for _ in moves] == [1, 2, 3, 4]
        assert (await client.receive())["moves"] == ["e2e4", "e7e5", "g1f3", "b8c6"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"nonsense", "bad_json"),
        (b"\xff", "bad_json"),
        (b"[" * 100_000, "bad_json"),
        (b'{"kind": "ping", "other": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "bad_json"),
        (b"[]", "bad_json"),
        (b"{}", "bad_request"),
        (b'{"kind": "move"}', "bad_request"),
        (b'{"kind": "hallo"}', "unknown_kind"),
        (b'{"kind": "state", "game_id": 5}', "no_such_game"),
    ],
    ids=lambda value: str(value[:30]),
)
async def test_refusal_does_not_end_the_session(body: bytes, code: str) -> None:
    async with running_daemon() as daemon, connected(daemon, player=1) as client:
        await client.send_bytes(encode_frame(body))
        await client.send({"kind": "new_game", "player_white": 1, "player_black": 2, "id": "behind"})
        assert (await client.receive())["code"] == code
        behind = await client.receive()
        assert (behind["id"], behind["error"]) == ("behind", None)
        assert (await client.ask("move", game_id=1, move="e4"))["error"] is None  # the session still has its player


@pytest.mark.parametrize("refused", [{"protocol": "two"}, {"player": "x"}, {"player": 2**52}], ids=str)
async def test_refused_hello_clears_the_player_of_an_earlier_hello(refused: Json) -> None:
    async with running_daemon() as daemon, connected(daemon, player=1) as client:
        await client.new_game()
        assert (await client.ask("hello", **refused))["error"] is not None
        reply = await client.ask("move", game_id=1, move="e4")
        assert (reply["code"], reply["error"][:7]) == ("bad_request", "player:")


async def test_player_of_the_session_is_the_default() -> None:
    async with running_daemon() as daemon, connected(daemon, player=1) as client:
        await client.new_game()
        assert (await client.ask("move", game_id=1, move="e4"))["error"] is None
        assert (await client.ask("move", game_id=1, move="e5"))["code"] == "not_your_turn"
        assert (await client.ask("move", game_id=1, move="e5", player=2))["error"] is None
        assert (await client.ask("move", game_id=1, move="d4"))["error"] is None


async def test_null_player_means_no_player() -> None:
    async with running_daemon() as daemon, connected(daemon, player=1) as client:
        await client.new_game()
        reply = await client.ask("move", game_id=1, move="e4", player=None)
        assert reply == {
            "state": None,
            "code": "bad_request",
            "error": "player: move needs one, in the request or in the session's hello",
        }
        await client.new_game(3, 4)
        assert [row["game_id"] for row in (await client.ask("games"))["games"]] == [1]
        assert [row["game_id"] for row in (await client.ask("games", player=None))["games"]] == [2, 1]


async def test_hello_may_be_repeated_for_another_player() -> None:
    async with running_daemon() as daemon, connected(daemon, player=1) as client:
        await client.new_game()
        assert (await client.ask("hello", player=2))["player"] == 2
        assert (await client.ask("move", game_id=1, move="e4"))["code"] == "not_your_turn"
        assert (await client.ask("hello", player=-(2**63)))["player"] == -(2**63)
        assert (await client.ask("move", game_id=1, move="e4"))["code"] == "not_a_player"
        assert (await client.ask("hello"))["player"] is None
        assert (await client.ask("move", game_id=1, move="e4"))["code"] == "bad_request"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"player": FIRST_REGISTERED}, "unauthorized"),
        ({"player": LAST_REGISTERED}, "unauthorized"),
        ({"player": "one"}, "bad_request"),
        ({"protocol": 0}, "bad_request"),
    ],
    ids=str,
)
async def test_refused_first_hello_leaves_a_session_without_a_player(fields: dict[str, int], code: str) -> None:
    async with running_daemon() as daemon, connected(daemon, hello=False) as client:
        assert (await client.ask("hello", **fields))["code"] == code
        assert (await client.ask("new_game", player_white=1, player_black=2, misspelt=1))["code"] == "bad_request"
        await client.new_game()
        assert (await client.ask("move", game_id=1, move="e4"))["code"] == "bad_request"
        assert (await client.ask("move", game_id=1, move="e4", player=1))["error"] is None


@pytest.mark.parametrize(("field", "value"), [("varaint", "crazyhouse"), ("position", 5), ("seed", 7), ("keys", "x")])
async def test_unknown_or_inapplicable_field_of_new_game_is_refused(field: str, value: object) -> None:
    async with running_daemon() as daemon, connected(daemon) as client:
        for kind, fields in (("new_game", {}), ("game_from_pgn", {"pgn": ""})):
            reply = await client.ask(kind, player_white=1, player_black=2, **fields, **{field: value})
            assert (reply["game_id"], reply["state"], reply["code"]) == (None, None, "bad_request")
            assert field in reply["error"]
        assert (await client.ask("games"))["games"] == []


async def test_other_requests_ignore_unknown_fields() -> None:
    async with running_daemon() as daemon, connected(daemon, player=1) as client:
        await client.new_game()
        assert (await client.ask("move", game_id=1, move="e4", colour="blue"))["error"] is None


async def test_end_of_input_after_a_frame_lets_all_requests_be_answered_and_closes_the_session() -> None:
    async with running_daemon() as daemon, connected(daemon) as client:
        await client.send(*({"kind": "ping", "id": number} for number in range(PINGS)))
        await client.end()
        assert [(await client.receive())["id"] for _ in range(PINGS)] == list(range(PINGS))
        assert await client.closed()


async def test_lost_connection_ends_no_game() -> None:
    async with running_daemon() as daemon:
        async with connected(daemon, player=1) as client:
            await client.new_game()
            await client.play(1, "e4")
        async with connected(daemon, player=2) as client:
            assert (await client.ask("move", game_id=1, move="e5"))["state"]["ply_index"] == 2


async def test_ids_are_echoed_and_brief_omits_the_large_parts() -> None:
    async with running_daemon() as daemon, connected(daemon, player=1) as client:
        whole = await client.new_game()
        brief = await client.ask("state", game_id=1, brief=True, id="x")
        assert brief["id"] == "x"
        assert "id" not in whole
        assert set(whole["state"]) - set(brief["state"]) == {"board", "access_map", "pgn"}
        assert brief["state"].items() <= whole["state"].items()
        assert "id" not in await client.ask("ping", id=None)
