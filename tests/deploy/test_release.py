"""What ``make dist`` builds: its files, and that it serves and plays where nothing else of a clone is.

Each distribution is installed twice into new environments: from its wheel, and from its source distribution.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from gm_client.blocking import VERSION
from tests.clients.other_languages import PYTHON, ROOT, examples_of
from tests.clients.running import PATIENCE
from tests.deploy.test_client_alone import PROJECT
from tests.deploy.test_dockerfile import LEFT_OUT, PACKAGES, files_of
from tests.serving import STOP_SECONDS, Served, environment, first_lines
from tests.tools import require_tool

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("GMD_REQUIRE_ALL") != "1",
        reason="builds and installs what it downloads: GMD_REQUIRE_ALL=1 does",
    ),
]

BOTH = [f"grandmasterd-{VERSION}", f"grandmasterd_client-{VERSION}"]
#: Files of a clone that no release contains: environments, caches, and what the clone is built to.
CLUTTER = {".venv", ".venv-all", ".ci", ".git", "__pycache__", "node_modules", "build", "dist", ".pytest_cache"}

#: A program for the daemon's environment. It prints gmd's entry points, all of which must be importable, and shows the
#: help of each command.
ENTRY_POINTS = """
from importlib.metadata import distribution
from click.testing import CliRunner
from gmd.cli import main

points = [*distribution("grandmasterd").entry_points, *distribution("grandmasterd-client").entry_points]
print(*sorted(point.name for point in points if point.group != "pytest11" and point.load()))
for point in points:
    if point.group == "gmd.commands":
        result = CliRunner().invoke(main, [point.name, "--help"])
        assert result.exit_code == 0 and "Usage: " in result.output, (point, result.output)
"""


def clean() -> dict[str, str]:
    """Return this process's environment without gmd's settings and without what points to this clone."""
    return {name: value for name, value in environment().items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that ``make dist`` fills, in a copy of this clone."""
    clone = tmp_path_factory.mktemp("release") / "gmd"
    clutter = shutil.ignore_patterns(*CLUTTER, "*.egg-info", ".hypothesis", ".*_cache")

    def ignored(folder: str, names: list[str]) -> set[str]:
        return set() if Path(folder).name == "chessground" else clutter(folder, names)  # its "dist" is no build of ours

    shutil.copytree(ROOT, clone, ignore=ignored)
    subprocess.run([require_tool("make"), f"PYTHON={sys.executable}", "dist"], cwd=clone, env=clean(), check=True)
    return clone / "dist"


class Installed:
    """A new environment in which pip has installed something."""

    def __init__(self, folder: Path, *what: str | Path) -> None:
        self.folder = folder
        self._bin = folder / "env" / "bin"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        pip = [sys.executable, "-m", "pip", "--python", self._bin / "python", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", "--no-compile", *what], cwd=folder, env=clean(), check=True)
        subprocess.run([*pip, "check"], cwd=folder, env=clean(), check=True, stdout=subprocess.DEVNULL)

    def command(self, program: str, *arguments: str) -> list[str | Path]:
        return [self._bin / program, *arguments]

    def run(self, program: str, *arguments: str) -> str:
        """Run one of its programs, which must succeed, and return its output."""
        command = self.command(program, *arguments)
        done = subprocess.run(command, cwd=self.folder, env=clean(), capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout


def test_release_consists_of_a_wheel_and_a_source_distribution_of_each(dist: Path) -> None:
    expected = {f"{name}{suffix}" for name in BOTH for suffix in ("-py3-none-any.whl", ".tar.gz")}
    assert {path.name for path in dist.iterdir()} == expected


@pytest.mark.parametrize("name", BOTH)
def test_distributions_contain_the_packages_and_nothing_that_is_built_or_secret(name: str, dist: Path) -> None:
    with ZipFile(dist / f"{name}-py3-none-any.whl") as wheel:
        found = set(wheel.namelist())
    of_client = "client" in name
    packages = [package for package in PACKAGES if package.startswith("clients/python/") == of_client]
    left_out = {file for name in LEFT_OUT for file in files_of(ROOT, name.strip("/"))}
    files = {
        str(file.relative_to(Path(package).parent))
        for package in packages
        for file in files_of(ROOT, package) - left_out
    }
    assert {f"{Path(package).name}/py.typed" for package in packages} <= files
    about = ["METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"]
    assert found == files | {f"{name}.dist-info/{file}" for file in about}
    with tarfile.open(dist / f"{name}.tar.gz") as archive:
        sources = [Path(*Path(each).parts[1:]) for each in archive.getnames()]
    assert {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO"} <= {str(file) for file in sources}
    ours = [file for file in sources if "chessground" not in file.parts]
    assert [file for file in ours if CLUTTER & set(file.parts) or file.suffix in (".key", ".pyc", ".sqlite")] == []


@pytest.mark.parametrize("kind", ["wheel", pytest.param("sdist", marks=pytest.mark.nightly)])
def test_installed_client_and_bots_play_on_the_installed_daemon(kind: str, dist: Path, tmp_path: Path) -> None:
    """The environments have nothing in common."""
    only = ["--no-binary" if kind == "sdist" else "--only-binary", "grandmasterd,grandmasterd-client"]
    for name in ("server", "client"):
        (tmp_path / name).mkdir()
    server = Installed(tmp_path / "server", "--find-links", dist, *only, f"grandmasterd=={VERSION}")
    client = Installed(tmp_path / "client", "--find-links", dist, *only, f"grandmasterd-client=={VERSION}")
    assert server.run("gmd", "--version") == f"gmd, version {VERSION}\n"
    assert client.run("gmcat", "--version") == f"gmcat {VERSION}\n"
    points = PROJECT["project"]["entry-points"]
    named = {
        name for group in ("gmd.commands", "gmd.bots", "gmd.evaluations", "gmd.analyses") for name in points[group]
    }
    assert server.run("python", "-c", ENTRY_POINTS).split() == sorted([*named, "gmd", "gmcat"])
    arguments = ["--games", "1", "--max-moves", "3", "--variant", "rbc", "--quiet"]
    assert "random" in server.run("gmd", "match", "random", "random", *arguments)
    command = server.command("gmd", "serve", "--port", "0", "--data", str(tmp_path / "data"))
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, env=clean(), stdout=pipe, stderr=pipe, text=True) as process:
        try:
            daemon = Served(process, first_lines(process))
            playing, *_ = examples_of(PYTHON / "README.md", "python")
            printed = client.run("python", "-c", playing.replace("7100", str(daemon.port)))
            assert re.fullmatch(r"(1-0|0-1|1/2-1/2)\n", printed)
            process.terminate()
            assert process.wait(STOP_SECONDS) == 0
        finally:
            process.kill()
            process.communicate()
