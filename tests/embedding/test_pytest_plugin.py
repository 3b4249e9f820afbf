"""The pytest plugin, tested in separate runs of pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

USES_IT = """
def test_one(gmd_daemon):
    assert gmd_daemon.ask("new_game", player_white=1, player_black=2)["game_id"] == {one}

def test_other(gmd_daemon):
    assert gmd_daemon.http_port is None
    assert gmd_daemon.ask("new_game", player_white=1, player_black=2)["game_id"] == {other}
"""


#: Plugins of others, which take longer to load than one of these tests takes.
OTHERS = ("anyio", "cacheprovider", "faker", "hypothesispytest", "schemathesis", "trio")


def pytest_run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a directory, with only the installed gmd of ours."""
    without = [part for name in OTHERS for part in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", "-q", *without, *arguments]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, check=False)


def test_processes_of_pytest_xdist_have_their_own_daemons(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(USES_IT.format(one=1, other=1))
    run = pytest_run(tmp_path, "-o", "gmd_scope=session", "-n", "2")
    assert run.returncode == 0, run.stdout
    assert run.stdout.splitlines()[-1].startswith("2 passed")


def test_unknown_scope_is_reported(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(USES_IT.format(one=1, other=1))
    run = pytest_run(tmp_path, "-o", "gmd_scope=forever")
    assert run.returncode != 0
    assert "gmd_scope: 'forever' is none of function, class, module, package, session" in run.stdout + run.stderr


def test_scope_is_an_option_and_a_fixture_configures_the_daemon(tmp_path: Path) -> None:
    configured = """
import gmd
import pytest

@pytest.fixture(scope="module")
def gmd_config(tmp_path_factory):
    return gmd.Config(port=0, data=str(tmp_path_factory.mktemp("data")), max_wait=3)

def test_it(gmd_daemon):
    assert gmd_daemon.ask("hello")["limits"]["max_wait_seconds"] == 3
"""
    (tmp_path / "test_it.py").write_text(USES_IT.format(one=1, other=2) + configured)
    run = pytest_run(tmp_path, "-o", "gmd_scope=module")
    assert run.returncode == 0, run.stdout


def test_run_that_does_not_use_the_plugin_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        """
import sys

def test_it():
    assert "gmd.pytest_plugin" in sys.modules
    loaded = {name for name in sys.modules if name.split(".")[0] == "gmd"}
    assert loaded == {"gmd", "gmd.version", "gmd.pytest_plugin"}
    assert not {"trio", "msgspec", "chess", "structlog", "sqlalchemy"} & set(sys.modules)
"""
    )
    run = pytest_run(tmp_path)
    assert run.returncode == 0, run.stdout
