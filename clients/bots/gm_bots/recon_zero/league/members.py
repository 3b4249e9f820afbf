"""The members of a league by their names, as a command line gives them and as a training records them.

A record is ``material``, the text of a :class:`.programs.Program`, or ``NAME=sha256:...`` for a checkpoint's file, of
which the training's directory keeps a copy: a training continues with the same members, wherever it is moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gm_arena.bot import BotUnusable
from gm_arena.match.settings import name_and_spec

from ..checkpoint_files import digest_of, is_checkpoint
from ..older import iteration
from .programs import ATTACKER, TROUT, Program

#: The same bot, which evaluates positions by piece values.
MATERIAL = "material"
#: The members of a league by default, beside the training's own earlier networks; those that are installed.
DEFAULT = (MATERIAL, ATTACKER, "minimax:depth=2,seed=1", TROUT)
#: Where a training's directory keeps the checkpoints of members.
FOLDER = "members"
#: The name of a training's newest checkpoint, which says nothing about the training.
_NEWEST = "latest"


@dataclass(frozen=True)
class Named:
    """Members that a command line names.

    :ivar records: how a training records them.
    :ivar files: the files of the checkpoints among them, by name.
    :ivar remarks: sentences about default members that are left out.
    """

    records: tuple[str, ...] = ()
    files: dict[str, Path] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def named(texts: Sequence[str]) -> Named:
    """Return the members that texts name: ``material``, ``FILE.pt``, ``NAME=FILE.pt``, or a program.

    :raises BotUnusable: a text names no member, one that cannot play here, or one that is named twice.
    """
    records: list[str] = []
    files: dict[str, Path] = {}
    for text in texts:
        name, spec = (text, text) if is_checkpoint(text) else name_and_spec(text)
        if is_checkpoint(spec):
            path = Path(spec)
            name = checkpoint_name(path) if name == spec else name
            if iteration(Path(f"{name}.pt")) is not None:
                raise BotUnusable(f"--member {text}: {name} is a network of this training's own: give NAME=FILE.pt")
            files[name] = path
            record = f"{name}={digest_of(path)}"
        else:
            record = text
            if text != MATERIAL:
                Program(text).check()
        if name_of(record) in map(name_of, records):
            raise BotUnusable(f"--member {text}: there is a member {name_of(record)} already; give NAME=FILE.pt")
        records.append(record)
    return Named(tuple(records), files)


def default() -> Named:
    """Return the default members; those whose libraries or programs are missing are left out."""
    records, remarks = list[str](), list[str]()
    for text in DEFAULT:
        try:
            records += named([text]).records
        except BotUnusable as error:
            remarks.append(f"{text} is no member of the league: {error}")
    return Named(tuple(records), {}, tuple(remarks))


def name_of(record: str) -> str:
    """Return a member's name."""
    name, is_file, _ = record.partition("=sha256:")
    return name if is_file else record


def file_of(directory: Path, record: str) -> Path | None:
    """Return the file of a member in a training's directory; None if it has none."""
    return directory / FOLDER / f"{name_of(record)}.pt" if "=sha256:" in record else None


def checkpoint_name(path: Path) -> str:
    """Return the name of a checkpoint that is given none: its file's, or its folder's for the newest of a training."""
    return path.resolve().parent.name if path.stem == _NEWEST else path.stem
