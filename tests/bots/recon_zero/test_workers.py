"""Games played by workers: the same as in one process, whoever dies meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from tests.bots.recon_zero.learning import needs_ray, needs_torch
from tests.bots.recon_zero.test_pipeline import OPTIONS, train

if TYPE_CHECKING:
    from gm_bots.recon_zero.pipeline import Plan, Training
    from gm_bots.recon_zero.workers import Workers

pytestmark = [needs_torch, needs_ray]

#: The least that Ray takes, in bytes, so that the tests of several processors have room.
STORE = 80_000_000


@pytest.fixture
def ray_directory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where Ray has its files, for the test alone; with a short name, as it has sockets there."""
    terminated = signal.getsignal(signal.SIGTERM)  # which Ray sets for the whole process
    with TemporaryDirectory(prefix="gmd-", dir="/tmp") as directory:
        monkeypatch.setenv("RAY_TMPDIR", directory)
        monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield Path(directory)
    signal.signal(signal.SIGTERM, terminated)


@contextmanager
def cluster_of_two() -> Iterator[tuple[str, list[Callable[[], None]]]]:
    """The address of a cluster with two nodes that work, and what kills each. The head only keeps the books."""
    from ray.cluster_utils import Cluster

    # What comes of a game, however little, is left on its node until it is asked for: it may be lost with it.
    system = {"max_direct_call_object_size": 1_000}
    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False, "_system_config": system}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        nodes = [cluster.add_node(num_cpus=1, object_store_memory=STORE) for _ in range(2)]
        yield cluster.address, [partial(cluster.remove_node, node, allow_graceful=False) for node in nodes]
    finally:
        cluster.shutdown()


def tiny() -> Plan:
    from gm_bots.recon_zero.network import NetworkSettings
    from gm_bots.recon_zero.pipeline import Plan
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
    """To be told of what is done: acts when the first game is over, and the others have begun or wait."""
    told: list[str] = []

    def tell(what: str) -> None:
        told.append(what)
        if told == ["game"]:
            action()

    return tell


def assert_same(ours: Path, theirs: Path) -> None:
    """The logs, the samples and the weights of two trainings."""
    from gm_bots.recon_zero.checkpoint import load

    assert (ours / "log.jsonl").read_text() == (theirs / "log.jsonl").read_text()
    for file in (theirs / "samples").iterdir():
        assert (ours / "samples" / file.name).read_bytes() == file.read_bytes()
    (mine, extra), (other, expected) = load(ours / "latest.pt"), load(theirs / "latest.pt")
    weights = other.network.state_dict()
    assert all((tensor == weights[name]).all() for name, tensor in mine.network.state_dict().items())
    assert extra == expected


