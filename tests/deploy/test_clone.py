"""A clone, installed as ``make serve`` installs it: what is beside it finds gmd, and nothing else of the clone's."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving import environment
from tests.tools import require_tool

ROOT = Path(__file__).parents[2]
#: As the project's README has it.
SCRIPT = """
import gmd
import gm_arena, gm_bots, gm_client, gm_protocol, gm_recon

daemon = gmd.background_daemon()
print(daemon.ask("new_game", player_white=1, player_black=2)["game_id"])
daemon.close()
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this one in a folder of the usual name, with a virtual environment of its own.

    What it depends on is taken from this environment, so that no network is needed.
    """
    folder = tmp_path_factory.mktemp("beside") / "gmd"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "dist"))
    options = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    command = [require_tool("make"), f"PYTHON={sys.executable}", "VENV=.venv", ".venv/.installed"]
    done = subprocess.run(command, cwd=folder, env=dependencies() | options, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def dependencies() -> dict[str, str]:
    return environment({"PYTHONPATH": os.pathsep.join(site.getsitepackages())})


def run(clone: Path, *arguments: str | Path, cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [clone / ".venv" / "bin" / "python", *arguments], cwd=cwd, env=dependencies(), capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def test_a_script_beside_the_clone_finds_gmd(clone: Path) -> None:
    """The clone's folder has the package's name, and no ``__init__.py``."""
    script = clone.parent / "my_bot.py"
    script.write_text(SCRIPT)
    assert run(clone, script, cwd=clone.parent) == (0, "1\n", "")
    assert run(clone, "-c", SCRIPT, cwd=clone.parent) == (0, "1\n", "")


@pytest.mark.parametrize("cwd", ["..", ".", "clients", "clients/python"])
def test_its_commands_run_as_modules_wherever_one_is(clone: Path, cwd: str) -> None:
    status, said, complaints = run(clone, "-m", "gmd", "--version", cwd=clone / cwd)
    assert (status, complaints) == (0, "")
    assert said.startswith("gmd")
    status, _, complaints = run(clone, "-m", "gm_client.gmcat", "--help", cwd=clone / cwd)
    assert (status, complaints) == (0, "")


@pytest.mark.parametrize(
    "folder", ["bench", "clients", "clients/python/examples", "deploy", "docs", "protocol", "protocol/vectors", "tests"]
)
def test_no_other_folder_of_it_hides_somebody_s_package(folder: str) -> None:
    """They are on the path of whoever uses the clone's Python: without ``__init__.py`` they are found last of all."""
    assert (ROOT / folder).is_dir()
    assert not (ROOT / folder / "__init__.py").exists()
