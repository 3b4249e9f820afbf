"""Games of a batch as histories of gm_recon, as files of reconchess and for ``gmd import``, and back."""

from __future__ import annotations

import hashlib
import json
import random
from operator import itemgetter
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from chess import Move
from click.testing import CliRunner
from reconchess import GameHistory

from gm_env import OVER, TO_MOVE, BatchedRbc, action_of, sense_of
from gm_recon import History, ReconGame, Turn, WinReason, read_json
from gmd.cli.check import check
from gmd.cli.export import export
from gmd.cli.import_ import import_
from tests.env.beside import FENS
from tests.env.test_batch import everything

pytestmark = pytest.mark.slow


def played(turns: int, seed: int = 0) -> BatchedRbc:
    """Return games from all start positions, each in another phase; none of them is begun anew."""
    batch = BatchedRbc(len(FENS), seed, fens=FENS, autoreset=False)
    for _ in range(turns):
        batch.sense(batch.sample_senses())
        batch.move(batch.sample_moves())
    senses = batch.sample_senses().copy()
    senses[::2] = -1
    batch.sense(senses)
    return batch


@pytest.mark.parametrize("turns", [0, 1, 7, 60])
def test_history_is_that_of_the_same_game_of_gm_recon(turns: int) -> None:
    batch = played(turns)
    for game, fen in enumerate(FENS):
        history, again = batch.history(game), ReconGame(fen)
        for turn in history.turns:
            again.sense(turn.sense)
            assert again.move(turn.requested) == (turn.requested, turn.taken, turn.capture_square)
        for square in history.unfinished:
            again.sense(square)
        assert history == again.history()
    assert {int(phase) for phase in batch.phases} >= ({0, OVER, TO_MOVE} if turns == 60 else {0, TO_MOVE})


@pytest.mark.parametrize("turns", [1, 7, 60, 300])  # reconchess's file of a game without turns has no start position
def test_loaded_games_are_the_same_and_go_on(turns: int) -> None:
    batch = played(turns)
    texts = [batch.history(game).to_json("one", "other") for game in range(batch.n)]
    loaded = BatchedRbc.from_histories([read_json(text).history for text in texts], autoreset=False)
    for name in ("legal", "phases", "plies", "colors", "reasons", "winners", "lost"):
        assert (getattr(loaded, name) == getattr(batch, name)).all()
    for color in chess.COLORS:
        assert (loaded.observations(color) == batch.observations(color)).all()
        assert (loaded.information_states(color) == batch.information_states(color)).all()
        assert (loaded.privileged_state(color) == batch.privileged_state(color)).all()
    senses = batch.sample_senses().copy()
    for each in (batch, loaded):
        each.sense(senses)
    moves = batch.sample_moves().copy()
    for each in (batch, loaded):
        each.move(moves)
    assert [loaded.history(game) for game in range(batch.n)] == [batch.history(game) for game in range(batch.n)]


def test_loaded_game_begins_anew_where_its_history_begins() -> None:
    fen = "k7/1P6/8/8/8/8/8/K7 w - - 0 1"
    batch = BatchedRbc(2)
    game = ReconGame(fen)
    game.sense(None)
    game.move(Move.from_uci("b7a8q"))
    batch.load(1, game.history())
    assert (batch.phases[1], batch.winners[1], batch.board(0).fen()) == (OVER, 1, chess.STARTING_FEN)
    batch.sense(batch.sample_senses())
    assert batch.board(1).fen() == fen


def test_reconchess_loads_the_file(tmp_path: Path) -> None:
    batch = played(60)
    for game in np.flatnonzero(batch.phases == OVER):
        path = tmp_path / f"{game}.json"
        path.write_text(batch.history(game).to_json("one", "other"), "utf-8")
        history = GameHistory.from_file(str(path))
        assert history.get_win_reason().value == batch.reasons[game]
        if " w " in FENS[game]:  # of a game that Black began, reconchess takes White's turns for the first
            assert history.num_turns() == batch.plies[game]
            assert history.truth_fen_after_move(history.last_turn()) == batch.board(game).fen(en_passant="fen")


def test_gmd_imports_the_file_and_replays_it(tmp_path: Path) -> None:
    batch = BatchedRbc(8, 3, autoreset=False)
    while (batch.phases != OVER).any():
        batch.sense(batch.sample_senses())
        batch.move(batch.sample_moves())
    files = []
    for game in range(batch.n):
        files.append(tmp_path / f"{game}.json")
        files[-1].write_text(batch.history(game).to_json("one", "other"), "utf-8")
    data = ["--data", str(tmp_path / "data")]
    done = CliRunner().invoke(import_, [*data, "--white", "1", "--black", "2", *map(str, files)])
    assert (done.exit_code, done.output.strip()) == (0, "Imported 8 games"), done.output
    assert CliRunner().invoke(check, data).exit_code == 0
    lines = CliRunner().invoke(export, [*data, "--format", "jsonl"]).output.splitlines()
    assert len([line for line in lines if json.loads(line)]) >= 8


def played_by_gmd(files: list[Path], folder: Path) -> list[History]:
    """Import files into a new log, and play again what ``gmd export`` says of its games, in their order."""
    data = ["--data", str(folder / "data")]
    done = CliRunner().invoke(import_, [*data, "--white", "1", "--black", "2", *map(str, files)])
    assert done.exit_code == 0, done.output
    exported = CliRunner().invoke(export, [*data, "--format", "jsonl"]).output
    games = sorted((json.loads(line) for line in exported.splitlines()), key=itemgetter("game_id"))
    return [played_again(game["events"]) for game in games]


