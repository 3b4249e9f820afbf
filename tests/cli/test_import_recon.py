"""``gmd import`` of games that reconchess has saved."""

from __future__ import annotations

import json
import random
from pathlib import Path

import chess
import pytest
from reconchess import GameHistory, LocalGame, play_local_game
from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot

from gm_recon import ReconGame
from tests.cli.commands import client_of, gmd
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


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"type": "Game"}, "it is not a JSON object of type"),
        ({"winner_color": None}, "win_reason: the record says"),
        ({"win_reason": {"type": "WinReason", "value": "TIMEOUT"}}, "it ended on time"),
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
