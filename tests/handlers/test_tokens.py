"""``token``: a new game that is requested twice is created once."""

from __future__ import annotations

import trio

from gmd.event_log.interface import GameQuery
from tests.helpers import Client, Json, memory_daemon

ASKED: Json = {"player_white": 1, "player_black": 2, "token": "round 1"}
LONG_PGN = "Nf3 Nf6 Ng1 Ng8 " * 100


async def games_made(client: Client) -> int:
    return len((await client.ask("games", player=None))["games"])


async def test_same_request_gets_the_same_game(client: Client) -> None:
    first = await client.ask("new_game", **ASKED)
    assert first["error"] is None
    assert await client.ask("new_game", **ASKED) == first
    assert await client.ask("new_game", **ASKED, variant=None, clock=None) == first
    assert await games_made(client) == 1


async def test_repeated_request_shows_the_current_game(client: Client) -> None:
    first = await client.ask("new_game", **ASKED)
    await client.play(first["game_id"], "e4")
    again = await client.ask("new_game", **ASKED, brief=True, id=7)
    assert (again["id"], again["game_id"], again["options"]) == (7, first["game_id"], first["options"])
    assert again["state"]["ply_index"] == 1
    assert "board" not in again["state"]


async def test_different_request_with_the_same_token_is_refused(client: Client) -> None:
    others: list[Json] = [
        {"player_white": 2, "player_black": 1},
        {"player_black": 3},
        {"variant": "crazyhouse"},
        {"variant": "standard"},
        {"max_moves": 10},
        {"clock": {"initial": 10}},
        {"fen": "4k3/8/8/8/8/8/8/4K2R w K - 0 1"},
        {"pgn": "1. e4"},
        {"illegal_move": "lose"},
    ]
    await client.ask("new_game", **ASKED)
    for other in others:
        reply = await client.ask("new_game", **{**ASKED, **other})
        assert reply == {
            "game_id": None,
            "state": None,
            "code": "bad_request",
            "error": "token: 'round 1' was used for another game (1), asked for with other fields",
        }
    assert await games_made(client) == 1


async def test_each_player_has_its_own_tokens() -> None:
    async with memory_daemon() as daemon:
        nobody, one, two = await daemon.connect(), await daemon.connect(player=1), await daemon.connect(player=2)
        made = [(await client.ask("new_game", **ASKED))["game_id"] for client in (nobody, one, two)]
        assert made == [1, 2, 3]
        assert (await nobody.ask("new_game", **ASKED, player=2))["game_id"] == 3
        assert (await two.ask("new_game", **ASKED, player=None))["game_id"] == 1


async def test_any_string_is_a_token(client: Client) -> None:
    for number, token in enumerate(["", " ", "\0", "\u265e", "x" * 100_000], 1):
        for _ in range(2):
            reply = await client.ask("new_game", player_white=1, player_black=2, token=token)
            assert reply["game_id"] == number


async def test_refused_request_uses_up_no_token(client: Client) -> None:
    assert (await client.ask("new_game", **ASKED, fen="nonsense"))["code"] == "bad_position"
    assert (await client.ask("new_game", **ASKED, pgn="1. e5"))["code"] == "bad_pgn"
    assert (await client.ask("new_game", **ASKED))["game_id"] == 1


async def test_repeated_request_gets_the_start_position_that_was_drawn_first(client: Client) -> None:
    first = await client.ask("new_game", **ASKED, variant="chess960")
    assert all([await client.ask("new_game", **ASKED, variant="chess960") == first for _ in range(5)])


async def test_concurrent_requests_with_one_token_make_one_game_even_while_it_loads() -> None:
    async with memory_daemon() as daemon:
        clients = [await daemon.connect() for _ in range(5)]
        for client in clients:
            await client.send({"kind": "game_from_pgn", **ASKED, "pgn": LONG_PGN})
        with trio.fail_after(60):
            replies = [await client.receive() for client in clients]
        assert all(reply == replies[0] for reply in replies)
        assert replies[0]["error"] is None
        assert len(await daemon.arbiter.log.rows(GameQuery())) == 1
