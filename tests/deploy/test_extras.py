"""The extras of ``pyproject.toml`` in one environment: reconchess's windows open in all combinations that the README
suggests.

The commands rc-play, rc-play-on-server and rc-replay import pkg_resources, which setuptools has dropped from version 81
on.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bots.recon_zero.learning import needs_torch

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WINDOWS = ["rc_play", "rc_play_on_server", "rc_replay"]
#: First version of setuptools without pkg_resources.
WITHOUT_PKG_RESOURCES = 81

from_an_index = pytest.mark.skipif(
    os.environ.get("GMD_REQUIRE_ALL") != "1",
    reason="makes environments out of downloads, for minutes: GMD_REQUIRE_ALL=1 does",
)


@pytest.mark.parametrize("beside", ["the tests' libraries", pytest.param("torch", marks=needs_torch)])
def test_reconchess_windows_open_in_this_environment(beside: str) -> None:
    assert [import_of(sys.executable, window) for window in WINDOWS] == [0, 0, 0]


def import_of(python: str | Path, window: str) -> int:
    """Return the exit status of the import that each of reconchess's commands begins with."""
    command = [python, "-W", "ignore", "-c", f"import reconchess.scripts.{window}"]
    return subprocess.run(command, stdout=subprocess.DEVNULL).returncode


@pytest.fixture(scope="module", params=["oldest", "newest"])
def python(request: pytest.FixtureRequest) -> str:
    """Return the oldest or newest Python on the PATH that gmd runs on; this Python if none there has a number."""
    found = [
        path for minor in range(11, 30) if (path := shutil.which(f"python3.{minor}")) and _makes_environments(path)
    ]
    if request.param == "oldest":
        return found[0] if found else sys.executable
    if len(found) < 2:
        pytest.skip("there is one Python alone on the PATH")
    return found[-1]


def _makes_environments(python: str) -> bool:
    return subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True).returncode == 0


class Environment:
    """A new virtual environment."""

    def __init__(self, python: str, folder: Path) -> None:
        subprocess.run([python, "-m", "venv", folder], check=True)
        self.python = folder / "bin" / "python"

    def install(self, *what: str) -> None:
        subprocess.run(self._install(*what), check=True, cwd=ROOT)

    def would_install(self, *what: str) -> dict[str, str]:
        """Return the versions that pip would install, by distribution, without installing them."""
        command = [*self._install(*what), "--dry-run", "--report", "-"]
        report = json.loads(subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE).stdout)
        found = [each["metadata"] for each in report["install"]]
        return {each["name"]: each["version"] for each in found}

    def _install(self, *what: str) -> list[str | Path]:
        return [self.python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile", *what]

    def windows(self) -> dict[str, int]:
        return {window: import_of(self.python, window) for window in WINDOWS}


@from_an_index
def test_windows_open_with_reconchess_installed_before_train(python: str, tmp_path: Path) -> None:
    """The extra train is only resolved, not installed: torch has gigabytes, and ``.ci/run`` installs it once."""
    environment = Environment(python, tmp_path)
    environment.install("--editable", ".[reconchess]")
    assert environment.windows() == dict.fromkeys(WINDOWS, 0)
    brought = environment.would_install("--editable", ".[train]")
    assert "torch" in brought
    if "setuptools" in brought:
        environment.install(f"setuptools=={brought['setuptools']}")
    assert environment.windows() == dict.fromkeys(WINDOWS, 0)


@from_an_index
def test_windows_open_with_train_installed_before_reconchess(python: str, tmp_path: Path) -> None:
    """Install reconchess alone, and then as an extra."""
    environment = Environment(python, tmp_path)
    setuptools = environment.would_install("--editable", ".[train]")["setuptools"]
    assert int(setuptools.partition(".")[0]) < WITHOUT_PKG_RESOURCES
    environment.install(f"setuptools=={setuptools}")
    for reconchess in ("reconchess==1.6.9", ".[reconchess]"):
        environment.install(reconchess)
        assert environment.windows() == dict.fromkeys(WINDOWS, 0)
