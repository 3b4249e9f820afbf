"""The record of a training: ``run.json``, with its settings, seed and versions, from which it continues or is repeated.

It has the plan, the number of iterations, and an entry for each time that the training was started. What came of it is
in the other files of the directory; ``docs/reference/trainings.md`` lists them all.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gm_arena.stockfish import stockfish_version
from gmd.version import VERSION as GMD_VERSION

from .checkpoint_files import digest_of
from .former import changed_games
from .lockstep.opponent_model import FILE as OPPONENTS
from .plan import BadTraining, Plan, plan_from
from .results import now

if TYPE_CHECKING:
    from .lockstep.judging import Precision

FILE = "run.json"
#: The version of the file's contents.
FORMAT = 1
#: The libraries on which the results of a training depend.
LIBRARIES = ("torch", "numpy", "numba", "ray", "chess", "reconchess")
#: The characters of a hash that a sentence shows.
_SHOWN = len("sha256:") + 8


@dataclass(frozen=True)
class Record:
    """A record.

    :ivar iterations: how many the training has in total, as last asked for.
    :ivar sessions: what is known of each start.
    :ivar former: settings of its plan that changed its games, and that this version does not have.
    """

    plan: Plan
    iterations: int
    sessions: list[dict[str, Any]]
    former: Mapping[str, Any]

    @property
    def ever_former(self) -> dict[str, Any]:
        """Such settings of its plan, and those that its plan had when it was started before."""
        before = (session.get("former", {}) for session in self.sessions)
        return {name: value for settings in (*before, self.former) for name, value in settings.items()}


def read(path: Path) -> Record:
    """Return a record.

    :raises BadTraining: the file is not one, or has settings that this version does not know.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
        found = content["format"]
        if found == FORMAT:
            plan, former = plan_from(content["plan"], path), changed_games(content["plan"].get("player", {}))
            return Record(plan, content["iterations"], content["sessions"], former)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, BadTraining):
            raise
        what = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise BadTraining(
            f"{path} is not the record of a training: {what}; name the {FILE} that gmd train wrote"
        ) from None
    raise BadTraining(f"format: {path} has {found}, and this version of gmd reads {FORMAT}: use the gmd that wrote it")


def begin_session(directory: Path, plan: Plan, iterations: int, session: Mapping[str, Any]) -> None:
    """Write the record of a training that is started or continued, replacing the file atomically.

    :param session: what to keep of this start, beside the time and the versions.
    :raises BadTraining: the file that is there is not a record.
    :raises OSError: the file cannot be written.
    """
    path = directory / FILE
    known = read(path) if path.exists() else None
    sessions = [] if known is None else known.sessions
    if known is not None and known.former:  # the plan loses them now
        sessions = [{"former": known.former} | each for each in sessions]
    began = {"began": now(), **session, "versions": versions(), "commit": commit(), "machine": machine()}
    content = {"format": FORMAT, "plan": asdict(plan), "iterations": iterations, "sessions": [*sessions, began]}
    partial = path.with_name(f"{FILE}.partial")
    partial.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    partial.replace(path)


def versions() -> dict[str, str | None]:
    """Return the versions of gmd, Python, the libraries and Stockfish, None for one that is not installed; and the hash
    of gmd's model of opponents.
    """
    libraries = {name: _version(name) for name in LIBRARIES}
    others = {"stockfish": stockfish_version(), "opponents": digest_of(OPPONENTS)}
    return {"gmd": GMD_VERSION, "python": platform.python_version(), **libraries, **others}


def differences(record: Record, precision: Precision, than: str, former: Mapping[str, Any]) -> str | None:
    """Return a sentence about what a training was last played with, and is another here; None if nothing is.

    :param precision: what is to be computed with here.
    :param than: which games the sentence compares those to come with.
    :param former: settings with which those were played, and that this version does not have.
    """
    then = record.sessions[-1].get("versions", {}) if record.sessions else {}
    here, others = versions(), []
    for name in (*LIBRARIES, "stockfish"):
        was, now = (_without_build(found.get(name)) for found in (then, here))
        if was is not None and was != now:
            others.append(f"{name} was {was} and is {now or 'missing'}")
    was, now = (str(found.get("opponents"))[:_SHOWN] for found in (then, here))
    if "opponents" in then and was != now:
        others.append(f"gmd's model of opponents was {was} and is {now}")
    if record.plan.precision != precision:
        others.append(f"precision was {record.plan.precision} and is {precision}")
    others += [f"{name} was {value}, which gmd no longer has" for name, value in former.items()]
    return f"The games may be others than {than}: {', '.join(others)}" if others else None


def _without_build(version: str | None) -> str | None:
    """Return a version without how it was built: 2.13.0 for 2.13.0+cpu."""
    return None if version is None else version.partition("+")[0]


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def machine() -> dict[str, Any]:
    """Return what may change the last digits of results, or the time that they take."""
    return {"system": sys.platform, "machine": platform.machine(), "processors": os.cpu_count()}


def commit() -> str | None:
    """Return the git commit of this code, with ``+`` if it was changed since; None outside a checkout of gmd."""
    here = Path(__file__)
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return None  # no repository, or another one around an installed gmd
    found, changes = _git(here.parent, "rev-parse", "HEAD"), _git(here.parent, "status", "--porcelain", "-uno")
    return None if found is None else found.strip() + ("+" if changes else "")


def _git(directory: Path, *arguments: str) -> str | None:
    """Return what git prints; None if it fails or is not installed."""
    command = ["git", "-C", str(directory), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
