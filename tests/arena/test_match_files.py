"""The files of a match can be read: by ``gmd replay``, and the histories by reconchess."""

from __future__ import annotations

import json
from pathlib import Path

import chess
import pytest
from reconchess import GameHistory

from gm_arena.replay.recorded import BadRecord, read_file
from tests.arena.matches import TWO, games, run

BLIND = ("new=random:seed=1", "old bot/2=random:seed=2", "--variant", "rbc", "--max-moves", 4, "--games", 2)


@pytest.fixture(scope="module")
def blind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the record of a match of blind chess."""
    folder = tmp_path_factory.mktemp("blind")
    status, _, complaints = run(*BLIND, "--json-out", folder / "match.jsonl")
    assert (status, complaints) == (0, "")
    return folder


def test_history_in_the_record_is_read_by_reconchess(blind: Path, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    for record in games(blind / "match.jsonl"):
        path.write_text(json.dumps(record["history"]))
        history = GameHistory.from_file(path)
        assert (history.get_white_player_name(), history.get_black_player_name()) == (record["white"], record["black"])
        taken = [move.uci() if move else "0000" for turn in history.turns() for move in [history.taken_move(turn)]]
        assert taken == record["moves"]


def test_replay_reads_a_game_of_blind_chess_from_a_match(blind: Path) -> None:
    recorded = read_file(blind / "match.jsonl", 2)
    assert (recorded.white, recorded.black, recorded.result) == ("old bot/2", "new", "1/2-1/2")
    assert recorded.ending == "turn limit"
    assert recorded.clock == "900+5"
    assert recorded.history is not None
    assert len(recorded.history.turns) == 8


def test_replay_reads_a_game_of_chess_from_a_match(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    openings = tmp_path / "openings.epd"
    openings.write_text("4k3/8/8/8/8/8/4P3/4K3 w - -\n")
    status, _, complaints = run(
        *TWO, "--variant", "standard", "--max-moves", 3, "--openings", f"file={openings}", "--json-out", path
    )
    assert (status, complaints) == (0, "")
    record = games(path)[1]
    recorded = read_file(path, 2)
    assert (recorded.white, recorded.black, recorded.result) == ("two", "one", record["result"])
    assert recorded.ending == record["ending"] == "move limit"
    assert recorded.start == chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    assert [node.move.uci() for node in recorded.moves] == record["moves"]


def test_replay_needs_the_number_of_a_matchs_game(blind: Path, tmp_path: Path) -> None:
    path = blind / "match.jsonl"
    with pytest.raises(BadRecord, match=r"holds 2 games: choose one with --game \(1, 2\)"):
        read_file(path)
    with pytest.raises(BadRecord, match="holds no game 3"):
        read_file(path, 3)
    begun = tmp_path / "begun.jsonl"
    begun.write_text(path.read_text().splitlines(keepends=True)[0])
    with pytest.raises(BadRecord, match=r"begun.jsonl is not a game: "):
        read_file(begun)


@pytest.mark.parametrize("missing", ["pgn", "ending", "white"])
def test_replay_names_the_bad_line_of_a_match(missing: str, blind: Path, tmp_path: Path) -> None:
    header, first, *_ = (blind / "match.jsonl").read_text().splitlines()
    record = json.loads(first)
    del record["history"], record[missing]
    path = tmp_path / "match.jsonl"
    path.write_text(f"{header}\n{json.dumps(record)}\n")
    with pytest.raises(BadRecord, match="is not a game: "):
        read_file(path)
