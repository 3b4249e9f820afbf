"""Players in separate processes: they play as they would in this process, and leave nothing behind."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import chess
import pytest

from gm_arena.bot import BotFailed
from gm_bots.recon_zero.bot import Thinker
from gm_bots.recon_zero.lockstep.judging import count_material
from gm_bots.recon_zero.player import Player, Settings
from gm_bots.recon_zero.processes import Processes
from gm_recon import ReconGame
from tests.bots.recon_zero.learning import checkpoint, needs_torch

pytestmark = pytest.mark.slow

SETTINGS = Settings(simulations=4, determinisations=2)
START = chess.STARTING_FEN


@pytest.fixture
def processes() -> Iterator[Processes]:
    several = Processes(1)
    yield several
    several.end()


def played(white: Thinker, black: Thinker, plies: int = 10) -> list[str]:
    """Return what two players sense and ask for."""
    game, asked = ReconGame(), []
    while not game.is_over() and game.ply < plies:
        player = white if game.turn else black
        if game.ply:
            player.opponent_moved(game.opponent_capture)
        square = player.choose_sense(game.sense_actions())
        player.saw(game.sense(square))
        move = player.choose_move(game.move_actions())
        asked.append(f"{chess.square_name(square)} {move}")
        outcome = game.move(move)
        if not game.is_over():
            player.moved(*outcome)
    return asked


def here(color: chess.Color, seed: int = 3) -> Player:
    return Player(color, count_material, SETTINGS, random.Random(seed))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_player_in_a_process_plays_as_in_this_one(processes: Processes) -> None:
    seat = processes.seat(None, SETTINGS)
    expected = played(here(chess.WHITE), here(chess.BLACK))
    assert played(seat.sit(chess.WHITE, random.Random(3), START), here(chess.BLACK)) == expected
    assert played(here(chess.WHITE), seat.sit(chess.BLACK, random.Random(3), START)) == expected, "and the next game"
    seat.leave()


def test_process_waits_for_the_next_game_and_ends_with_the_last(processes: Processes) -> None:
    first = processes.seat(None, SETTINGS)
    first.leave()
    first.leave()
    pid = processes.free[0].pid
    second, third = processes.seat(None, SETTINGS), processes.seat(None, SETTINGS)
    second.leave()
    assert processes.free[0].pid == pid
    third.leave()
    assert len(processes.free) == 1, "no more processes wait than allowed"
    processes.end()
    assert not alive(pid)


def test_process_is_ended_when_its_seat_is_left_during_a_search(processes: Processes) -> None:
    seat = processes.seat(None, Settings(simulations=1_000_000))
    player = seat.sit(chess.WHITE, random.Random(3), START)
    game, failures = ReconGame(), list[BaseException]()

    def think() -> None:
        try:
            player.choose_move(game.move_actions())
        except BotFailed as failed:
            failures.append(failed)

    thread = Thread(target=think)
    thread.start()
    while not seat.process.thinks:
        pass
    pid = seat.process.pid
    seat.leave()
    thread.join()
    assert [str(each) for each in failures] == ["its process has ended"]
    assert not alive(pid)
    assert not processes.free


def test_process_ignores_an_interrupt(processes: Processes) -> None:
    seat = processes.seat(None, SETTINGS)
    os.kill(seat.process.pid, signal.SIGINT)
    assert seat.sit(chess.WHITE, random.Random(3), START).choose_sense(range(64)) in range(64)
    seat.leave()


def test_killed_process_fails_its_bot(processes: Processes) -> None:
    seat = processes.seat(None, SETTINGS)
    player = seat.sit(chess.WHITE, random.Random(3), START)
    os.kill(seat.process.pid, signal.SIGKILL)
    with pytest.raises(BotFailed, match="its process has ended"):
        player.choose_sense(range(64))
    seat.leave()
    assert not processes.free


def test_exception_of_a_player_fails_its_bot_with_a_traceback(processes: Processes) -> None:
    seat = processes.seat(None, SETTINGS)
    player = seat.sit(chess.WHITE, random.Random(3), START)
    with pytest.raises(BotFailed, match="raised ") as failed:
        player.choose_sense([])
    assert "in choose_sense" in failed.value.details
    seat.leave()


@needs_torch
def test_player_in_a_process_plays_with_a_checkpoint(processes: Processes, tmp_path: Path) -> None:
    seat = processes.seat(checkpoint(tmp_path / "new.pt"), SETTINGS)
    assert len(played(seat.sit(chess.WHITE, random.Random(3), START), here(chess.BLACK), plies=4)) == 4
    seat.leave()


@needs_torch
def test_file_that_is_no_checkpoint_is_refused(processes: Processes, tmp_path: Path) -> None:
    (tmp_path / "none.pt").write_text("nothing")
    with pytest.raises(BotFailed, match=r"none\.pt is not a checkpoint"):
        processes.seat(tmp_path / "none.pt", SETTINGS)
