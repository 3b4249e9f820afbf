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
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

from gm_client.blocking import VERSION
from tests.clients.other_languages import PYTHON, ROOT, examples_of
from tests.clients.running import PATIENCE
from tests.deploy.once import filled_once
from tests.deploy.test_client_alone import PROJECT
from tests.deploy.test_dockerfile import LEFT_OUT, PACKAGES, files_of
from tests.serving import STOP_SECONDS, Served, environment, first_lines
from tests.tools import require_tool

from_an_index = pytest.mark.skipif(
    os.environ.get("GMD_REQUIRE_ALL") != "1",
    reason="builds and installs what it downloads: GMD_REQUIRE_ALL=1 does",
)
pytestmark = from_an_index

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
VERSIONS = "from importlib.metadata import version; print(version('grandmasterd'), version('grandmasterd-client'))"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that ``make dist`` fills, in a copy of this clone."""
    make = require_tool("make")

    def fill(folder: Path) -> None:
        clone = folder / "gmd"
        shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(*CLUTTER, "*.egg-info", ".hypothesis", ".*_cache"))
        subprocess.run([make, f"PYTHON={sys.executable}", "dist"], cwd=clone, env=clean(), check=True)

    return filled_once(tmp_path_factory, "release", fill) / "gmd" / "dist"


def clean() -> dict[str, str]:
    """Return this process's environment without gmd's settings and without what points to this clone."""
    return {name: value for name, value in environment().items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


class Installed:
    """An environment in which pip has installed something."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bin = folder / "env" / "bin"

    def install(self, *what: str | Path) -> None:
        """Make the environment."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "env"], check=True)
        pip = [sys.executable, "-m", "pip", "--python", self._bin / "python", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", "--no-compile", *what], cwd=self.folder, env=clean(), check=True)
        subprocess.run([*pip, "check"], cwd=self.folder, env=clean(), check=True, stdout=subprocess.DEVNULL)

    def command(self, program: str, *arguments: str) -> list[str | Path]:
        return [self._bin / program, *arguments]

    def run(self, program: str, *arguments: str) -> str:
        """Run one of its programs, which must succeed without writing to standard error, and return its output."""
        done = subprocess.run(
            self.command(program, *arguments),
            cwd=self.folder,
            env=clean(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


def options(dist: Path, kind: str) -> Sequence[str | Path]:
    """Return pip's options to take gmd from wheels or source distributions of ``dist``, and the rest from the index."""
    only = ["--no-binary" if kind == "sdist" else "--only-binary", "grandmasterd,grandmasterd-client"]
    return ["--find-links", dist, *only]


@pytest.fixture(scope="module", params=["wheel", "sdist"])
def kind(request: pytest.FixtureRequest) -> str:
    """Return what the distributions are installed from."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def server(kind: str, dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return an environment with the daemon, which brings the client."""
    what = [*options(dist, kind), f"grandmasterd=={VERSION}"]
    return Installed(filled_once(tmp_path_factory, f"server-{kind}", lambda folder: Installed(folder).install(*what)))


@pytest.fixture(scope="module")
def client(kind: str, dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return an environment with the client alone."""
    what = [*options(dist, kind), f"grandmasterd-client=={VERSION}"]
    return Installed(filled_once(tmp_path_factory, f"client-{kind}", lambda folder: Installed(folder).install(*what)))


@pytest.fixture
def daemon(server: Installed, tmp_path: Path) -> Iterator[Served]:
    """Run the installed daemon with its games on disk."""
    command = server.command("gmd", "serve", "--port", "0", "--data", str(tmp_path / "data"))
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=server.folder, env=clean(), stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield Served(process, first_lines(process))
        finally:
            process.kill()
            process.communicate()


@pytest.mark.slow
def test_release_consists_of_a_wheel_and_a_source_distribution_of_each(dist: Path) -> None:
    expected = {f"{name}{suffix}" for name in BOTH for suffix in ("-py3-none-any.whl", ".tar.gz")}
    assert {path.name for path in dist.iterdir()} == expected


@pytest.mark.parametrize("name", BOTH)
def test_wheel_contains_the_files_of_its_packages_and_the_licence_and_nothing_else(name: str, dist: Path) -> None:
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


def test_wheel_requires_the_client_by_its_version_and_names_no_folder(dist: Path) -> None:
    with ZipFile(dist / f"{BOTH[0]}-py3-none-any.whl") as wheel:
        lines = wheel.read(f"{BOTH[0]}.dist-info/METADATA").decode().splitlines()
    assert f"Requires-Dist: grandmasterd-client=={VERSION}" in lines
    assert [line for line in lines if line.startswith("Requires-Dist: ") and "file:" in line] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_source_distribution_contains_nothing_that_is_built_or_secret(name: str, dist: Path) -> None:
    with tarfile.open(dist / f"{name}.tar.gz") as archive:
        files = [Path(*Path(each).parts[1:]) for each in archive.getnames()]
    assert {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO"} <= {str(file) for file in files}
    assert [file for file in files if CLUTTER & set(file.parts) or file.suffix in (".key", ".pyc", ".sqlite")] == []


@pytest.mark.slow
def test_installed_programs_report_the_version(server: Installed) -> None:
    assert server.run("gmd", "--version") == f"gmd, version {VERSION}\n"
    assert server.run("gmcat", "--version") == f"gmcat {VERSION}\n"
    assert server.run("python", "-c", VERSIONS) == f"{VERSION} {VERSION}\n"


def test_entry_points_need_no_extra(server: Installed) -> None:
    points = PROJECT["project"]["entry-points"]
    named = {name for group in ("gmd.commands", "gmd.bots", "gmd.evaluations") for name in points[group]}
    assert server.run("python", "-c", ENTRY_POINTS).split() == sorted([*named, "gmd", "gmcat"])


@pytest.mark.slow
def test_installed_client_plays_a_game_on_the_installed_daemon(client: Installed, daemon: Served) -> None:
    """The environments have nothing in common."""
    hello = client.run("gmcat", "--port", str(daemon.port), '{"kind":"hello"}')
    assert f'"server":"gmd/{VERSION}"' in hello
    playing, *_ = examples_of(PYTHON / "README.md", "python")
    printed = client.run("python", "-c", playing.replace("7100", str(daemon.port)))
    assert re.fullmatch(r"(1-0|0-1|1/2-1/2)\n", printed)
    daemon.process.terminate()
    assert daemon.process.wait(STOP_SECONDS) == 0


def test_installed_bots_play_a_match(server: Installed) -> None:
    arguments = ["--games", "1", "--max-moves", "3", "--variant", "rbc", "--quiet"]
    assert "random" in server.run("gmd", "match", "random", "random", *arguments)
