"""``deploy/Dockerfile`` passes a linter, and its steps work one by one where no image can be built.

The image's root is a directory of the test, its base image is this machine, and the packages that the build would fetch
are those of this environment. Everything else is done as the Dockerfile says.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import site
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.deploy.dockerfile import Instruction, copy_context, only, read_stages
from tests.serving import STOP_SECONDS, environment, first_lines
from tests.tools import require_tool

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
BUILD, FINAL = read_stages(DOCKERFILE)
#: What is installed: the distribution of the daemon and that of the client, on which it depends.
DISTRIBUTIONS = {Path(): ROOT / "pyproject.toml", Path("clients/python"): ROOT / "clients/python/pyproject.toml"}
PROJECTS = {folder: tomllib.loads(file.read_text("utf-8")) for folder, file in DISTRIBUTIONS.items()}
PACKAGES = [
    str(folder / package)
    for folder, project in PROJECTS.items()
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
]
#: What of the daemon's packages only serves their development.
LEFT_OUT = PROJECTS[Path()]["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]

#: Directories of the image that the instructions name.
_OF_THE_IMAGE = re.compile(r"(?<![\w.])/(?=(src|opt|var)\b)")


@pytest.mark.slow
def test_hadolint_finds_nothing() -> None:
    hadolint = require_tool(str(Path(sys.executable).parent / "hadolint"), "--version")
    run = subprocess.run([hadolint, "--failure-threshold", "style", DOCKERFILE], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "")


def test_image_copies_exactly_the_sources_of_the_packages() -> None:
    copied = {source.rstrip("/") for step in BUILD if step.name == "COPY" for source in step.words[:-1]}
    files = {
        str(folder / file)
        for folder, project in PROJECTS.items()
        for file in ("pyproject.toml", project["project"]["readme"], *project["project"]["license-files"])
    }
    assert copied == {*PACKAGES, *files, *PROJECTS[Path()]["build-system"]["backend-path"]}


def test_daemon_runs_without_root_and_its_data_is_private() -> None:
    user, group = only(FINAL, "USER").text.split(":")
    volume = only(FINAL, "VOLUME").text
    add_group, add_user, make_volume = [shlex.split(step) for step in only(FINAL, "RUN").text.split("&&")]
    assert (add_group[-1], add_group[add_group.index("--gid") + 1]) == ("gmd", group)
    assert (add_user[-1], add_user[add_user.index("--uid") + 1], add_user[add_user.index("--gid") + 1]) == (
        "gmd",
        user,
        group,
    )
    assert int(user) > 0
    owned = ["--owner", "gmd", "--group", "gmd", "--mode", "0700"]
    assert make_volume == ["install", "--directory", *owned, volume]
    assert f"GMD_DATA={volume}" in only(FINAL, "ENV").words


class Image:
    """A directory in place of an image."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def inside(self, text: str) -> str:
        """Return a text with the image's paths moved into this directory."""
        return _OF_THE_IMAGE.sub(f"{self.root}/", text)

    def path(self, text: str, workdir: str) -> Path:
        return Path(self.inside(str(Path(workdir, text))))

    def build(self, context: Path) -> None:
        """Execute the steps of the first stage."""
        workdir = only(BUILD, "WORKDIR").text
        self.path(".", workdir).mkdir(parents=True)
        for step in BUILD:
            if step.name == "COPY":
                self._copy(step, context, workdir)
            elif step.name == "RUN":
                subprocess.run(
                    ["sh", "-ec", self.inside(step.text)],
                    cwd=self.path(".", workdir),
                    env=_without_a_network(),
                    check=True,
                    capture_output=True,
                )

    def _copy(self, step: Instruction, context: Path, workdir: str) -> None:
        *sources, target = step.words
        if target.endswith("/"):
            self.path(target, workdir).mkdir(parents=True, exist_ok=True)
        for source in sources:
            if (context / source).is_dir():
                shutil.copytree(context / source, self.path(target, workdir), dirs_exist_ok=True)
            else:
                shutil.copy(context / source, self.path(target, workdir))

    def environment(self) -> dict[str, str]:
        """Return the variables that the last stage sets, plus a free port and the packages of this environment."""
        settings = dict(word.split("=", 1) for word in map(self.inside, only(FINAL, "ENV").words))
        settings["PATH"] = settings["PATH"].replace("$PATH", os.environ["PATH"])
        return environment({**settings, "GMD_HOST": "127.0.0.1", "GMD_PORT": "0", **_packages()})

    def command(self, *names: str) -> list[str]:
        """Return the words of some instructions; the first word is resolved by the image's PATH."""
        words = [self.inside(word) for name in names for word in only(FINAL, name).command]
        found = shutil.which(words[0], path=self.environment()["PATH"])
        assert found is not None
        assert found.startswith(str(self.root))
        return [found, *words[1:]]

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[str]]:
        """Yield the image's process once it has printed its addresses."""
        command, pipe = self.command("ENTRYPOINT", "CMD"), subprocess.PIPE
        with subprocess.Popen(command, env=self.environment(), stdout=pipe, stderr=pipe, text=True) as process:
            try:
                first_lines(process)
                yield process
            finally:
                process.kill()
                process.communicate()

    def is_healthy(self) -> bool:
        command = self.command("HEALTHCHECK")
        return subprocess.run(command, env=self.environment(), capture_output=True).returncode == 0


def _packages() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(site.getsitepackages())}


def _without_a_network() -> dict[str, str]:
    """Return the environment of a build that uses this Python and the packages installed here.

    pip takes its options from variables too.
    """
    options = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, **options, **_packages()}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Return the result of the image's first stage, copied by its second stage."""
    root, context = tmp_path_factory.mktemp("image"), tmp_path_factory.mktemp("context")
    copy_context(ROOT, context)
    image = Image(root)
    image.build(context)
    from_build = only(FINAL, "COPY")
    assert from_build.text.startswith("--from=build ")
    assert from_build.words[0] == from_build.words[1]  # because a virtual environment works only at its own path
    assert all(image.path(word, "/").is_dir() for word in from_build.words)
    return image


def files_of(root: Path, name: str) -> set[Path]:
    """Return the files of a folder, or a file, by their paths from a root.

    Cached bytecode is left out: its files have temporary names while they are written.
    """
    found = {path.relative_to(root) for path in (root / name, *(root / name).rglob("*")) if path.is_file()}
    return {path for path in found if "__pycache__" not in path.parts}


@pytest.mark.slow
def test_all_files_of_the_packages_are_installed(image: Image) -> None:
    (installed,) = image.root.glob("opt/gmd/lib/python3*/site-packages")
    for package in PACKAGES:
        left_out = {path for name in LEFT_OUT for path in files_of(ROOT, name.strip("/"))}
        expected = {path for path in files_of(ROOT, package) if path not in left_out}
        there = files_of(installed, Path(package).name)
        assert there == {path.relative_to(Path(package).parent) for path in expected}


@pytest.mark.slow
def test_image_starts_reports_healthy_and_stops_on_its_signal(image: Image) -> None:
    data = image.path(only(FINAL, "VOLUME").text, "/")
    assert not image.is_healthy()
    with image.running() as process:
        assert image.is_healthy()
        process.send_signal(signal.Signals[only(FINAL, "STOPSIGNAL").text])
        assert process.wait(STOP_SECONDS) == 0
    assert not image.is_healthy()
    assert {path.name for path in data.iterdir()} == {"games.sqlite", "last-commit", "lock"}
