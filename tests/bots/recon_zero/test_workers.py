"""A training's games played by workers: the same as in one process, whatever is lost meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.arena.test_pool import ray_directory  # noqa: F401  # a fixture
from tests.bots.recon_zero.learning import needs_ray, needs_torch
from tests.bots.recon_zero.test_pipeline import OPTIONS, train

if TYPE_CHECKING:
    from gm_bots.recon_zero.plan import Plan

pytestmark = [needs_torch, pytest.mark.slow]


def tiny() -> Plan:
    from gm_bots.recon_zero.network import NetworkSettings
    from gm_bots.recon_zero.plan import Plan
    from gm_bots.recon_zero.player import Settings

    return Plan(
        games=4,
        steps=2,
        batch=8,
        matches=1,
        capacity=1000,
        max_plies=6,
        network=NetworkSettings(channels=4, layers=1),
        player=Settings(determinisations=2, simulations=2, exploring=6),
    )


def at_first(action: Callable[[], object]) -> Callable[[str], None]:
    """Return a listener that acts when the first game is over and the others have begun or wait."""
    events: list[str] = []

    def listen(what: str) -> None:
        events.append(what)
        if events == ["game"]:
            action()

    return listen


def assert_same(ours: Path, theirs: Path) -> None:
    """Assert that two trainings have the same logs, samples and weights."""
    from gm_bots.recon_zero.checkpoint import load

    assert (ours / "log.jsonl").read_text() == (theirs / "log.jsonl").read_text()
    for file in (theirs / "samples").iterdir():
        assert (ours / "samples" / file.name).read_bytes() == file.read_bytes()
    (mine, extra), (other, expected) = load(ours / "latest.pt"), load(theirs / "latest.pt")
    weights = other.network.state_dict()
    assert all((tensor == weights[name]).all() for name, tensor in mine.network.state_dict().items())
    assert extra == expected


def test_training_with_processes_is_the_same_as_without(tmp_path: Path) -> None:
    from gm_bots.recon_zero.pipeline import Training
    from gm_bots.recon_zero.pool import Workers

    alone = Training(tmp_path / "alone", tiny())
    with Workers(2) as workers:
        several = Training(tmp_path / "several", tiny(), workers)
        for training in (alone, several):
            for _ in range(2):
                training.iterate()
    assert_same(tmp_path / "several", tmp_path / "alone")


@needs_ray
@pytest.mark.usefixtures("ray_directory")
def test_training_on_a_cluster_is_the_same_though_a_machine_is_lost(tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    from gm_bots.recon_zero.pipeline import Training
    from gm_bots.recon_zero.pool import Workers

    store = {"object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **store})
    try:
        lost, _ = (cluster.add_node(num_cpus=1, **store) for _ in range(2))
        with Workers(0, cluster.address) as workers:
            training = Training(tmp_path / "broken", tiny(), workers)
            training.iterate(at_first(lambda: cluster.remove_node(lost, allow_graceful=False)))
            training.iterate()
    finally:
        cluster.shutdown()
    alone = Training(tmp_path / "alone", tiny())
    for _ in range(2):
        alone.iterate()
    assert_same(tmp_path / "broken", tmp_path / "alone")


@pytest.mark.nightly
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_training_and_the_same_command_resumes(end: signal.Signals, tmp_path: Path) -> None:
    """Two workers begin it, and it resumes without any."""
    import torch

    torch.set_num_threads(1)  # as the interrupted process; with another number, sums may be added in another order
    command = [sys.executable, "-m", "gmd", "train", "recon-zero", "--out", str(tmp_path / "broken")]
    broken = subprocess.Popen(
        [*command, "--iterations", "1000", *OPTIONS, "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    assert broken.stdout is not None
    first = broken.stdout.readline()
    assert first.startswith("Iteration 1: "), broken.communicate()
    if end == signal.SIGINT:
        os.killpg(broken.pid, end)  # as a terminal does: to all of them
    else:
        broken.send_signal(end)
    out, errors = broken.communicate()  # no worker has the pipes any more
    done = 1 + len(out.splitlines())
    resumes = f"gmd train recon-zero --resume {tmp_path / 'broken'}"
    line = f"Interrupted. {resumes} continues from iteration {done}, the last one finished."
    assert (broken.returncode, errors.split()) == (130, line.split())
    assert train(tmp_path / "broken", done + 1).exit_code == 0
    assert train(tmp_path / "whole", done + 1).exit_code == 0
    assert_same(tmp_path / "broken", tmp_path / "whole")
