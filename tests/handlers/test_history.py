"""``history``: the whole game as PGN that any reader accepts."""

from __future__ import annotations

import io
import random
from typing import Any

import chess
import chess.pgn
import pytest

from tests.helpers import Client, Json


async def play_at_random(client: Client, game_id: int, plies: int, seed: int) -> Json:
    """Make random legal moves; return the history."""
    rng = random.Random(seed)
    for _ in range(plies):
        state = (await client.ask("state", game_id=game_id, brief=True))["state"]
        player = state[f"player_{state['turn']}"]
        moves = (await client.ask("actions", game_id=game_id, player=player))["move_actions"]
        if moves is None:
            break
        reply = await client.ask("move", game_id=game_id, player=player, move=rng.choice(moves), brief=True)
        assert reply["error"] is None
    return await client.ask("history", game_id=game_id)


def read(pgn: str) -> chess.pgn.Game:
    """Return the only game in a text, which must be read without errors."""
    text = io.StringIO(pgn)
    game = chess.pgn.read_game(text)
    assert game is not None
    assert game.errors == []
    assert chess.pgn.read_game(text) is None
    return game


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"variant": "chess960"},
        {"variant": "crazyhouse"},
        {"variant": "crazyhouse", "position": 100},
        {"fen": "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R b KQkq - 3 17"},
    ],
    ids=str,
)
async def test_python_chess_reads_the_same_game(client: Client, options: dict[str, Any]) -> None:
    new = await client.new_game(**options)
    history = await play_at_random(client, 1, 40, 1)
    game = read(history["pgn"])
    board = game.end().board()
    start = game.board()
    state = (await client.ask("state", game_id=1))["state"]
    assert [move.uci() for move in game.mainline_moves()] == history["moves"]
    assert board.fen(shredder=board.chess960, en_passant="legal") == state["fen"]
    assert start.fen(shredder=start.chess960, en_passant="legal") == state["start_fen"] == new["options"]["fen"]
    assert (board.uci_variant, history["history"]) == (
        "crazyhouse" if new["options"]["variant"] == "crazyhouse" else "chess",
        None,
    )


async def test_plain_game_has_the_standard_headers(client: Client) -> None:
    await client.new_game(7, -8)
    await client.play(1, "f3", "e5", "g4", white=7, black=-8)
    (row,) = (await client.ask("games"))["games"]
    date = row["created"][:10].replace("-", ".")
    common = f'[Event "gmd game 1"]\n[Site "?"]\n[Date "{date}"]\n[Round "-"]\n[White "7"]\n[Black "-8"]\n'
    history = await client.ask("history", game_id=1)
    live = '[Result "*"]\n[Termination "unterminated"]\n[GmdTermination "available_move"]\n\n1. f3 e5 2. g4 *\n'
    assert history == {
        "pgn": common + live,
        "moves": ["f2f3", "e7e5", "g2g4"],
        "history": None,
        "error": None,
    }
    await client.ask("move", game_id=1, player=-8, move="Qh4")
    over = '[Result "0-1"]\n[Termination "normal"]\n[GmdTermination "victory_black"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'
    assert (await client.ask("history", game_id=1))["pgn"] == common + over


@pytest.mark.parametrize(
    ("options", "headers"),
    [
        ({}, {}),
        (
            {"fen": "4k3/8/8/8/8/8/8/4K2R b K - 5 9"},
            {"Variant": "Standard", "SetUp": "1", "FEN": "4k3/8/8/8/8/8/8/4K2R b K - 5 9"},
        ),
        (
            {"variant": "chess960", "position": 518},
            {
                "Variant": "Chess960",
                "SetUp": "1",
                "FEN": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1",
            },
        ),
        (
            {"variant": "crazyhouse"},
            {
                "Variant": "Crazyhouse",
                "SetUp": "1",
                "FEN": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
            },
        ),
    ],
    ids=str,
)
async def test_headers_give_variant_and_start_position(client: Client, options: Json, headers: Json) -> None:
    await client.new_game(**options)
    game = read((await client.ask("history", game_id=1))["pgn"])
    assert {name: game.headers[name] for name in ("Variant", "SetUp", "FEN") if name in game.headers} == headers


