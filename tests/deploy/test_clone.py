"""A clone installed by ``make serve``: scripts in the folder above it find gmd, and nothing else of the clone."""

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
#: The script of the project's README.
SCRIPT = """
import gmd
import gm_arena, gm_bots, gm_client, gm_protocol, gm_recon

daemon = gmd.background_daemon()
print(daemon.ask("new_game", player_white=1, player_black=2)["game_id"])
daemon.close()
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of this clone in a folder of the usual name, with its own virtual environment.

    The copy takes its dependencies from this environment, so no network is needed.
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


@pytest.mark.slow
def test_script_in_the_folder_above_the_clone_imports_gmd(clone: Path) -> None:
    """The clone's folder has the package's name, but no ``__init__.py``."""
    script = clone.parent / "my_bot.py"
    script.write_text(SCRIPT)
    assert run(clone, script, cwd=clone.parent) == (0, "1\n", "")
    assert run(clone, "-c", SCRIPT, cwd=clone.parent) == (0, "1\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("cwd", ["..", ".", "clients", "clients/python"])
def test_commands_run_as_modules_in_any_folder_of_the_clone(clone: Path, cwd: str) -> None:
    status, said, _ = run(clone, "-m", "gmd", "--version", cwd=clone / cwd)
    assert (status, said[:3]) == (0, "gmd")
    assert run(clone, "-m", "gm_client.gmcat", "--help", cwd=clone / cwd)[0] == 0


def test_no_other_folder_of_the_clone_hides_a_package() -> None:
    """These folders are on the path of the clone's Python. Without ``__init__.py`` they are found last."""
    for folder in ("bench", "clients", "clients/python/examples", "deploy", "docs", "protocol", "protocol/vectors"):
        assert (ROOT / folder).is_dir()
        assert not (ROOT / folder / "__init__.py").exists()
