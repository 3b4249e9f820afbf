"""A model of opponents is learnt from games, and a bot plays by it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import chess
import numpy as np
import pytest
from click.testing import CliRunner

from gm_arena.bot import BotUnusable
from gm_arena.replay.recorded import blind_games
from gm_bots.recon_zero.checkpoint_files import SHIPPED, digest_of
from gm_bots.recon_zero.lockstep import judging
from gm_bots.recon_zero.lockstep.opponent_model import (
    ANY,
    Choice,
    learn,
    model_of,
    read_model,
    shares_of,
)
from gm_bots.recon_zero.lockstep.requests import FEATURES
from gm_bots.recon_zero.opponents import choices
from gm_bots.recon_zero.settings import read
from gm_bots.recon_zero.thinker import Thinker
from tests.arena.matches import played as match

pytestmark = pytest.mark.slow


def test_coefficients_that_made_choices_are_learnt() -> None:
    rng, count = np.random.default_rng(1), len(FEATURES)
    true = np.linspace(-2, 2, count)
    tables = [rng.normal(size=(20, count)) for _ in range(4_000)]
    made = [Choice(table, int(rng.choice(20, p=shares_of(table, true)))) for table in tables]
    assert learn(made) == pytest.approx(true, abs=0.2)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of games of a search by piece values against one that knows nothing."""
    directory = tmp_path_factory.mktemp("games")
    path = directory / "games.pgn"
    bots = ["recon-zero:checkpoint=none,simulations=8,determinisations=2,seed=1", "minimax:depth=1,seed=1"]
    options = ["--variant", "rbc", "--games", 6, "--max-moves", 15, "--pgn-out", path]
    match(directory / "games.jsonl", *bots, *options)
    return path


def test_choices_are_the_requests_of_a_game(played: Path) -> None:
    for game in blind_games(played):
        requested = [turn for turn in game.history.replay() if turn.color == chess.BLACK]
        found = list(choices(game.history, chess.BLACK, judging.count_material))
        assert len(found) == len(requested)
        for choice, turn in zip(found, requested, strict=True):
            features = dict(zip(FEATURES, choice.features[choice.chosen].tolist(), strict=True))
            assert features["pass"] == (turn.turn.requested is None)
            assert features["refused"] == (turn.turn.requested is not None and turn.turn.taken is None)
            assert sum(choice.features[:, FEATURES.index("pass")]) == 1


def test_command_learns_a_kind_of_each_player(played: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: .venv/bin/pip install -e '.[train]'")
    from gm_bots.recon_zero.command import train

    out = tmp_path / "model.json"
    done = CliRunner().invoke(train, ["opponents", str(played), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "requests of minimax:depth=1" in done.stderr
    model = json.loads(out.read_text())
    assert model["features"] == [*FEATURES]
    assert len(model["kinds"]) == 3
    assert model["kinds"][ANY] == [0.0] * len(FEATURES)


def test_model_that_ships_was_learnt_with_the_network_that_ships() -> None:
    assert read_model().network == digest_of(SHIPPED), "learn it again, as docs/explanation/bots.md says"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "cannot be read: No such file or directory"),
        ("[]", "is not a model of opponents: gmd train opponents --out writes one"),
        ('{"features": [], "kinds": {"one": []}}', "has other features than this version of gmd: learn it again"),
    ],
)
def test_file_that_is_no_model_is_refused(content: str | None, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BotUnusable, match=complaint):
        read({"checkpoint": "none", "opponents": str(path)})


@pytest.mark.parametrize(("pass_coefficient", "least", "most"), [(9.0, 0.6, 1.0), (-9.0, 0.0, 0.5)])
def test_bot_plays_by_the_model_that_it_is_given(
    pass_coefficient: float, least: float, most: float, tmp_path: Path
) -> None:
    """An opponent that passes has not moved; requests that the board refuses come to the same."""
    path = tmp_path / "model.json"
    path.write_text(model_of({"one": tuple(pass_coefficient * (name == "pass") for name in FEATURES)}).as_json())
    settings = read({"checkpoint": "none", "opponents": str(path)}).settings
    player = Thinker(chess.WHITE, judging.count_material, settings, random.Random(1))
    player.moved(None, None, None)
    player.opponent_moved(None)
    assert least <= player.knowledge.examined().weights.max() <= most


RBC = '[Variant "Reconnaissance blind chess"]\n\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"{RBC}1. e4 e5 *\n\n{RBC}1. e4 Ke4 *\n".encode(), ", game 2 is not a game: illegal san: 'Ke4'"),
        (b"\xef\xbb\xbf" + f"{RBC}1. e4 bogus *\n".encode(), " is not a game: invalid san: 'bogus'"),
        (b"1. e4 e5 *\n", " is a game of standard, and not of rbc"),
        (b"404: Not Found\n", "404:"),
        (b"\x1f\x8b\x08", "the file is compressed: unpack it with gunzip"),
        (b"", " holds no game"),
    ],
)
def test_file_that_cannot_be_read_is_refused_with_file_game_and_word(content: bytes, said: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: .venv/bin/pip install -e '.[train]'")
    from gm_bots.recon_zero.command import train

    path = tmp_path / "games.pgn"
    path.write_bytes(content)
    done = CliRunner().invoke(train, ["opponents", str(path), "--out", str(tmp_path / "model.json")])
    assert done.exit_code == 2
    assert f"Error: {path}" in done.stderr
    assert said in done.stderr
