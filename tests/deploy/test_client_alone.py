"""The client's distribution: what it contains without the daemon, and that the two do not conflict."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path
from typing import Self
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gm_client import gmcat
from gm_client.blocking import VERSION
from gmd import version
from tests.clients.other_languages import NODE, PYTHON, ROOT, python_programs
from tests.clients.running import PING
from tests.serving import Served

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DAEMON_DEPENDENCIES: list[str] = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["dependencies"]
#: Packages of the daemon's distribution.
DAEMON_PACKAGES = {"gmd", "gm_protocol", "gm_arena", "gm_bots", "gm_env"}
#: Dependencies that both the extras and the daemon bring.
SHARED = {"chess", "trio"}

PATIENCE = 120


def brought_by(requirements: Iterable[str], extra: str = "") -> Iterator[Distribution]:
    """Yield the installed distributions that meet some requirements, and those that meet their requirements in turn."""
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            found = distribution(requirement.name)
            yield found
            yield from brought_by(found.requires or ())


class Alone:
    """An environment that contains only what a test installs."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        (self.packages,) = folder.glob("lib/python3*/site-packages")

    @classmethod
    def new(cls, folder: Path) -> Self:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        return cls(folder)

    def install(self, *wheels: Path) -> None:
        self._pip("install", "--no-index", "--no-deps", "--no-compile", *map(str, wheels))

    def uninstall(self, name: str) -> None:
        self._pip("uninstall", "--yes", name)

    def take_over(self, extra: str) -> None:
        """Link what an extra of the client brings from the environment of these tests."""
        (client,) = Distribution.discover(name="grandmasterd-client", path=[str(self.packages)])
        of_extra = [each for each in client.requires or () if "extra ==" in each]
        for found in brought_by(of_extra, extra):
            tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
            for top in tops:
                if not (self.packages / top).exists():
                    (self.packages / top).symlink_to(Path(str(found.locate_file(top))))

    def run(self, program: str, *arguments: str) -> str:
        """Run one of its programs, which must succeed without writing to standard error, and return its output."""
        others = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [self.bin / program, *arguments]
        done = subprocess.run(
            command, cwd=self.packages, env=others, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def files_of(self, name: str) -> set[str]:
        """Return the files that a distribution owns, relative to the folder of packages."""
        (found,) = Distribution.discover(name=name, path=[str(self.packages)])
        return {str(file) for file in found.files or ()}

    def _pip(self, *arguments: str) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "--disable-pip-version-check"]
        subprocess.run([*pip, *arguments], check=True, capture_output=True)


