"""Parser for Dockerfiles and .dockerignore files, limited to the syntax that this project uses."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple


class Instruction(NamedTuple):
    """One line of a stage, with its continuation lines."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """Arguments in JSON or shell form, without flags (``--from=build``)."""
        return self.command if "[" in self.text else [word for word in shlex.split(self.text) if word[:2] != "--"]

    @property
    def command(self) -> list[str]:
        """JSON array in the instruction."""
        words: list[str] = json.loads(self.text[self.text.index("[") :])
        return words


def read_stages(file: Path) -> list[list[Instruction]]:
    """Return the instructions of each stage, ``FROM`` first."""
    stages: list[list[Instruction]] = []
    lines = [line for line in file.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    for line in re.split(r"\n(?!\s)", "\n".join(lines)):
        name, _, text = line.replace("\\\n", " ").partition(" ")
        if name == "FROM":
            stages.append([])
        stages[-1].append(Instruction(name, text))
    return stages


def only(stage: list[Instruction], name: str) -> Instruction:
    """Return the only instruction of a name."""
    (found,) = [instruction for instruction in stage if instruction.name == name]
    return found


def copy_context(root: Path, to: Path) -> None:
    """Copy the part of a source tree that a build sees; its .dockerignore excludes all but the names behind a ``!``."""
    rules = [line for line in (root / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"]
    assert rules[0] == "*"
    assert rules[-1] == "**/__pycache__/"
    for rule in rules[1:-1]:
        assert rule.startswith("!"), rule
        source, target = root / rule[1:], to / rule[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
