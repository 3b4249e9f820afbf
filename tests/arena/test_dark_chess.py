"""Dark chess in all that plays and shows games: ``gmd match``, ``gmd replay`` and a client."""

from __future__ import annotations

from pathlib import Path

import chess
from click.testing import CliRunner

from gm_arena.replay.command import replay
from gm_arena.replay.recorded import read_file
from gm_client import connect
from gmd.games.dark import DarkBoard
from tests.arena.matches import games, run
from tests.serving import Served

#: A game that ends by the capture of a king, after a check that chess would not allow to be ignored.
CAPTURE = ["e2e4", "f7f6", "d1h5", "a7a6", "h5e8"]


def test_match_of_random_bots_is_played_and_each_file_of_it_is_replayed(tmp_path: Path) -> None:
    record, pgn = tmp_path / "match.jsonl", tmp_path / "match.pgn"
    bots = ("one=random:seed=1", "two=random:seed=2", "--variant", "dark_chess", "--games", 2, "--max-moves", 12)
    status, _, complaints = run(*bots, "--json-out", record, "--pgn-out", pgn)
    assert (status, complaints) == (0, "")
    for number, game in enumerate(games(record), 1):
        board = DarkBoard(game["start_fen"])
        for uci in game["moves"]:
            move = chess.Move.from_uci(uci)
            assert board.is_legal(move)
            board.push(move)
        for file in (record, pgn):
            recorded = read_file(file, number)
            assert [node.move.uci() for node in recorded.moves] == game["moves"]
            assert (recorded.result, recorded.ending) == (game["result"], game["ending"])
            assert recorded.bad_move == ""


def test_client_plays_to_the_capture_of_a_king_and_game_is_replayed(daemon_process: Served) -> None:
    where = ("--server", f"127.0.0.1:{daemon_process.port}")
    with connect(port=daemon_process.port) as client:
        game_id = client.new_game(1, 2, variant="dark_chess")["game_id"]
        for ply, uci in enumerate(CAPTURE):
            player = 1 + ply % 2
            turn = client.state(game_id, player=player, actions=True)
            assert uci in (turn["move_actions"] or ())
            state = client.move(game_id, uci, player=player)["state"]
        assert (state["termination"], state["fen"].split()[0]) == (
            "victory_white",
            "rnbqQbnr/1pppp1pp/p4p2/8/4P3/8/PPPP1PPP/RNB1KBNR",
        )
        assert client.history(game_id)["moves"] == CAPTURE
    shown = CliRunner().invoke(replay, [str(game_id), *where]).output
    assert "1-0 king capture, dark chess" in shown
    assert "3. Qxe8  [1-0 king capture]" in shown
    seen = CliRunner().invoke(replay, [str(game_id), "--follow", *where])
    assert (seen.exit_code, seen.output.splitlines()[-1]) == (0, "1-0 king capture")
