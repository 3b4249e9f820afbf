"""Jobs on processes of this machine and on a Ray cluster: each has one result, whatever is lost meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gm_arena.pool import NoWorkers, open_pool, result_of, results
from tests.arena.matches import command, games, run
from tests.bots.recon_zero.learning import needs_ray
from tests.ended import ended
from tests.serving import environment

PATIENCE = 120.0


def squared(number: int) -> int:
    return number * number


def squared_unless_killed(number: int, mark: Path) -> int:
    """Return the square; the first process that begins this job is killed."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return squared(number)
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


def its_process() -> int:
    return os.getpid()


def fails(message: str) -> None:
    raise ValueError(message)


def dies() -> None:
    os._exit(1)


def waits_at(gate: Path, begun: Path) -> int:
    """Return a number as soon as a byte can be read from the gate; each beginning adds a line to a file."""
    with begun.open("a") as file:
        file.write("begun\n")
    return len(gate.open("rb", buffering=0).read(1))


@pytest.mark.slow
def test_results_come_in_the_order_of_the_jobs_from_several_processes() -> None:
    with open_pool(2) as pool:
        assert list(results(pool, [partial(squared, number) for number in range(20)])) == [n * n for n in range(20)]
        processes = set(results(pool, [its_process] * 20))
    assert os.getpid() not in processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.slow
def test_job_that_fails_raises_its_own_exception_and_the_others_go_on() -> None:
    with open_pool(1) as pool:
        with pytest.raises(ValueError, match="no such game"):
            list(results(pool, [partial(fails, "no such game")]))
        assert pool.submit(partial(squared, 3)).result(PATIENCE) == 9


@pytest.mark.slow
def test_jobs_of_a_killed_process_are_given_to_others(tmp_path: Path) -> None:
    notices: list[str] = []
    with open_pool(2, notice=notices.append) as pool:
        jobs = [partial(squared_unless_killed, number, tmp_path / str(number % 2)) for number in range(12)]
        assert list(results(pool, jobs)) == [number * number for number in range(12)]
    assert notices == ["A process is lost. Its job is given to another."] * 2


@pytest.mark.slow
def test_job_goes_on_though_the_processes_of_others_die(tmp_path: Path) -> None:
    gate, begun = tmp_path / "gate", tmp_path / "begun"
    os.mkfifo(gate)
    with open(os.open(gate, os.O_RDWR), "wb", buffering=0) as opened, open_pool(2) as pool:
        job = pool.submit(partial(waits_at, gate, begun))
        with pytest.raises(NoWorkers):
            pool.submit(dies).result(PATIENCE)
        opened.write(b".")
        assert job.result(PATIENCE) == 1
    assert begun.read_text() == "begun\n"


@pytest.mark.slow
def test_process_that_is_killed_between_jobs_is_replaced() -> None:
    with open_pool(1) as pool:
        os.kill(pool.submit(its_process).result(PATIENCE), signal.SIGKILL)
        assert pool.submit(partial(squared, 3)).result(PATIENCE) == 9


@pytest.mark.slow
def test_job_that_kills_every_process_is_given_up() -> None:
    with open_pool(1) as pool, pytest.raises(NoWorkers, match="3 processes have died in turn at one job"):
        list(results(pool, [dies]))


@pytest.mark.slow
async def test_result_is_awaited_without_holding_up_other_tasks() -> None:
    with open_pool(1) as pool:
        assert await result_of(pool.submit(partial(squared, 7))) == 49


@pytest.mark.slow
def test_processes_end_when_the_first_one_is_killed() -> None:
    text = (
        "from gm_arena.pool import open_pool; import time; from tests.arena.test_pool import its_process\n"
        "if __name__ == '__main__':\n"
        "    with open_pool(1) as pool:\n"
        "        print(pool.submit(its_process).result(), flush=True)\n"
        "        time.sleep(1000)\n"
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(text)
        environ = environment({"PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])})
        pipe = subprocess.PIPE
        program = subprocess.Popen([sys.executable, str(path)], stdout=pipe, stderr=pipe, text=True, env=environ)
        with ended(program) as process:
            assert process.stdout is not None
            assert int(process.stdout.readline()) > 0
            process.kill()
            assert process.stdout.read() == "", "the worker, which has the pipe, too, has ended"


@pytest.mark.slow
def test_match_with_several_processes_plays_the_same_games_as_with_one(tmp_path: Path) -> None:
    bots = ("random:seed=1", "random:seed=2", "--games", 8, "--max-moves", 5)
    found = []
    for at_once in (1, 3):
        path = tmp_path / f"{at_once}.jsonl"
        assert run(*bots, "--concurrency", at_once, "--json-out", path)[0] == 0
        found.append([(game["white"], game["moves"], game["result"]) for game in games(path)])
    assert found[0] == found[1]


# Ray.


@pytest.fixture
def ray_directory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give Ray a directory for the test alone; it has a short name, because Ray has sockets there."""
    terminated = signal.getsignal(signal.SIGTERM)  # Ray sets this for the whole process
    with TemporaryDirectory(prefix="gmd-", dir="/tmp") as directory:
        monkeypatch.setenv("RAY_TMPDIR", directory)
        monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield Path(directory)
    signal.signal(signal.SIGTERM, terminated)


@needs_ray
@pytest.mark.slow
def test_match_on_a_cluster_plays_every_game_once_though_a_machine_is_lost(ray_directory: Path, tmp_path: Path) -> None:
    """Of three nodes two have workers. One is killed when some games have ended and others are being played."""
    from ray.cluster_utils import Cluster

    store = {"object_store_memory": 80_000_000}
    # The result of a game, however small, stays on its node until it is asked for: it may be lost with the node.
    system = {"max_direct_call_object_size": 1_000}
    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": system, **store}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        nodes = [cluster.add_node(num_cpus=1, **store) for _ in range(2)]
        path, alone = tmp_path / "match.jsonl", tmp_path / "alone.jsonl"
        bots = ("random:seed=1", "random:seed=2", "--games", 12, "--max-moves", 60)
        arguments = command(*bots, "--json-out", path, "--ray", cluster.address)
        pipe = subprocess.PIPE
        with ended(subprocess.Popen(arguments, stdout=pipe, stderr=pipe, text=True, env=environment())) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("game 1: ")
            cluster.remove_node(nodes[0], allow_graceful=False)
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        assert "Traceback" not in out + err
        assert len(out.splitlines()) < 30, "Ray itself prints pages about each death"
    finally:
        cluster.shutdown()
    assert [game["game"] for game in games(path)] == list(range(1, 13))
    assert "Ptnml(0-2): [" in out
    assert run(*bots, "--json-out", alone)[0] == 0
    assert [game["moves"] for game in games(path)] == [game["moves"] for game in games(alone)]


@needs_ray
@pytest.mark.slow
def test_missing_cluster_is_reported() -> None:
    with pytest.raises(NoWorkers, match=r"there is no Ray cluster at 127.0.0.1:1: .*refused"):  # noqa: SIM117
        with open_pool(1, "127.0.0.1:1"):
            pass
    status, said, complaints = run("random", "minimax", "--ray=127.0.0.1:1")
    assert (status, said) == (1, "")
    assert "Error: there is no Ray cluster at 127.0.0.1:1: " in complaints