def played_again(events: list[dict[str, Any]]) -> History:
    """Return the history of a game whose events are those of a log."""
    one = BatchedRbc(1, fens=events[0]["options"]["fen"], autoreset=False)
    for event in events:
        color = bool(one.colors[0])
        if event["event"] == "sensed":
            one.sense(np.array([sense_of(event["square"], color)]))
        elif event["event"] == "moved":
            move = None if event["move"] == "0000" else Move.from_uci(event["move"])
            one.move(np.array([action_of(move, color)]))
    return one.history(0)


def test_games_come_back_from_reconchess_and_from_gmd_the_same(tmp_path: Path) -> None:
    batch = BatchedRbc(6, 5, autoreset=False)
    while (batch.phases != OVER).any():
        batch.sense(batch.sample_senses())
        batch.move(batch.sample_moves())
    files, by_reconchess = [], []
    for game in range(batch.n):
        files.append(tmp_path / f"{game}.json")
        files[-1].write_text(batch.history(game).to_json("one", "other"), "utf-8")
        saved = tmp_path / f"{game}.saved"
        GameHistory.from_file(str(files[-1])).save(str(saved))
        by_reconchess.append(read_json(saved.read_text("utf-8")).history)
    for histories in (by_reconchess, played_by_gmd(files, tmp_path)):
        assert len(histories) == batch.n
        loaded = BatchedRbc.from_histories(histories, autoreset=False)
        assert [loaded.history(game) for game in range(batch.n)] == [batch.history(game) for game in range(batch.n)]
        for color in chess.COLORS:
            assert (loaded.privileged_state(color) == batch.privileged_state(color)).all()
            assert (loaded.information_states(color) == batch.information_states(color)).all()


def test_thousands_of_seeded_plies_are_the_same_on_every_platform() -> None:
    """The digest is of whole records, in a fixed order of bytes: no platform may find another."""
    batch, digest, plies = BatchedRbc(32, 2026), hashlib.sha256(), 0
    for _ in range(150):
        batch.sense(batch.sample_senses())
        batch.move(batch.sample_moves())
        observed = [
            batch.windows.astype("u1"),
            batch.results.astype("<i4"),
            batch.legal.astype("<u8"),
            batch.observations(),
        ]
        digest.update(b"".join(array.tobytes() for array in observed))
        plies += int((batch.phases != 3).sum())
    assert plies > 4_000
    assert digest.hexdigest() == "58009fa4d1ecfb4c086f86d10cfc7cce94c2560fb2dd4e918573a01d665e611c"


def turn(uci: str | None, taken: str | None = "same", sense: int | None = None, capture: int | None = None) -> Turn:
    asked = None if uci is None else Move.from_uci(uci)
    made = asked if taken == "same" else None if taken is None else Move.from_uci(taken)
    return Turn(sense, asked, made, capture)


@pytest.mark.parametrize(
    ("history", "message"),
    [
        (History(chess.STARTING_FEN, [turn("e2e5")]), "history: turn 1 is not possible: actions: game 0"),
        (History(chess.STARTING_FEN, [turn("e2e4"), turn("e2e4")]), "history: turn 2 is not possible"),
        (History(chess.STARTING_FEN, [turn("e2d3")]), "history: turn 1 makes move 4672 capturing on -1 here"),
        (History(chess.STARTING_FEN, [turn("e2e4", capture=9)]), "history: turn 1 makes move"),
        (History(chess.STARTING_FEN, [turn("e2a7")]), "history: turn 1 is not possible: move: e2a7"),
        (History(FENS[0].replace(" w ", " x ")), "expected 'w' or 'b'"),
        (
            History("k7/1P6/8/8/8/8/8/K7 w - - 0 1", [turn("b7a8q", capture=chess.A8), turn(None)]),
            "history: the game is over before turn 2, by KING_CAPTURE",
        ),
        (
            History("k7/1P6/8/8/8/8/8/K7 w - - 0 1", [turn("b7a8q", capture=chess.A8)]),
            "history: the game ends by KING_CAPTURE after 1 turns, and not as it says",
        ),
    ],
)
def test_history_that_is_not_possible_changes_nothing(history: History, message: str) -> None:
    batch = BatchedRbc(2, 1)
    batch.sense(batch.sample_senses())
    before = everything(batch)
    with pytest.raises(ValueError, match=message):
        batch.load(1, history)
    assert everything(batch) == before


@pytest.mark.parametrize("reason", [WinReason.RESIGN, WinReason.TIMEOUT])
def test_game_that_was_resigned_or_lost_on_time_is_over(reason: WinReason) -> None:
    rng, game = random.Random(1), ReconGame()
    for _ in range(9):
        game.sense(rng.choice(game.sense_actions()))
        game.move(rng.choice(game.move_actions()))
    game.end(chess.BLACK, reason)
    batch = BatchedRbc.from_histories([game.history()])
    assert (batch.phases[0], batch.reasons[0], batch.winners[0]) == (OVER, reason.value, 0)
    assert not batch.masks().any()
    assert batch.history(0) == game.history()
