"""The plan of a training, all its settings; and its record, ``run.json``, by which it continues.

The record has the plan, the number of iterations, and an entry for each time that the training was started. What came
of it is in the other files of the directory; ``docs/reference/trainings.md`` lists them all.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gm_arena.stockfish import stockfish_version
from gmd.version import VERSION as GMD_VERSION

from .checkpoint_files import digest_of
from .league.members import MEMBERS
from .lockstep.opponent_model import FILE as OPPONENTS
from .network import NetworkSettings
from .results import now
from .thinker import Settings
from .training import LEARNING_RATE

if TYPE_CHECKING:
    from .lockstep.judging import Precision

#: The settings of a player whose games are learnt from: faster, and not always its best.
LEARNER = Settings(determinisations=4, simulations=40, exploring=10, alarm=8)

FILE = "run.json"
#: The version of the file's contents.
FORMAT = 3
#: The libraries on which the results of a training depend.
LIBRARIES = ("torch", "numpy", "numba", "ray", "chess", "reconchess")


class BadTraining(ValueError):
    """A directory has a training with other settings."""


@dataclass(frozen=True)
class Plan:
    """The settings of a training; by default almost those with which the network that comes with gmd was trained.

    :ivar games: games to learn from in each iteration.
    :ivar taught: the first so many iterations play by piece values, not by the network: a network that has learnt
        nothing plays long games from which little can be learnt.
    :ivar teacher: the depth of Stockfish's searches of the positions to learn from (:mod:`.teacher`), besides what the
        player's own searches found; 0 for these alone.
    :ivar steps: steps in each iteration, with ``batch`` samples each.
    :ivar matches: games against a random mover in each iteration, half of them with each colour.
    :ivar capacity: samples that are kept, 5 kB each.
    :ivar max_plies: half-moves after which a game is drawn.
    :ivar in_step: the games that one process plays in step (:mod:`.lockstep`). The number is part of the plan, since a
        network's results depend on their batch in the last digits.
    :ivar precision: the numbers that the network computes with in games and in steps.
    :ivar league: the share of the games that is played against members of a league (:mod:`.league`), not against
        itself.
    :ivar members: the league's members beside its own earlier networks: those of :mod:`.league.members` that could play
        when it began.
    """

    games: int = 240
    taught: int = 1
    teacher: int = 1
    steps: int = 1_300
    batch: int = 512
    matches: int = 4
    capacity: int = 1_000_000
    max_plies: int = 150
    in_step: int = 40
    precision: Precision = "float32"
    league: float = 0.12
    members: tuple[str, ...] = MEMBERS
    learning_rate: float = LEARNING_RATE
    seed: int = 1
    network: NetworkSettings = field(default_factory=NetworkSettings)
    player: Settings = LEARNER

    @property
    def league_games(self) -> int:
        """How many games of an iteration are played against members of the league."""
        return max(1, round(self.league * self.games)) if self.league else 0

    def leaves(self) -> Iterator[tuple[str, Any]]:
        """Yield all settings by their names, those of the network and of the player among them."""
        for name, value in asdict(self).items():
            yield from value.items() if isinstance(value, dict) else [(name, value)]

    def changed(self, settings: Mapping[str, Any]) -> Plan:
        """Return the plan with other settings, by the names of :meth:`leaves`."""
        own = {name: value for name, value in settings.items() if hasattr(self, name)}
        groups: dict[str, Any] = {"network": self.network, "player": self.player}
        for group, plain in groups.items():
            its = {name: value for name, value in settings.items() if name in asdict(plain)}
            groups[group] = replace(plain, **its)
        return replace(self, **own, **groups)


def plan_from(recorded: Mapping[str, Any], where: object) -> Plan:
    """Return a plan that was recorded, by ``asdict`` or as JSON.

    :param where: the record, for the error.
    :raises BadTraining: a setting is missing or unknown, as in a training by another version of gmd.
    """
    try:
        network, player = NetworkSettings(**recorded["network"]), Settings(**recorded["player"])
        return Plan(**{**recorded, "network": network, "player": player, "members": tuple(recorded["members"])})
    except (KeyError, TypeError) as error:
        raise BadTraining(f"{where} has other settings than this gmd: {error}: use the gmd that wrote it") from None


def check_same(plan: Plan, before: Plan, where: object) -> None:
    """Check that a training continues with its settings.

    :param before: the settings that it began with.
    :param where: what belongs to the training, for the error.
    :raises BadTraining: a setting differs.
    """
    known = dict(before.leaves())
    for name, value in plan.leaves():
        was = known[name]
        if value != was:
            raise BadTraining(
                f"--{name.replace('_', '-')}: {where} is of a training with {was}, not {value}: leave the option out, "
                "or begin another training"
            )


@dataclass(frozen=True)
class Record:
    """A record.

    :ivar iterations: how many the training has in total, as last asked for.
    :ivar sessions: what is known of each start.
    """

    plan: Plan
    iterations: int
    sessions: list[dict[str, Any]]


def read_record(directory: Path) -> Record | None:
    """Return the record of the training in a directory; None if there is none.

    :raises BadTraining: the file is no record, or has settings that this version does not know.
    """
    path = directory / FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        if (found := content["format"]) != FORMAT:
            raise BadTraining(f"format: {path} has {found}, and this gmd reads {FORMAT}: use the gmd that wrote it")
        return Record(plan_from(content["plan"], path), content["iterations"], content["sessions"])
    except FileNotFoundError:
        return None
    except BadTraining:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise BadTraining(f"{path} is not the record of a training: {what}") from None


def begin_session(directory: Path, plan: Plan, iterations: int, session: Mapping[str, Any]) -> None:
    """Write the record of a training that is started or continued, replacing the file atomically.

    :param session: what to keep of this start, beside the time and the versions.
    :raises BadTraining: the file that is there is not a record.
    :raises OSError: the file cannot be written.
    """
    known = read_record(directory)
    machine = {"system": sys.platform, "machine": platform.machine(), "processors": os.cpu_count()}
    began = {"began": now(), **session, "versions": versions(), "commit": commit(), "machine": machine}
    sessions = [*([] if known is None else known.sessions), began]
    content = {"format": FORMAT, "plan": asdict(plan), "iterations": iterations, "sessions": sessions}
    partial = directory / f"{FILE}.partial"
    partial.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    partial.replace(directory / FILE)


def versions() -> dict[str, str | None]:
    """Return the versions of gmd, Python, the libraries and Stockfish, None for one that is not installed; and the hash
    of gmd's model of opponents.
    """
    libraries = {name: _version(name) for name in LIBRARIES}
    others = {"stockfish": stockfish_version(), "opponents": digest_of(OPPONENTS)}
    return {"gmd": GMD_VERSION, "python": platform.python_version(), **libraries, **others}


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


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
