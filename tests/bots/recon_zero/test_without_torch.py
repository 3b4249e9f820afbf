"""recon-zero without PyTorch: what it says, and what it plays all the same."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from gm_arena.bot import BotUnusable
from gm_bots.recon_zero import settings
from gm_bots.recon_zero.player import VARIABLE, ReconZero
from tests.cli.commands import gmd

pytestmark = pytest.mark.slow

QUICK = "checkpoint=none,simulations=10,determinisations=2,seed=1"


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let recon-zero find no PyTorch, whether it is installed or not."""
    monkeypatch.setattr(settings, "find_spec", lambda library: None if library == "torch" else find_spec(library))


@pytest.mark.usefixtures("without_torch")
def test_player_without_torch_names_the_variable_that_avoids_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(BotUnusable, match=r"torch, which is not installed: .* GM_RECON_ZERO=checkpoint=none$"):
        ReconZero()
    monkeypatch.setenv(VARIABLE, QUICK)
    ReconZero()


@pytest.mark.usefixtures("without_torch")
@pytest.mark.parametrize(
    "arguments",
    [
        ["connect", "recon-zero", "--player", "1", "--server", "127.0.0.1:1"],
        ["match", "recon-zero", "random"],
    ],
)
def test_command_without_torch_names_the_option_that_avoids_it(arguments: list[str]) -> None:
    run = gmd(*arguments)
    assert (run.status, run.out) == (2, "")
    assert run.err.splitlines()[-1] == (
        "Error: recon-zero reads checkpoints with torch, which is not installed: run .venv/bin/pip install -e "
        "'.[train]' in the clone of gmd, or play without one: recon-zero:checkpoint=none"
    )


@pytest.mark.usefixtures("without_torch")
def test_checkpoint_cannot_be_played_without_torch(tmp_path: Path) -> None:
    (tmp_path / "mine.pt").touch()
    mine = tmp_path / "mine.pt"
    run = gmd("match", f"recon-zero:checkpoint={mine}", "random")
    assert run.status == 2
    assert "'.[train]' in the clone of gmd" in run.err.splitlines()[-1]