def build(project: Path, folder: Path) -> Path:
    """Build the wheel of a project with the hatchling of this environment, and return its path."""
    make = ["wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(project)]
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *make], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the client's wheel."""
    return build(PYTHON, tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the daemon's wheel."""
    return build(ROOT, tmp_path_factory.mktemp("daemon"))


@pytest.fixture(scope="module")
def bare(client: Path, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """Return an environment with the client, without extras."""
    environment = Alone.new(tmp_path_factory.mktemp("bare") / "alone")
    environment.install(client)
    return environment


def programs(daemon: Served) -> tuple[str, ...]:
    """Return the client's examples: random play, a refusal, trio, the tracker."""
    return tuple(text.replace("7100", str(daemon.port)) for text in python_programs())


@pytest.mark.slow
def test_blocking_client_needs_only_python(bare: Alone, daemon_process: Served) -> None:
    at_random, refused, _, _ = programs(daemon_process)
    assert bare.run("python", "-c", refused) == "e2e4 illegal_move\n"
    assert re.fullmatch(r"(1-0|0-1|1/2-1/2)\n", bare.run("python", "-c", at_random))
    assert bare.run("gmcat", "--port", str(daemon_process.port), PING) == '{"error":null}\n'


@pytest.mark.slow
def test_extras_bring_what_the_clients_need_and_nothing_of_the_daemon(
    client: Path, tmp_path: Path, daemon_process: Served
) -> None:
    alone = Alone.new(tmp_path / "alone")
    alone.install(client)
    *_, by_trio, tracking = programs(daemon_process)
    alone.take_over("trio")
    assert alone.run("python", "-c", by_trio) == ""
    alone.take_over("rbc")
    short = tracking.replace('variant="rbc"', 'variant="rbc", max_turns=2')
    assert short != tracking
    assert alone.run("python", "-c", short) == "draw_turn_limit\n"
    needed = {canonicalize_name(Requirement(each).name) for each in DAEMON_DEPENDENCIES} - SHARED
    owners = {name: set(map(canonicalize_name, found)) for name, found in packages_distributions().items()}
    modules = {name for name, found in owners.items() if needed & found} | DAEMON_PACKAGES
    assert {"gmd", "gm_protocol", "litestar", "structlog", "prometheus_client", "msgspec", "sqlalchemy"} <= modules
    code = "import sys; from importlib.util import find_spec; print([name for name in sys.argv[1:] if find_spec(name)])"
    assert alone.run("python", "-c", code, *sorted(modules)) == "[]\n"


@pytest.mark.slow
def test_base_dependencies_are_those_of_the_daemon_plus_the_client(daemon: Path) -> None:
    requirements = [line for line in metadata(daemon) if line.startswith("Requires-Dist: ") and "extra ==" not in line]
    asked = {Requirement(line.removeprefix("Requires-Dist: ")).name for line in requirements}
    assert asked == {Requirement(each).name for each in DAEMON_DEPENDENCIES} | {"grandmasterd-client"}
    assert f"Requires-Dist: grandmasterd-client @ {PYTHON.as_uri()}" in requirements


@pytest.mark.slow
def test_daemon_from_an_index_requires_the_client_of_the_same_version(tmp_path: Path) -> None:
    """Wheels for an index are built from the source distribution, which contains nothing of the client."""
    code = "import sys; sys.path.insert(0, 'deploy/packaging'); import backend; print(backend.build_sdist(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, capture_output=True, text=True, check=True)
    with tarfile.open(tmp_path / done.stdout.strip()) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
        about = archive.extractfile(f"grandmasterd-{VERSION}/PKG-INFO")
        assert about is not None
        lines = about.read().decode().splitlines()
    assert [name for name in names if name.startswith("clients/python/")] == []
    assert "deploy/packaging/backend.py" in names
    assert f"Requires-Dist: grandmasterd-client=={VERSION}" in lines


@pytest.mark.slow
def test_uninstalling_the_daemon_leaves_the_client_whole(
    client: Path, daemon: Path, tmp_path: Path, daemon_process: Served
) -> None:
    alone = Alone.new(tmp_path / "alone")
    alone.install(client)
    alone.install(daemon)
    ours, theirs = alone.files_of("grandmasterd-client"), alone.files_of("grandmasterd")
    assert {"gm_client/blocking.py", "gm_recon/board.py"} <= ours
    assert {"gmd/daemon.py", "gm_protocol/codec.py"} <= theirs
    assert ours & theirs == set()  # so that uninstalling one removes no file of the other
    alone.uninstall("grandmasterd")
    assert not (alone.packages / "gmd").exists()
    _, refused, *_ = programs(daemon_process)
    assert alone.run("python", "-c", refused) == "e2e4 illegal_move\n"
    assert alone.run("gmcat", "--port", str(daemon_process.port), PING) == '{"error":null}\n'


def test_daemon_and_clients_have_the_same_version_and_license() -> None:
    client = tomllib.loads((PYTHON / "pyproject.toml").read_text("utf-8"))["project"]
    node = json.loads((NODE / "package.json").read_text("utf-8"))
    assert PROJECT["project"]["version"] == client["version"] == node["version"] == VERSION
    assert version.VERSION == gmcat.VERSION == VERSION
    assert PROJECT["project"]["license"] == client["license"] == node["license"]
    assert (PYTHON / "LICENSE").read_text("utf-8") == (ROOT / "LICENSE").read_text("utf-8")


def metadata(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return archive.read(name).decode().splitlines()
