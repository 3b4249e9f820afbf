"""``gmd import`` of games that reconchess has saved."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import chess
import pytest
from reconchess import GameHistory, LocalGame, play_local_game
from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot

from gm_recon import ReconGame, WinReason
from tests.cli.commands import client_of, gmd
from tests.helpers import Json
from tests.http.pages.recon_games import random_game


def saved_by_reconchess(folder: Path) -> Path:
    """Save a game that reconchess has played until a king was captured."""
    before = random.getstate()
    random.seed(1)
    try:
        _, _, history = play_local_game(RandomBot(), AttackerBot(), LocalGame(seconds_per_player=None))
    finally:
        random.setstate(before)
    file = folder / "game.json"
    history.save(str(file))
    return file


def saved(folder: Path, game: ReconGame) -> Path:
    file = folder / "ours.json"
    file.write_text(game.history().to_json("ann", "bob"))
    return file


async def test_game_of_reconchess_s_is_imported_with_its_senses_and_its_end(tmp_path: Path) -> None:
    file, data = saved_by_reconchess(tmp_path), tmp_path / "data"
    assert gmd("import", "--data", data, "--white", 1, "--black", 2, file) == (0, "Imported 1 game\n", "")
    assert gmd("check", "--data", data).status == 0
    async with client_of(data) as client:
        shown = (await client.ask("state", game_id=1))["state"]
        assert (shown["variant"], shown["phase"], shown["player_white"]) == ("rbc", "over", 1)
        record = (await client.ask("history", game_id=1))["history"]
    original = json.loads(file.read_text())
    again = tmp_path / "again.json"
    again.write_text(json.dumps(record))
    assert GameHistory.from_file(str(again)).num_turns() == GameHistory.from_file(str(file)).num_turns()
    for name in ("senses", "sense_results", "requested_moves", "taken_moves", "capture_squares", "fens_after_move"):
        assert record[name] == original[name]
    assert (record["winner_color"], record["win_reason"]) == (original["winner_color"], original["win_reason"])


async def test_resigned_game_and_one_that_goes_on_are_imported(tmp_path: Path) -> None:
    resigned, going_on, data = random_game(3, turns=6), ReconGame(), tmp_path / "data"
    going_on.sense(chess.E7)
    going_on.move(chess.Move.from_uci("e2e4"))
    going_on.sense(None)
    for game in (resigned, going_on):
        ran = gmd("import", "--data", data, "--white", 1, "--black", 2, saved(tmp_path, game))
        assert ran == (0, "Imported 1 game\n", "")
    async with client_of(data) as client:
        assert (await client.ask("state", game_id=1))["state"]["termination"] == "resignation_white"
        shown = (await client.ask("state", game_id=2, player=2))["state"]
        assert (shown["phase"], shown["ply_index"]) == ("move", 1)


def by_reconchess(seed: int, turns: int | None = None, **limits: int | None) -> LocalGame:
    """Play a random game with reconchess: until it is over, or for some turns of both sides together."""
    rng, game = random.Random(seed), LocalGame(seconds_per_player=None, **limits)
    game.start()
    while not game.is_over() and turns != 0:
        game.sense(rng.choice([None, *game.sense_actions()]))
        game.move(rng.choice([None, *game.move_actions()]))
        game.end_turn()
        turns = None if turns is None else turns - 1
    return game


def out_of_time(seed: int, loser: chess.Color, turns: int, **limits: int | None) -> LocalGame:
    """Play so many turns; one player's time was up in the last, or is up as the next begins."""
    game = by_reconchess(seed, turns, **limits)
    game.seconds_left_by_color[loser] = -1.0
    return game


def given_up(seed: int, turns: int) -> LocalGame:
    """Play so many turns; the program to move then fails."""
    game = by_reconchess(seed, turns)
    game.resign()
    return game


#: Games of reconchess, each with its termination here, and the limits that it is imported with.
RECORDS: dict[str, tuple[Callable[[], LocalGame], str, Json]] = {
    "a king is captured": (lambda: by_reconchess(1), "victory_black", {"reversible_moves": 100}),
    "few reversible moves": (
        lambda: by_reconchess(7, reversible_moves_limit=7),
        "draw_fifty_moves",
        {"reversible_moves": 7},
    ),
    "few turns": (
        lambda: by_reconchess(3, full_turn_limit=5),
        "draw_turn_limit",
        {"reversible_moves": 100, "max_turns": 5},
    ),
    "both, turns first": (
        lambda: by_reconchess(4, full_turn_limit=3, reversible_moves_limit=90),
        "draw_turn_limit",
        {"reversible_moves": 100, "max_turns": 3},
    ),
    "time, after a late move": (lambda: out_of_time(5, chess.WHITE, 9), "timeout_white", {"reversible_moves": 100}),
    "time, before the move": (lambda: out_of_time(5, chess.BLACK, 9), "timeout_black", {"reversible_moves": 100}),
    "time, at once": (lambda: out_of_time(5, chess.WHITE, 0), "timeout_white", {"reversible_moves": 100}),
    "a failure": (lambda: given_up(6, 8), "resignation_white", {"reversible_moves": 100}),
}
COLUMNS = ("senses", "sense_results", "requested_moves", "taken_moves", "capture_squares", "fens_after_move")


