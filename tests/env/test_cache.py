"""The cache of compiled kernels: its place, what is said of it, and that gm_env works where it may not be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gm_env import BatchedRbc
from gm_env import compile as ahead
from gm_env.kernels.cache import folder
from gm_env.kernels.jit import KERNELS
from tests.tools import require_tool

pytestmark = pytest.mark.slow

#: How the kernels' functions are counted that were taken from the cache, and those that were compiled.
_COUNTED = """
import os, numba
from numba.core import caching
found = [0, 0]
load = caching.Cache.load_overload
def counted(self, *arguments):
    result = load(self, *arguments)
    found[result is None] += 1
    return result
caching.Cache.load_overload = counted
from gm_env import BatchedRbc
batch = BatchedRbc(2, 1)
batch.sense(batch.sample_senses())
batch.move(batch.sample_moves())
print(*found, numba.config.CACHE_DIR)
"""
#: The kernels that this uses.
_USED = ("list_all", "draw_senses", "sense_all", "draw_moves", "move_all")


def stepped(cache: Path, home: Path) -> tuple[int, int, list[str]]:
    """Step a batch in a new process; return how many kernels it took from a cache and compiled, and what it said.

    The process may write where the files' modes allow it, also if it is the superuser's.

    :param home: what the process has for its home and its temporary files.
    """
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache), "HOME": str(home), "TMPDIR": str(home)}
    command = [sys.executable, "-c", _COUNTED]
    if os.geteuid() == 0:
        command = [require_tool("setpriv"), "--bounding-set=-dac_override,-dac_read_search", *command]
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    cached, compiled, named = run.stdout.split()
    assert named == str(cache)  # other programs' functions are cached where they were
    assert list(home.glob("gm_env-*")) == []  # no copy is left
    return int(cached), int(compiled), run.stderr.splitlines()


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Return a folder for NUMBA_CACHE_DIR with the cache of this process."""
    batch = BatchedRbc(2, 1)
    batch.sense(batch.sample_senses())
    batch.move(batch.sample_moves())
    shutil.copytree(folder(), tmp_path / "cache" / Path(folder()).name)
    return tmp_path / "cache"


def test_cache_is_where_numba_cache_dir_says_and_is_used_again_in_silence(filled: Path, tmp_path: Path) -> None:
    files = sorted(filled.rglob("*.nbc"))
    assert stepped(filled, tmp_path) == (len(_USED), 0, [])
    assert sorted(filled.rglob("*.nbc")) == files


def test_filled_cache_may_be_read_only(filled: Path, tmp_path: Path) -> None:
    folders = [filled, *(path for path in filled.rglob("*") if path.is_dir())]
    for each in folders:
        each.chmod(0o555)
    try:
        assert stepped(filled, tmp_path) == (len(_USED), 0, [])
    finally:
        for each in folders:
            each.chmod(0o755)


def test_without_a_cache_only_what_is_used_is_compiled_and_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder", "utf-8")
    cached, compiled, (head, *lines) = stepped(blocked / "cache", tmp_path)
    assert (cached, compiled) == (0, len(_USED))
    assert head.startswith("gm_env compiles its kernels, once for this version")
    assert [line.split(":")[0].strip() for line in lines] == list(_USED)


def test_command_compiles_ahead_of_time(capfd: pytest.CaptureFixture[str]) -> None:
    ahead.main()
    first = capfd.readouterr().out
    ahead.main()
    assert first == f"gm_env: {len(KERNELS)} kernels are compiled\n"
    assert capfd.readouterr() == (first, "")