async def test_headers_give_the_clock_in_pgn_notation(client: Client) -> None:
    clocks: dict[str | None, Json | None] = {
        None: None,
        "300": {"initial": 300},
        "180+2": {"initial": 180, "increment": 2},
        "0.5+0.05": {"initial": 0.5, "increment": 0.05},
        "10000000": {"initial": 10_000_000, "increment": 0},
        "1/1:1/0.1": {"first_move": 1, "per_move": 0.1},
    }
    for game_id, (header, clock) in enumerate(clocks.items(), 1):
        await client.new_game(clock=clock)
        game = read((await client.ask("history", game_id=game_id))["pgn"])
        assert game.headers.get("TimeControl") == header


async def test_game_begun_by_black_is_numbered_accordingly(client: Client) -> None:
    await client.new_game(fen="4k3/8/8/8/8/8/8/4K2R b K - 5 9")
    await client.play(1, "Kd7", "O-O", white_first=False)
    history = await client.ask("history", game_id=1)
    assert history["pgn"].endswith("\n\n9... Kd7 10. O-O *\n")


async def test_result_of_the_loaded_pgn_is_kept_until_the_game_goes_on_or_ends(client: Client) -> None:
    await client.new_game(pgn='[Result "1/2-1/2"]\n\n1. e4 e5 1/2-1/2')
    assert (await client.ask("state", game_id=1))["state"]["result"] == "*"
    assert read((await client.ask("history", game_id=1))["pgn"]).headers["Result"] == "1/2-1/2"
    await client.ask("end_game", game_id=1, player=1, termination="resignation_white")
    assert read((await client.ask("history", game_id=1))["pgn"]).headers["Result"] == "0-1"
    await client.new_game(pgn='[Result "1/2-1/2"]\n\n1. e4 e5 1/2-1/2')
    await client.ask("move", game_id=2, player=1, move="Nf3")
    assert read((await client.ask("history", game_id=2))["pgn"]).headers["Result"] == "*"


async def test_result_header_of_a_pgn_cannot_corrupt_the_history(client: Client) -> None:
    headers = ['x"] [Black "y', "\\", '"', "1-0\\", "] *", "?", "{", "(", ";", "1-0 {", "drawn", "\u265e", "[%emt 1]"]
    for header in headers:
        escaped = header.replace("\\", "\\\\").replace('"', '\\"')
        made = await client.new_game(pgn=f'[Result "{escaped}"]\n\n1. e4')
        history = await client.ask("history", game_id=made["game_id"])
        assert (await client.new_game(pgn=history["pgn"]))["state"]["pgn"] == "1.e4"
        game = read(history["pgn"])
        assert [move.uci() for move in game.mainline_moves()] == ["e2e4"]
        assert game.headers["Black"] == "2"


async def test_history_can_be_loaded_as_the_same_game(client: Client) -> None:
    await client.new_game(variant="crazyhouse", position=77)
    history = await play_at_random(client, 1, 60, 3)
    again = await client.new_game(pgn=history["pgn"])
    first = (await client.ask("state", game_id=1))["state"]
    assert {**again["state"], "game_id": 1} == {**first, "termination": again["state"]["termination"]}
    assert (await client.ask("history", game_id=2))["moves"] == history["moves"]


async def test_long_movetext_is_wrapped_at_80_columns(client: Client) -> None:
    await client.new_game(pgn="Nf3 Nf6 Ng1 Ng8 " * 500)
    history = await client.ask("history", game_id=1)
    assert len(history["moves"]) == 2_000
    assert max(map(len, history["pgn"].splitlines())) <= 80
    assert len(list(read(history["pgn"]).mainline_moves())) == 2_000
