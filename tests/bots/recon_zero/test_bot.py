"""recon-zero plays on a daemon, by its name."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import chess
import numpy as np
import pytest
import trio
from chess import Move, Square
from reconchess import WinReason, play_local_game
from reconchess.bots.random_bot import RandomBot

from gm_arena.bot import Bots, BotUnusable
from gm_arena.bridge import Bridge, Server
from gm_arena.specs import bots_of
from gm_bots.random_bot import RandomBots
from gm_bots.recon_zero import settings
from gm_bots.recon_zero.bot import ReconZeroBots
from gm_bots.recon_zero.checkpoint_files import shipped
from gm_bots.recon_zero.lockstep.judging import count_material
from gm_bots.recon_zero.lockstep.weighted import LEAST_KEPT
from gm_bots.recon_zero.player import ReconZero
from gm_bots.recon_zero.thinker import Settings, Thinker
from gm_recon import ReconGame
from tests.arena.playing import PATIENCE, Witness, new_games
from tests.bots.recon_zero.learning import needs_torch
from tests.serving import Served

pytestmark = pytest.mark.slow

ME, RANDOM = 77_011, 77_012
QUICK = "simulations=10,determinisations=2,seed=1"
PLAIN = f"checkpoint=none,{QUICK}"


def named(spec: str) -> Bots:
    return bots_of(spec)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (
            "recon-zero:depth=2",
            "recon-zero: unknown option depth; known are checkpoint, opponents, weights, simulations",
        ),
        ("recon-zero:weights=none", "recon-zero: weights=none is not one of moves, equal"),
        ("recon-zero:c_puct=101", "recon-zero: c_puct=101 is not from 0 to 100"),
        ("recon-zero:simulations=0", "recon-zero: simulations=0 is not from 1 to 100000"),
        ("recon-zero:checkpoint=nowhere.pt", "recon-zero: checkpoint=nowhere.pt: there is no such file"),
    ],
)
def test_invalid_options_are_refused(spec: str, reason: str) -> None:
    with pytest.raises(BotUnusable, match=reason):
        named(spec)


async def games(port: int, bots: Bots, **options: object) -> list[str]:
    """Return how two games against a random mover end, one with either colour."""
    witness = Witness()
    opponent = Bridge(Server(port=port, hello={"player": RANDOM}), RandomBots(3), Witness(), at_once=1)
    mine = Bridge(Server(port=port, hello={"player": ME}), bots, witness, at_once=1)
    with trio.fail_after(PATIENCE * 2):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(opponent.run, lambda bridge: bridge.play_all(2))
            await mine.run(new_games(RANDOM, 2, variant="rbc", **options))
    assert [played.failed for played in witness.played] == [False, False]
    return sorted(f"{played.place.seat} {played.state['termination']}" for played in witness.played)


async def test_recon_zero_beats_random_with_either_colour(daemon_process: Served) -> None:
    ends = await games(daemon_process.port, named(f"recon-zero:{PLAIN}"), clock={"initial": 900})
    assert ends == ["black victory_black", "white victory_white"]


@pytest.mark.parametrize(("seconds", "most"), [(0.001, 5_000), (0.4, 10_000), (None, 100_000)])
def test_player_with_little_time_follows_fewer_positions(seconds: float | None, most: int) -> None:
    rng, game = random.Random(1), ReconGame()
    player = Thinker(chess.WHITE, count_material, Settings(simulations=1, determinisations=1, weights="equal"), rng)
    kept = []
    for ply in range(16):
        if game.turn == chess.BLACK:
            game.sense(None)
            game.move(rng.choice(game.move_actions()))
            continue
        if ply:
            player.opponent_moved(game.opponent_capture)
            kept.append(player.knowledge.kept)
        player.choose_sense(game.sense_actions(), seconds)
        game.sense(None)
        player.saw([])
        player.choose_move(game.move_actions(), 0.0)
        player.moved(*game.move(None))
    assert max(kept) == most if seconds is None else LEAST_KEPT <= max(kept) <= most, "a slow machine follows fewer"


@needs_torch
async def test_recon_zero_plays_with_the_shipped_network(daemon_process: Served) -> None:
    bots = named(f"recon-zero:{QUICK}")
    assert isinstance(bots, ReconZeroBots)
    assert bots.checkpoint == shipped()
    ends = await games(daemon_process.port, bots, clock={"initial": 900})
    assert ends == ["black victory_black", "white victory_white"]


def test_missing_torch_is_reported_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda library: None if library == "torch" else library)
    with pytest.raises(BotUnusable) as refused:
        named("recon-zero")
    assert str(refused.value) == (
        "recon-zero reads checkpoints with torch, which is not installed: run .venv/bin/pip install -e '.[train]' in "
        "the clone of gmd, or play without one: recon-zero:checkpoint=none"
    )
    with pytest.raises(BotUnusable, match="weights=none is not one of"):
        named("recon-zero:weights=none")
    without = named("recon-zero:checkpoint=none")
    assert isinstance(without, ReconZeroBots)
    assert without.checkpoint is None


@needs_torch
async def test_recon_zero_plays_with_a_checkpoint(daemon_process: Served, tmp_path: Path) -> None:
    """The network is untrained: this tests that it plays, not how well."""
    from gm_bots.recon_zero.checkpoint import save
    from gm_bots.recon_zero.network import Network, NetworkSettings
    from gm_bots.recon_zero.training import Trainer

    save(tmp_path / "new.pt", Trainer(Network(NetworkSettings(channels=8, layers=1))))
    bots = named(f"recon-zero:checkpoint={tmp_path / 'new.pt'},{QUICK}")
    assert len(await games(daemon_process.port, bots, max_turns=8)) == 2


def test_same_seed_without_a_limit_gives_the_same_game() -> None:
    first, same, *others = (played(seed) for seed in (7, 7, 8, 9, 10))
    assert first == same
    assert any(other != first for other in others), "it draws the positions that it searches"


def test_every_option_sets_its_setting() -> None:
    options = "determinisations=6,simulations=7,c_puct=0,weights=equal,alarm=5,unseen=0.25"
    made = named(f"recon-zero:checkpoint=none,{options}")
    assert isinstance(made, ReconZeroBots)
    assert made.given.settings == Settings(
        weights="equal", alarm=5, determinisations=6, unseen=0.25, simulations=7, c_puct=0
    )
    plain = named("recon-zero:checkpoint=none")
    assert isinstance(plain, ReconZeroBots)
    assert plain.given.settings == Settings()


class Checked(ReconZero):
    """A player that checks in each turn what the notebook that recon-zero began with checks."""

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        self.check_belief()
        square = super().choose_sense(list(sense_actions), move_actions, seconds_left)
        assert square in sense_actions
        return square

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        self.check_belief()
        move = super().choose_move(list(move_actions), seconds_left)
        assert move is None or move in move_actions
        return move

    def check_belief(self) -> None:
        belief = self.belief()
        assert belief.shape == (7, 8, 8)
        assert (belief >= 0).all()
        assert belief.sum(axis=0) == pytest.approx(np.ones((8, 8)), abs=1e-4)


@pytest.mark.parametrize("options", [{"checkpoint": "none"}, pytest.param({}, marks=needs_torch)])
def test_notebook_s_checks_hold_in_games_of_reconchess(options: dict[str, str]) -> None:
    """Its belief is a distribution on each square, its senses and moves are offered, games against RandomBot end."""
    random.seed(1)
    player = Checked(simulations=10, determinisations=2, seed=1, **options)
    for white, black in ((player, RandomBot()), (RandomBot(), player)):
        winner, reason, _ = play_local_game(white, black)
        assert (winner, reason) == (white is player, WinReason.KING_CAPTURE)


def played(seed: int) -> list[str]:
    """Return what two players sense and ask for."""
    game, settings = ReconGame(), Settings(simulations=8, determinisations=1, weights="equal")
    players = {
        color: Thinker(color, count_material, settings, random.Random(f"{seed} {color}")) for color in chess.COLORS
    }
    asked: list[str] = []
    while not game.is_over() and game.ply < 14:
        player = players[game.turn]
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


def test_recon_zero_without_a_checkpoint_does_not_load_torch() -> None:
    code = """
import sys
from gm_bots.recon_zero.entry import make
make(seed="1", checkpoint="none")
import gm_bots.recon_zero.thinker, gm_bots.recon_zero.replay, gm_bots.recon_zero.bot
print("torch" in sys.modules, "ray" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
