"""``gmd replay --ask`` gives a bot what the player of a recorded game saw, and compares the bot's choices."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest
from click.testing import CliRunner, Result
from reconchess import LocalGame, play_local_game

from gm_arena.replay.ask import Choice, play_back
from gm_arena.replay.command import replay
from gm_arena.replay.recorded import history_game
from gm_arena.specs import players_of
from tests.arena.bots import recorder
from tests.arena.playing import BOTS
from tests.arena.recordings import history, open_line
from tests.arena.test_reconchess import FENS
from tests.serving import environment

PATIENCE = 60

Calls = dict[str, Any]


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Calls]:
    """Let recorders of both colours record, with one seed; return the function that returns their calls."""
    monkeypatch.setenv("RECORDER_SEED", "11")
    monkeypatch.setenv("RECORDER_FILE", str(tmp_path / "{color}.jsonl"))

    def recorded() -> Calls:
        calls = {}
        for path in tmp_path.glob("*.jsonl"):
            calls[path.stem] = json.loads(path.read_text())
            path.unlink()
        return calls

    return recorded


def local_game(fen: str, turns: int) -> str:
    """Return a game between two recorders, as reconchess saves it."""
    game = LocalGame(seconds_per_player=None, full_turn_limit=turns)
    game.board = chess.Board(fen)
    game.turn = game.board.turn
    history = play_local_game(recorder.Recorder(), recorder.Recorder(), game)[2]
    return json.dumps(history, cls=recorder.GameHistoryEncoder)


def choices(text: str, bot: str, color: str) -> list[Choice]:
    """Return the choices of a bot of these tests in a GameHistory."""
    seen: list[Choice] = []
    play_back(history_game(text, "game"), players_of(f"reconchess:{BOTS / bot}"), color == "white", seen.append)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("fen", FENS)
def test_bot_gets_the_same_calls_as_in_the_game(fen: str, record: Callable[[], Calls]) -> None:
    """Call by call they are LocalGame's, in its own turns alone, from the same start, to the last."""
    text = local_game(fen, 15 + chess.Board(fen).fullmove_number)
    expected = record()
    for color in ("white", "black"):
        seen = choices(text, "recorder.py", color)
        assert record() == {color: expected[color]}
        turns = sum(call[0] == "opponent" for call in expected[color])
        assert [(choice.what, choice.same) for choice in seen] == [("sense", True), ("move", True)] * turns


PLAYED = [("e7", "e2e4"), ("d2", "d7d5"), (None, "e4d5"), ("d5", "d8d5"), ("d7", None)]


@pytest.fixture
def parrot(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def says(*turns: list[Any]) -> None:
        monkeypatch.setenv("PARROT", json.dumps(turns))

    return says


def recorded(text: str, tmp_path: Path) -> str:
    path = tmp_path / "game.json"
    path.write_text(text)
    return str(path)


def run(text: str, color: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as a shell does, with the parrot."""
    bot = f"reconchess:{BOTS / 'parrot.py'}"
    command = [sys.executable, "-m", "gmd", "replay", recorded(text, tmp_path), "--ask", bot, "--color", color]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment())


def invoked(text: str, tmp_path: Path, bot: str = "parrot.py") -> Result:
    """Run the same in this process, for White."""
    return asked(text, tmp_path, f"reconchess:{BOTS / bot}")


def asked(text: str, tmp_path: Path, bot: str) -> Result:
    return CliRunner().invoke(replay, [recorded(text, tmp_path), "--ask", bot])


@pytest.mark.slow
def test_same_choices_give_status_0(parrot: Callable[..., None], tmp_path: Path) -> None:
    parrot([chess.E7, "e2e4"], [None, "e4d5"], [chess.D7, None])
    done = run(history(*PLAYED), "white", tmp_path)
    assert (done.returncode, done.stdout) == (0, "chosen as recorded: senses 3 of 3, moves 3 of 3\n")
    assert done.stderr.splitlines() == ["begins True Bob", "ends True WinReason.RESIGN"]


@pytest.mark.slow
def test_other_choices_are_shown_and_change_nothing(parrot: Callable[..., None], tmp_path: Path) -> None:
    parrot([chess.E2, "e2e4"], [99, "e2e4"], [None, "a2a3"])
    done = invoked(history(*PLAYED), tmp_path)
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "turn 1: sense e2, recorded e7",
        "turn 2: sense 99, which is not a square, recorded nothing",
        "turn 2: move e2e4, which is not among its moves, recorded e4d5",
        "turn 3: sense nothing, recorded d7",
        "turn 3: move a2a3, recorded nothing",
        "chosen as recorded: senses 0 of 3, moves 1 of 3",
    ]


@pytest.mark.slow
def test_traceback_of_a_failing_bot_is_shown(parrot: Callable[..., None], tmp_path: Path) -> None:
    parrot([chess.E7, "e2e4"], [None, 5])
    done = run(history(*PLAYED), "white", tmp_path)
    assert done.returncode == 1
    assert "Traceback (most recent call last)" in done.stderr
    assert "TypeError: object of type 'int' has no len()" in done.stderr
    last = "chosen as recorded: senses 2 of 2, moves 1 of 1; the bot failed after it had chosen in turn 2\n"
    assert done.stdout == last


@pytest.mark.slow
@pytest.mark.parametrize(("last", "unrecorded"), [("e4", ("move", "a7a6")), (None, ("sense", "e4"))])
def test_unfinished_turn_is_played_as_far_as_it_went(
    last: str | None, unrecorded: tuple[str, str], parrot: Callable[..., None]
) -> None:
    """The recorded bot failed and its game was given up: the new bot must choose what that did not."""
    parrot([chess.D2, "d7d5"], [chess.D5, "d8d5"], [chess.E4, "a7a6"])
    *same, seen = choices(history(*PLAYED, last=last), "parrot.py", "black")
    assert [(choice.chosen, choice.same) for choice in same] == [(text, True) for text in
            ("d2", "d7d5", "d5", "d8d5", "e4")[: 5 if last else 4]]  # fmt: skip
    assert (seen.what, seen.chosen, seen.recorded) == (*unrecorded, None)


@pytest.mark.slow
def test_promotion_to_a_queen_need_not_be_named(parrot: Callable[..., None]) -> None:
    parrot([None, "b7b8"])
    fen = "k7/1P6/8/8/8/8/8/K7 w - - 0 1"
    seen = choices(history((None, "b7b8q"), fen=fen), "parrot.py", "white")
    assert [choice.same for choice in seen] == [True, True]


def test_unsuitable_game_gives_status_2(tmp_path: Path) -> None:
    done = invoked(open_line(["e4"]), tmp_path)
    assert done.exit_code == 2
    assert "is not a game of blind chess" in done.output


@pytest.mark.slow
def test_missing_bot_gives_status_2(tmp_path: Path) -> None:
    for bot, reason in {
        f"reconchess:{BOTS / 'no_such_bot.py'}": "there is no file",
        "nobody": "'nobody' is not a bot",
        "uci:stockfish": "and not RBC",
    }.items():
        missing = asked(history(*PLAYED), tmp_path, bot)
        assert missing.exit_code == 2
        assert reason in missing.stderr


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["AttackerBot", "random:seed=1", "minimax:depth=1"])
def test_bot_may_be_named_as_in_a_match(bot: str, tmp_path: Path) -> None:
    done = asked(history(*PLAYED), tmp_path, bot)
    assert done.output.splitlines()[-1].startswith("chosen as recorded: senses ")
