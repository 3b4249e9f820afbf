"""The cache of compiled kernels: its place, and that gm_env works where it may not be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gm_env.kernels import rules
from gm_env.kernels.cache import cached_at
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


def imported(cache: Path, folder: Path) -> tuple[int, int]:
    """Import gm_env and step a batch in a new process; return how many functions it took from a cache and compiled.

    The process may write where the files' modes allow it, also if it is the superuser's.

    :param folder: what the process has for its home and its temporary files.
    """
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache), "HOME": str(folder), "TMPDIR": str(folder)}
    command = [sys.executable, "-c", _COUNTED]
    if os.geteuid() == 0:
        command = [require_tool("setpriv"), "--bounding-set=-dac_override,-dac_read_search", *command]
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    cached, compiled, named = run.stdout.split()
    assert named == str(cache)  # other programs' functions are cached where they were
    assert list(folder.glob("gm_env-*")) == []  # no copy is left
    return int(cached), int(compiled)


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for NUMBA_CACHE_DIR with the cache of this process."""
    folder = tmp_path / "cache"
    now: Any = rules.list_moves
    with monkeypatch.context() as patch:
        patch.setattr("numba.config.CACHE_DIR", str(folder))
        place = cached_at()
    assert place is not None
    assert place.parent == folder
    for path in Path(now.stats.cache_path).glob("*.nb[ic]"):
        shutil.copy(path, place)
    return folder


def test_cache_is_where_numba_cache_dir_says_and_is_used_again(filled: Path, tmp_path: Path) -> None:
    files = sorted(filled.rglob("*.nbc"))
    cached, compiled = imported(filled, tmp_path)
    assert (cached > 10, compiled) == (True, 0)
    assert sorted(filled.rglob("*.nbc")) == files


def test_filled_cache_may_be_read_only(filled: Path, tmp_path: Path) -> None:
    folders = [filled, *(path for path in filled.iterdir() if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        cached, compiled = imported(filled, tmp_path)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert (cached > 10, compiled) == (True, 0)


def test_cache_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder", "utf-8")
    cached, compiled = imported(blocked / "cache", tmp_path)
    assert cached + compiled > 10
