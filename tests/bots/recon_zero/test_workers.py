"""Games played by workers: the same as in one process, whatever dies meanwhile."""

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

from tests.bots.recon_zero.learning import assert_same, needs_ray, needs_training, tiny, train

if TYPE_CHECKING:
    from gm_bots.recon_zero.pipeline import Training
    from gm_bots.recon_zero.workers import Workers

pytestmark = [needs_training, needs_ray, pytest.mark.slow]

#: A training whose games are given to workers one by one.
SINGLE = {"games": 4, "in_step": 1, "steps": 2, "matches": 1, "max_plies": 6, "taught": 1, "simulations": 2}

#: The least that Ray takes, in bytes, so that the tests of several processors have room.
STORE = 80_000_000


@pytest.fixture
def ray_directory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give Ray a directory for the test alone; it has a short name, because Ray has sockets there."""
    terminated = signal.getsignal(signal.SIGTERM)  # Ray sets this for the whole process
    with TemporaryDirectory(prefix="gmd-", dir="/tmp") as directory:
        monkeypatch.setenv("RAY_TMPDIR", directory)
        monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield Path(directory)
    signal.signal(signal.SIGTERM, terminated)


@contextmanager
def cluster_of_two() -> Iterator[tuple[str, list[Callable[[], None]]]]:
    """Yield the address of a cluster with two working nodes, and a function that kills each. The head only manages
    them.
    """
    from ray.cluster_utils import Cluster

    # The result of a game, however small, stays on its node until it is asked for: it may be lost with the node.
    system = {"max_direct_call_object_size": 1_000}
    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False, "_system_config": system}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        nodes = [cluster.add_node(num_cpus=1, object_store_memory=STORE) for _ in range(2)]
        yield cluster.address, [partial(cluster.remove_node, node, allow_graceful=False) for node in nodes]
    finally:
        cluster.shutdown()


def at_first(action: Callable[[], object]) -> Callable[[str], None]:
    """Return a listener that acts when the first game is over and the others have begun or wait."""
    events: list[str] = []

    def listen(what: str) -> None:
        events.append(what)
        if events == ["game"]:
            action()

    return listen


def test_no_game_is_lost_with_its_worker(
    tmp_path: Path, ray_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the first iteration a worker is killed, in the second its machine, in the third all that are left."""
    from gm_bots.recon_zero.pipeline import Training
    from gm_bots.recon_zero.workers import Workers

    unbroken = Training(tmp_path / "unbroken", tiny(**SINGLE))
    for _ in range(3):
        unbroken.iterate()
    notices: list[str] = []
    with cluster_of_two() as (address, kill), Workers(2, address, notice=notices.append) as workers:
        workers.wait()
        training = Training(tmp_path / "broken", tiny(**SINGLE), workers)
        lose_a_worker(training, workers, notices)
        workers.wait()
        training.iterate(at_first(kill[0]))
        lost = [line for line in notices if line.startswith("A worker is lost (")]
        others = [line for line in notices if line not in lost]
        assert len(lost) == 2, notices
        assert workers.deaths == len(notices)
        assert all(line.startswith("A worker has not started: ") for line in others), notices  # on the dying machine
        lose_all(training, workers, kill[1])
    assert capsys.readouterr().out == ""  # Ray itself prints pages about each death
    assert training.log == unbroken.log[:2]
    Training(tmp_path / "broken", tiny(**SINGLE)).iterate()
    assert_same(tmp_path / "broken", tmp_path / "unbroken")


def lose_a_worker(training: Training, workers: Workers, notices: list[str]) -> None:
    """Kill the worker that plays when the other has just finished the first game."""
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


@pytest.mark.nightly
def test_workers_run_on_this_machine(ray_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gm_bots.recon_zero.lockstep.games import play_together
    from gm_bots.recon_zero.network import Network, NetworkSettings
    from gm_bots.recon_zero.player import Settings
    from gm_bots.recon_zero.pool import InProcess, NoWorkers
    from gm_bots.recon_zero.workers import Workers

    monkeypatch.setattr("gm_bots.recon_zero.workers.SHARED_MEMORY", STORE)
    settings = Settings(determinisations=2, simulations=8)
    games = [partial(play_together, settings=settings, seeds=[f"{number}"], max_plies=6) for number in range(3)]
    events: list[None] = []
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED")
    with Workers(2) as workers:
        environments = [(process / "environ").read_bytes() for process in rays(ray_directory)]
        assert len(environments) > 2
        assert all(b"RAY_USAGE_STATS_ENABLED=0\0" in environment for environment in environments)
        for network in (None, Network(NetworkSettings(channels=4, layers=1)), None):
            there = list(workers.play(games, network, lambda: events.append(None)))
            here = list(InProcess().play(games, network, lambda: None))
            assert [[each.visits for each in game] for (game,) in there] == [
                [each.visits for each in game] for (game,) in here
            ]
        assert len(events) == 9
        # A game that fails is neither played again, nor a reason to play no more.
        for _ in range(3):
            with pytest.raises(TypeError):
                list(workers.play([int], None, lambda: None))  # type: ignore[list-item]
        assert list(workers.play([callable], None, lambda: None)) == [True]
        assert workers.deaths == 0
        # A game that kills its worker is not played for ever.
        monkeypatch.setattr("gm_bots.recon_zero.workers.MOST_DEATHS", 1)
        with pytest.raises(NoWorkers, match="3 workers have died without any game finishing"):
            list(workers.play([lambda judge: os._exit(1)], None, lambda: None))


def hang_at_first(judge: object, mark: Path) -> int:
    """Be a game that never ends where it is first played; return its worker's process."""
    if not mark.exists():
        mark.write_text(str(os.getpid()))
        while True:
            signal.pause()
    return os.getpid()


@pytest.mark.nightly
def test_worker_that_hangs_is_replaced_and_its_game_played_again(ray_directory: Path, tmp_path: Path) -> None:
    from gm_bots.recon_zero.workers import Workers

    mark, notices, ended = tmp_path / "hung", [], []
    with Workers(1, notice=notices.append, limit=10) as workers:
        games = [partial(hang_at_first, mark=mark) for _ in range(2)]
        processes = list(workers.play(games, None, lambda: ended.append(1)))
    hung = int(mark.read_text())
    assert len(ended) == 2
    assert hung not in processes
    assert workers.deaths >= 1
    assert any(f"A worker is lost (process {hung} on " in notice for notice in notices)


def test_missing_cluster_is_reported() -> None:
    from gm_bots.recon_zero.pool import NoWorkers
    from gm_bots.recon_zero.workers import Workers

    with (
        pytest.raises(NoWorkers, match=r"there is no Ray cluster at 127.0.0.1:1: .*refused"),
        Workers(2, "127.0.0.1:1"),
    ):
        pass
    with pytest.raises(NoWorkers, match="at nowhere: it has to be HOST:PORT, or auto"), Workers(2, "nowhere"):
        pass


@pytest.mark.nightly
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_training_and_the_same_command_resumes(
    end: signal.Signals, tmp_path: Path, ray_directory: Path
) -> None:
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
    out, errors = broken.communicate()
    done = 2 + len(out.splitlines())
    command = f"gmd train recon-zero --out {tmp_path / 'broken'}"
    line = f"Interrupted. {command} continues from iteration {done}, the last one finished."
    assert (broken.returncode, errors.split()) == (130, line.split())
    assert rays(ray_directory) == []
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


def rays(directory: Path) -> list[Path]:
    """Return the directories in /proc of Ray's processes, which all name Ray's directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if bytes(directory) in (process / "cmdline").read_bytes():
                found.append(process)
    return found