def test_no_game_is_lost_with_who_plays_it(
    tmp_path: Path, ray_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a first iteration a worker is killed, in a second one its machine, in a third one all that are left."""
    from gm_bots.recon_zero.pipeline import Training
    from gm_bots.recon_zero.workers import Workers

    unbroken = Training(tmp_path / "unbroken", tiny())
    for _ in range(3):
        unbroken.iterate()
    notices: list[str] = []
    with cluster_of_two() as (address, kill), Workers(2, address, notice=notices.append) as workers:
        workers.wait()
        training = Training(tmp_path / "broken", tiny(), workers)
        lose_a_worker(training, workers, notices)
        workers.wait()
        training.iterate(at_first(kill[0]))
        assert workers.deaths == 2
        lose_all(training, workers, kill[1])
    assert capsys.readouterr().out == ""  # of each death Ray by itself prints pages
    assert training.log == unbroken.log[:2]
    Training(tmp_path / "broken", tiny()).iterate()
    assert_same(tmp_path / "broken", tmp_path / "unbroken")


def lose_a_worker(training: Training, workers: Workers, notices: list[str]) -> None:
    """The one that plays when the other has just finished the first game."""
    victims = []

    def kill() -> None:
        victims.append(workers.places[-1])
        os.kill(victims[0].process, signal.SIGKILL)

    training.iterate(at_first(kill))
    assert workers.deaths == 1
    assert notices == [f"A worker is lost ({victims[0]}). Its game is played by another."]


def lose_all(training: Training, workers: Workers, kill: Callable[[], None]) -> None:
    from gm_bots.recon_zero.pool import NoWorkers

    workers.patience = 1.0
    with pytest.raises(NoWorkers, match="no worker could be started for 1 seconds: check that the Ray cluster at "):
        training.iterate(at_first(kill))


def test_workers_on_this_machine(ray_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gm_bots.recon_zero.network import Network, NetworkSettings
    from gm_bots.recon_zero.player import Settings
    from gm_bots.recon_zero.pool import InProcess, NoWorkers
    from gm_bots.recon_zero.self_play import play_random
    from gm_bots.recon_zero.workers import Workers

    monkeypatch.setattr("gm_bots.recon_zero.workers.SHARED_MEMORY", STORE)
    settings = Settings(determinisations=2, simulations=8)
    games = [partial(play_random, settings=settings, seed=f"{n}", color=n % 2 == 0, max_plies=6) for n in range(3)]
    told: list[None] = []
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    with Workers(2) as workers:
        environments = [(process / "environ").read_bytes() for process in rays(ray_directory)]
        assert len(environments) > 2
        assert all(b"RAY_USAGE_STATS_ENABLED=0\0" in environment for environment in environments)
        for network in (None, Network(NetworkSettings(channels=4, layers=1)), None):
            points = list(workers.play(games, network, lambda: told.append(None)))
            assert points == list(InProcess().play(games, network, lambda: None))
        assert len(told) == 9
        # A game that fails is no reason to play it again, nor to play no more.
        for _ in range(3):
            with pytest.raises(TypeError):
                list(workers.play([int], None, lambda: None))  # type: ignore[list-item]
        assert list(workers.play([callable], None, lambda: None)) == [True]
        assert workers.deaths == 0
        # One that kills whoever plays it is not played for ever.
        monkeypatch.setattr("gm_bots.recon_zero.workers.MOST_DEATHS", 1)
        with pytest.raises(NoWorkers, match="3 workers have died without any game finishing"):
            list(workers.play([lambda evaluator: os._exit(1)], None, lambda: None))


def test_a_cluster_that_is_not_there() -> None:
    from gm_bots.recon_zero.pool import NoWorkers
    from gm_bots.recon_zero.workers import Workers

    with (
        pytest.raises(NoWorkers, match=r"there is no Ray cluster at 127.0.0.1:1: .*refused"),
        Workers(2, "127.0.0.1:1"),
    ):
        pass
    with pytest.raises(NoWorkers, match="at nowhere: it has to be HOST:PORT, or auto"), Workers(2, "nowhere"):
        pass


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_and_the_same_command_goes_on(end: signal.Signals, tmp_path: Path, ray_directory: Path) -> None:
    """Begun by two workers, it goes on with none."""
    torch_in_one_thread()
    broken = start(tmp_path / "broken", "--iterations", "1000", *OPTIONS, "--workers", "2")
    assert broken.stdout is not None
    first = broken.stdout.readline()
    assert first.startswith("Iteration 1: "), broken.communicate()
    if end == signal.SIGINT:
        os.killpg(broken.pid, end)  # as a terminal does: to all of them
    else:
        broken.send_signal(end)
    out, errors = broken.communicate()
    done = 1 + len(out.splitlines())
    line = f"Interrupted. The same command continues from iteration {done}, the last one finished."
    assert (broken.returncode, errors.split()) == (130, line.split())
    assert rays(ray_directory) == []
    assert train(tmp_path / "broken", done + 1).exit_code == 0
    assert train(tmp_path / "whole", done + 1).exit_code == 0
    assert_same(tmp_path / "broken", tmp_path / "whole")


def torch_in_one_thread() -> None:
    """As the process that is interrupted; with another number, sums may be added in another order."""
    import torch

    torch.set_num_threads(1)


def start(out: Path, *options: str) -> subprocess.Popen[str]:
    """The command, in a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "gmd", "train", "recon-zero", "--out", str(out), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )


def rays(directory: Path) -> list[Path]:
    """Of Ray's processes, which all name its directory, those of Linux's directories that tell of them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if bytes(directory) in (process / "cmdline").read_bytes():
                found.append(process)
    return found
