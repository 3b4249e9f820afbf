"""The code blocks of a page, run as a reader would run them: from the top to the bottom, against one daemon."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.serving import served
from tests.tools import require_tool

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "docs"
TIMEOUT_SECONDS = 120

_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (?P<name>\w+\.py)\n")
#: What commands report of their progress on standard error.
_PROGRESS = re.compile(
    r"\S+ is player \d+\. Its key, which is not shown again:"
    r"|\S+Z (round \d+|\d+\.\d+ \S+ - \S+|waiting for \S+).*"
    r"|\S+Z .*( plays on |game \d+: |won \d+, lost ).*"
    r"|\S+Z finishing (the game|the \d+ games) in hand, .*"
    r"|after \d+ of \d+ games: .*"
    r"|(read|wrote|checked|imported|exported) .*|\d+ (games?|events?).*"
)


class Block(NamedTuple):
    """A block of code: its language, and its text."""

    language: str
    text: str


def is_progress(line: str) -> bool:
    """Return whether a command reports its progress by a line on standard error, and no trouble."""
    return _PROGRESS.fullmatch(line) is not None


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page that its reader runs."""
    return [Block(*found) for found in _BLOCK.findall(page.read_text("utf-8"))]


class Reader:
    """Somebody who follows pages beside one running daemon.

    :ivar folder: where this reader works.
    """

    def __init__(self, port: int, data: Path, folder: Path, commands: Path) -> None:
        """:param commands: a folder for commands that know the daemon's port."""
        self._port = port
        self._data = data
        self.folder = folder
        self._commands = commands
        self._add_command("gmcat", f'--port {port} "$@"')
        self._add_command("gmd", f'"$@" $(case "$1" in connect|replay) echo --server :{port};; esac)')

    def follow(self, page: Path) -> list[str]:
        """Run all blocks of a page; return what each has printed."""
        return [self.run(block) for block in blocks_of(page)]

    def run(self, block: Block) -> str:
        """Run a block as it stands, but for the port. A Python block whose first line is a file's name is saved."""
        text = (
            block.text.replace('export PATH="$PWD/.venv/bin:$PATH"\n', "")
            .replace("port=7100", f"port={self._port}")
            .replace('"127.0.0.1", 7100', f'"127.0.0.1", {self._port}')
        )
        text = text.replace("connect(player=1)", f"connect(port={self._port}, player=1)")
        text = text.replace("), player=1)", f"), port={self._port}, player=1)")
        text = text.replace("account = {", f'account = {{"port": {self._port}, ')
        if block.language == "sh":
            return self._execute([str(require_tool("bash")), "-euo", "pipefail", "-c", text])
        if found := _FILE.match(text):
            (self.folder / found["name"]).write_text(text, "utf-8")
            return ""
        return self._execute([sys.executable, "-c", text])

    def _add_command(self, name: str, arguments: str) -> None:
        script = self._commands / name
        script.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).parent / name}" {arguments}\n', "utf-8")
        script.chmod(0o755)

    def _execute(self, command: list[str]) -> str:
        path = os.pathsep.join((str(self._commands), str(Path(sys.executable).parent), os.environ["PATH"]))
        env = {**os.environ, "PATH": path, "GMD_DATA": str(self._data)}
        # Some containers set this variable. Then print() writes each word by itself, and where two programs of a block
        # have one output, words of one are within a line of the other.
        env.pop("PYTHONUNBUFFERED", None)
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, env=env, cwd=self.folder, check=False
        )
        assert done.returncode == 0, done.stderr
        assert [line for line in done.stderr.splitlines() if not is_progress(line)] == [], done.stderr
        return done.stdout


@contextmanager
def reader(folder: Path, *arguments: str) -> Iterator[Reader]:
    """Start a daemon, with these arguments, for somebody who reads, and who works in a folder of this one."""
    data, desk, commands = (folder / name for name in ("data", "desk", "commands"))
    desk.mkdir()
    commands.mkdir()
    with served("--data", str(data), *arguments) as daemon:
        yield Reader(daemon.port, data, desk, commands)
