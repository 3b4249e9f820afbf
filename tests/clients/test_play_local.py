"""``gm_recon.play_local`` calls players, keeps time and ends games as reconchess's ``play_local_game`` does."""

from __future__ import annotations

import json
import math
import pickle
import random
from pathlib import Path

import chess
import pytest
from chess import Move, Square
from reconchess import GameHistory, LocalGame, play_local_game
from reconchess import WinReason as Reason
from reconchess.bots.random_bot import RandomBot

from gm_recon import History, Player, WinReason, play_local
from tests.arena.bots.recorder import Recorder
from tests.proofs import cases

FENS = [
    chess.STARTING_FEN,
    "r3k2r/pPpp1ppp/8/3Pp3/8/8/P1PP1PpP/R3K2R w KQkq e6 3 17",
    "4k3/1P4P1/8/8/4r3/8/1p4p1/R3K2R b KQ - 12 40",
]


class Passing(Player):
    """A player that neither senses nor moves, and takes some seconds of a clock for each of its calls."""

    def __init__(self, clock: list[float] | None = None, seconds: float = 0.0) -> None:
        self._clock, self._seconds = clock or [0.0], seconds
        self.left: list[float] = []
        self.end: tuple[bool | None, WinReason | None, History]

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> None:
        self.left.append(seconds_left)
        self._clock[0] += self._seconds

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        self.left.append(seconds_left)
        self._clock[0] += self._seconds
        return None

    def handle_move_result(
        self, requested_move: Move | None, taken_move: Move | None, captured: bool, capture_square: Square | None
    ) -> None:
        self._clock[0] += self._seconds

    def handle_game_end(self, winner_color: bool | None, win_reason: WinReason | None, game_history: History) -> None:
        self.end = winner_color, win_reason, game_history


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of the recorders' calls."""
    monkeypatch.setenv("RECORDER_FILE", str(tmp_path / "calls.jsonl"))
    return tmp_path / "calls.jsonl"


@pytest.mark.parametrize("fen", FENS)
def test_players_are_called_with_the_same_values_in_the_same_order_as_by_reconchess(
    fen: str, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = 20 + chess.Board(fen).fullmove_number
    for seed in range(cases(2)):
        monkeypatch.setenv("RECORDER_SEED", str(seed))
        local = LocalGame(seconds_per_player=None, full_turn_limit=turns)
        local.board = chess.Board(fen)
        local.turn = local.board.turn
        play_local_game(Recorder(), Recorder(), local)
        expected = record.read_text()
        record.unlink()
        play_local(Recorder(), Recorder(), fen=fen, seconds=None, max_turns=turns)
        assert list(map(json.loads, record.read_text().splitlines())) == list(map(json.loads, expected.splitlines()))
        record.unlink()


def test_record_is_returned_and_given_to_the_players() -> None:
    players = Passing(), Passing()
    history = play_local(*players, max_turns=3)
    assert (len(history.turns), history.winner, history.win_reason) == (6, None, WinReason.TURN_LIMIT)
    assert [player.end for player in players] == [(None, WinReason.TURN_LIMIT, history)] * 2


def test_player_without_time_left_after_its_turn_loses() -> None:
    """Three calls of 2 seconds take 6 of 10; with 1 second of increment the second turn is the last."""
    clock = [0.0]
    slow, quick = Passing(clock, 2.0), Passing(clock)
    history = play_local(slow, quick, seconds=10.0, increment=1.0, now=lambda: clock[0])
    assert (len(history.turns), history.winner, history.win_reason) == (3, chess.BLACK, WinReason.TIMEOUT)
    assert slow.left == [10.0, 8.0, 5.0, 3.0]
    assert quick.left == [10.0, 10.0]


def test_time_is_infinite_without_a_clock() -> None:
    player = Passing()
    play_local(player, Passing(), seconds=None, max_turns=1)
    assert set(player.left) == {math.inf}


def test_move_limit_draws() -> None:
    history = play_local(Passing(), Passing(), reversible_moves=4)
    assert (len(history.turns), history.win_reason) == (4, WinReason.MOVE_LIMIT)


def test_action_that_is_not_allowed_is_a_value_error() -> None:
    class Wrong(Passing):
        def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
            return Move.from_uci("e2e5")

    with pytest.raises(ValueError, match="e2e5"):
        play_local(Wrong(), Passing())


def test_player_of_reconchess_gets_its_types_at_the_end() -> None:
    ends: list[tuple[bool | None, Reason, GameHistory]] = []

    class Listening(RandomBot):  # type: ignore[misc]
        def handle_game_end(self, *end: object) -> None:
            ends.append(end)  # type: ignore[arg-type]

    random.seed(1)
    history = play_local(Listening(), Passing())
    ((winner, reason, saved),) = ends
    assert isinstance(saved, GameHistory)
    assert (winner, reason) == (history.winner, Reason.KING_CAPTURE) == (chess.WHITE, saved.get_win_reason())
    names = saved.get_white_player_name(), saved.get_black_player_name()
    assert names == ("Listening", "Passing")
    assert saved.num_turns() == len(history.turns)
    assert pickle.loads(pickle.dumps(saved)).num_turns() == len(history.turns)


def test_player_without_the_two_choices_cannot_be_made() -> None:
    class Half(Player):
        def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> None:
            return None

    with pytest.raises(TypeError, match="choose_move"):
        Half()  # type: ignore[abstract]
