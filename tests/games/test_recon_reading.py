"""Saved games of reconnaissance blind chess are read as they were played: gmd's JSON and PGN, and reconchess's JSON."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import chess
import pytest
from chess import BLACK, WHITE
from hypothesis import given
from hypothesis import strategies as st
from reconchess import GameHistory, LocalGame

from gm_recon import BadHistory, ReconGame, WinReason, read_json
from gm_recon.pgn import movetext
from gm_recon.pgn_reading import read_pgn

BLACK_BEGINS = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R b KQkq - 3 9"


def played_game(seed: int, fen: str, plies: int, *, unfinished: bool = False) -> ReconGame:
    """Return a random game of this many plies, then resigned."""
    rng, game = random.Random(seed), ReconGame(fen)
    while not game.is_over() and game.ply < plies:
        game.sense(rng.choice([*game.sense_actions(), None]))
        game.move(rng.choice([*game.move_actions(), None]))
    if not game.is_over():
        if unfinished:
            game.sense(rng.choice(game.sense_actions()))
        game.resign()
    return game


games = st.builds(
    played_game, st.integers(0, 2**32), st.sampled_from([chess.STARTING_FEN, BLACK_BEGINS]), st.integers(1, 60)
)


@given(games)
def test_json_is_read_as_it_was_played(game: ReconGame) -> None:
    assert read_json(game.history().to_json("one", None)) == (game.history(), "one", None)


@given(games, st.booleans())
def test_pgn_is_read_as_it_was_played(game: ReconGame, old: bool) -> None:
    """PGN of older servers is read too; its Termination was what GmdTermination is now."""
    history = game.history()
    result = {None: "1/2-1/2", WHITE: "1-0", BLACK: "0-1"}[history.winner]
    assert history.win_reason is not None
    ending = {WinReason.KING_CAPTURE: "victory_white", WinReason.RESIGN: "resignation_white"}[history.win_reason]
    endings = {"Termination": ending} if old else {"Termination": "normal", "GmdTermination": ending}
    headers = {"FEN": history.start_fen, "White": "one", "Result": result, **endings}
    tags = "".join(f'[{name} "{value}"]\n' for name, value in headers.items())
    assert read_pgn(f"{tags}\n{movetext(history)} {result}\n") == (history, "one", None)


def test_unfinished_turn_is_read() -> None:
    for plies in (0, 1, 6):
        history = played_game(3, chess.STARTING_FEN, plies, unfinished=True).history()
        assert len(history.unfinished) == 1
        assert read_json(history.to_json()).history == history
        assert read_pgn(movetext(history)).history.unfinished == history.unfinished


def local_game(seed: int) -> GameHistory:
    rng, game = random.Random(seed), LocalGame(seconds_per_player=None)
    game.store_players("one", "another")
    game.start()
    while not game.is_over():
        game.sense(rng.choice(game.sense_actions()))
        game.move(rng.choice(game.move_actions()))
        game.end_turn()
    game.end()
    return game.get_game_history()


@pytest.mark.parametrize("seed", range(4))
def test_files_of_reconchess_are_read(seed: int, tmp_path: Path) -> None:
    history = local_game(seed)
    history.save(str(tmp_path / "game.json"))
    read = read_json((tmp_path / "game.json").read_text())
    assert (read.white, read.black) == ("one", "another")
    assert [turn.taken for turn in read.history.turns] == list(history.collect(history.taken_move, history.turns()))
    assert [shown.sense_result for shown in read.history.replay()] == list(
        history.collect(history.sense_result, history.turns())
    )
    assert read.history.winner == history.get_winner_color()
    assert read.history.win_reason is not None
    assert read.history.win_reason.name == history.get_win_reason().name


def changed(change: Any) -> str:
    saved = json.loads(played_game(1, chess.STARTING_FEN, 10).history().to_json())
    change(saved)
    return json.dumps(saved)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value"),
        ("[]", "it is not a JSON object"),
        ('{"type": "GameHistory"}', "a field is missing"),
        (changed(lambda saved: saved["taken_moves"]["true"].__setitem__(2, None)), "White's turn 3: its fens_after_mo"),
        (changed(lambda saved: saved["sense_results"]["false"].__setitem__(1, [])), "Black's turn 2: its sense_result"),
        (changed(lambda saved: saved["taken_moves"]["true"].pop()), "do not alternate"),
        (changed(lambda saved: saved.update(win_reason={"value": "BOREDOM"})), "BOREDOM"),
        (
            changed(lambda saved: saved["fens_before_move"]["true"].__setitem__(0, "8/8 w - - 0 1")),
            "cannot be replayed",
        ),
    ],
)
def test_impossible_json_history_is_refused(text: str, reason: str) -> None:
    with pytest.raises(BadHistory, match=reason):
        read_json(text)


@pytest.mark.parametrize("text", ["1.e4 e4", '[FEN "8/8 w"]\n\n1.e4', "1.e4 {[%sense z9]}"])
def test_impossible_pgn_is_refused(text: str) -> None:
    with pytest.raises(BadHistory):
        read_pgn(text)