def record_of(game: LocalGame, file: Path) -> Json:
    """Save a game that is over as reconchess does; return what the file has."""
    game.end()
    game.get_game_history().save(str(file))
    record: Json = json.loads(file.read_text())
    return record


async def test_record_under_any_limits_is_imported_with_its_end(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in range(len(RECORDS))]
    records = [record_of(play(), file) for (play, _, _), file in zip(RECORDS.values(), files, strict=True)]
    for file, record in zip(files[::2], records[::2], strict=True):
        file.write_text(json.dumps({"game_history": record}))  # as reconchess's server answers
    data = tmp_path / "data"
    ran = gmd("import", "--data", data, "--white", 1, "--black", 2, *files)
    assert ran == (0, f"Imported {len(files)} games\n", "")
    assert gmd("check", "--data", data).status == 0
    async with client_of(data) as client:
        for number, (name, record) in enumerate(zip(RECORDS, records, strict=True), 1):
            _, termination, limits = RECORDS[name]
            assert (await client.ask("state", game_id=number))["state"]["termination"] == termination, name
            ours = (await client.ask("history", game_id=number))["history"]
            for column in (*COLUMNS, "winner_color", "win_reason"):
                assert ours[column] == record[column], name
            joined = await client.ask("join", player=1, game_id=number)
            assert {limit: joined["options"].get(limit) for limit in limits} == limits
            assert (joined["options"]["clock"] is None) == (not termination.startswith("timeout"))


def long_game(reason: WinReason | None) -> ReconGame:
    """Return a game in which both players pass 120 times and more, by which no limit has ended it."""
    game = ReconGame(reversible_moves=None)
    for _ in range(243):
        game.sense(None)
        game.move(None)
    if reason is not None:
        game.end(None if reason is WinReason.TURN_LIMIT else chess.WHITE, reason)
    return game


@pytest.mark.parametrize(
    ("game", "termination"),
    [
        (long_game(None), "available_move"),
        (long_game(WinReason.RESIGN), "resignation_black"),
        (long_game(WinReason.TIMEOUT), "timeout_black"),
        (long_game(WinReason.TURN_LIMIT), "draw_move_limit"),  # within a full turn: a server's limit on plies
        (random_game(4, fen="7k/8/8/8/8/8/8/K7 b - - 7 9", turns=4), "resignation_white"),
    ],
    ids=["goes on", "resigned", "time", "plies", "counters"],
)
async def test_our_own_record_is_imported_whatever_limits_it_was_played_under(
    game: ReconGame, termination: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    ran = gmd("import", "--data", data, "--white", 1, "--black", 2, saved(tmp_path, game))
    assert ran == (0, "Imported 1 game\n", "")
    async with client_of(data) as client:
        state = (await client.ask("state", game_id=1))["state"]
        assert (state["termination"], state["ply_index"]) == (termination, game.ply)


@pytest.mark.parametrize("reason", [WinReason.TIMEOUT, WinReason.RESIGN])
async def test_king_captured_after_the_end_is_left_out_and_reported(reason: WinReason, tmp_path: Path) -> None:
    """reconchess carries out a move that came too late, and the move of a program that fails on its result."""
    game = ReconGame("4k3/4Q3/8/8/8/8/8/4K3 w - - 0 1")
    game.sense(chess.E8)
    game.move(chess.Move.from_uci("e7e8"))
    record = json.loads(game.history().to_json())
    record |= {"winner_color": chess.BLACK, "win_reason": {"type": "WinReason", "value": reason.name}}
    file, data = tmp_path / "late.json", tmp_path / "data"
    file.write_text(json.dumps(record))
    ran = gmd("import", "--data", data, "--white", 1, "--black", 2, file)
    note = "its last move is left out: a king was captured after the game had ended"
    assert ran == (1, "Imported 1 game, 1 only in part\n", f"{file}: {note}\n")
    async with client_of(data) as client:
        state = (await client.ask("state", game_id=1, player=1))["state"]
        word = "timeout" if reason is WinReason.TIMEOUT else "resignation"
        assert (state["termination"], state["ply_index"]) == (f"{word}_white", 0)
        assert state["last_sense"]["square"] == "e8"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"type": "Game"}, "it is not a JSON object of type"),
        ({"winner_color": None}, "win_reason: the record says"),
        ({"win_reason": {"type": "WinReason", "value": "TURN_LIMIT"}}, "win_reason: the record says"),
        ({"game_history": None}, "it is not a JSON object of type"),
    ],
)
def test_bad_record_is_reported(tmp_path: Path, changed: dict[str, object], error: str) -> None:
    file = saved_by_reconchess(tmp_path)
    file.write_text(json.dumps({**json.loads(file.read_text()), **changed}))
    ran = gmd("import", "--data", tmp_path / "data", "--white", 1, "--black", 2, file)
    assert ran.status == 2
    assert ran.err.startswith(f"{file}: {error}")


def test_players_must_be_named(tmp_path: Path) -> None:
    ran = gmd("import", "--data", tmp_path / "data", "--white", 1, saved_by_reconchess(tmp_path))
    assert (ran.status, "give --black ID" in ran.err) == (2, True)
