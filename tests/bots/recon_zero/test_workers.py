"""A training's games played by workers: the same as in one process, whatever is lost meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gm_arena.pool import open_pool
from tests.arena.test_pool import ray_directory  # noqa: F401  # a fixture
from tests.bots.recon_zero.learning import assert_same, needs_ray, needs_training, tiny, train

pytestmark = [needs_training, pytest.mark.slow]

#: A training whose games are given to workers one by one.
SINGLE = {"games": 4, "in_step": 1, "steps": 2, "matches": 1, "max_plies": 6, "taught": 1, "simulations": 2}


def at_first(action: Callable[[], object]) -> Callable[[str], None]:
    """Return a listener that acts when the first game is over and the others have begun or wait."""
    events: list[str] = []

    def listen(what: str) -> None:
        events.append(what)
        if events == ["game"]:
            action()

    return listen


def test_training_with_processes_is_the_same_as_without(tmp_path: Path) -> None:
    from gm_bots.recon_zero.pipeline import Training

    alone = Training(tmp_path / "alone", tiny(**SINGLE))
    with open_pool(2) as workers:
        several = Training(tmp_path / "several", tiny(**SINGLE), workers)
        for training in (alone, several):
            for _ in range(2):
                training.iterate()
    assert_same(tmp_path / "several", tmp_path / "alone")


@needs_ray
@pytest.mark.usefixtures("ray_directory")
def test_training_on_a_cluster_is_the_same_though_a_machine_is_lost(tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    from gm_bots.recon_zero.pipeline import Training

    store = {"object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **store})
    try:
        lost, _ = (cluster.add_node(num_cpus=1, **store) for _ in range(2))
        with open_pool(0, cluster.address) as workers:
            training = Training(tmp_path / "broken", tiny(**SINGLE), workers)
            training.iterate(at_first(lambda: cluster.remove_node(lost, allow_graceful=False)))
            training.iterate()
    finally:
        cluster.shutdown()
    alone = Training(tmp_path / "alone", tiny(**SINGLE))
    for _ in range(2):
        alone.iterate()
    assert_same(tmp_path / "broken", tmp_path / "alone")


@pytest.mark.nightly
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_training_and_the_same_command_resumes(end: signal.Signals, tmp_path: Path) -> None:
    """Two workers begin it, and it resumes without any."""
    for name in ("broken", "whole"):
        assert train(tmp_path / name, 1).exit_code == 0
    broken = start(tmp_path / "broken", "--iterations", "1000", "--workers", "2")
    assert broken.stdout is not None
    first = broken.stdout.readline()
    assert first.startswith("Iteration 2: "), broken.communicate()
    if end == signal.SIGINT:
        os.killpg(broken.pid, end)  # as a terminal does: to all of them
    else:
        broken.send_signal(end)
    out, errors = broken.communicate()  # no worker has the pipes any more
    done = 2 + len(out.splitlines())
    command = f"gmd train recon-zero --out {tmp_path / 'broken'}"
    line = f"Interrupted. {command} continues from iteration {done}, the last one finished."
    assert (broken.returncode, errors.split()) == (130, line.split())
    assert train(tmp_path / "broken", done + 1).exit_code == 0
    assert train(tmp_path / "whole", done + 1).exit_code == 0
    assert_same(tmp_path / "broken", tmp_path / "whole")


def start(out: Path, *options: str) -> subprocess.Popen[str]:
    """Start the command, in its own process group."""
    return subprocess.Popen(
        [sys.executable, "-m", "gmd", "train", "recon-zero", "--out", str(out), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
