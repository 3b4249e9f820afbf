"""Bots written for reconchess are called as reconchess's own ``play_local_game`` calls them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import pytest
import trio
from reconchess import LocalGame, play_local_game

from gm_arena.reconchess_bot import ReconchessBots
from tests.arena.bots import recorder
from tests.arena.playing import BOTS, bridged, new_games, recon_bot
from tests.proofs import cases
from tests.serving import Served

PLAYER = 71_001

#: Castling, promotions, en passant, Black to begin, a king in check.
FENS = [
    chess.STARTING_FEN,
    "r3k2r/pPpp1ppp/8/3Pp3/8/8/P1PP1PpP/R3K2R w KQkq e6 3 17",
    "4k3/1P4P1/8/8/4r3/8/1p4p1/R3K2R b KQ - 12 40",
]

Calls = list[list[Any]]


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a function that sets the recorders' seed and files, and that has one for what each colour has recorded,
    game by game.
    """

    def begin(seed: int) -> None:
        monkeypatch.setenv("RECORDER_SEED", str(seed))
        monkeypatch.setenv("RECORDER_FILE", str(tmp_path / "{color}.jsonl"))

    def recorded() -> dict[str, Calls]:
        paths = {color: tmp_path / f"{color}.jsonl" for color in ("white", "black")}
        calls = {color: json.loads(path.read_text()) for color, path in paths.items()}
        for path in paths.values():
            path.unlink()
        return calls

    begin.recorded = recorded  # type: ignore[attr-defined]
    return begin


def play_locally(fen: str, seconds: float | None, turns: int) -> None:
    game = LocalGame(seconds_per_player=seconds, full_turn_limit=turns)
    game.board = chess.Board(fen)
    game.turn = game.board.turn
    play_local_game(recorder.Recorder(), recorder.Recorder(), game)


def without_clock_and_names(calls: Calls) -> Calls:
    """Return what must be the same: all but the seconds left and the players' names."""
    plain = []
    for name, *arguments in calls:
        if name == "start":
            arguments[1] = ["str", "opponent"]
        elif name in ("sense", "move"):
            arguments[-1] = [arguments[-1][0], "seconds"]
        elif name == "end":
            history = json.loads(arguments[2][1])
            arguments[2] = {key: value for key, value in history.items() if not key.endswith("_name")}
        plain.append([name, *arguments])
    return plain


def seconds_left(calls: Calls) -> list[float]:
    return [float(call[-1][1]) for call in calls if call[0] in ("sense", "move")]


@pytest.mark.slow
@pytest.mark.parametrize("fen", FENS)
async def test_bot_is_called_as_in_a_local_game(fen: str, record: Any, daemon_process: Served) -> None:
    turns = 8 + chess.Board(fen).fullmove_number
    for seed in range(cases(1)):
        record(seed)
        play_locally(fen, 900, turns)
        expected = record.recorded()
        options = {"fen": fen, "max_turns": turns, "clock": {"initial": 900, "increment": 5}}
        plan = new_games(PLAYER, **options)
        witness = await bridged(daemon_process.port, PLAYER, recon_bot("recorder"), plan)
        assert [played.failed for played in witness.played] == [False, False]
        found = record.recorded()
        for color in ("white", "black"):
            assert without_clock_and_names(found[color]) == without_clock_and_names(expected[color])
            assert found[color][0][2] == ["str", str(PLAYER)]
            left = seconds_left(found[color])
            assert all(0 < seconds <= 900 + 5 * turns for seconds in left)
            pairs = list(zip(left[::2], left[1::2], strict=True))
            assert all(after < before for before, after in pairs), "the clock counts down within a turn"


@pytest.mark.slow
@pytest.mark.parametrize("source", ["patient.py", "patient", "bots/patient.py", "bots.patient"])
async def test_bot_is_found_from_the_working_directory(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are found by their paths, and modules of the working directory too, as by load_player."""
    monkeypatch.chdir(BOTS.parent if source.startswith("bots") else BOTS)
    bots = ReconchessBots(source)
    async with trio.open_nursery() as nursery:
        bot = await bots.start(nursery)
        await bot.aclose()
    assert bots.name == "Patient"


@pytest.mark.slow
async def test_game_without_a_clock_has_infinite_time(record: Any, daemon_process: Served) -> None:
    record(5)
    play_locally(chess.STARTING_FEN, None, 5)
    expected = record.recorded()
    options = {"max_turns": 5, "clock": None}
    await bridged(daemon_process.port, PLAYER, recon_bot("recorder"), new_games(PLAYER, **options))
    found = record.recorded()
    for color in ("white", "black"):
        assert without_clock_and_names(found[color]) == without_clock_and_names(expected[color])
        assert set(seconds_left(found[color])) == set(seconds_left(expected[color])) == {math.inf}
