"""What ``gmd train recon-zero`` is asked to do: a new training, one that continues, or one that is repeated."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gm_arena.bot import BotUnusable

from . import run_record
from .checkpoint import BadCheckpoint, history
from .checkpoint_files import digest_of
from .former import changed_games
from .league.members import FOLDER, Named, default, name_of, named
from .pipeline import LATEST, START
from .plan import OPTIONS, BadTraining, leaves, plan_from
from .run_record import Record
from .shipped import RECIPE
from .training_options import plan_of

if TYPE_CHECKING:
    from .plan import Plan

#: The iterations of a training by default.
ITERATIONS = 8
#: The name of the recipe of the network that comes with the package.
SHIPPED = "shipped"


@dataclass(frozen=True)
class Request:
    """A training to begin or to continue.

    :ivar iterations: in total.
    :ivar files: the checkpoints of members that are new to the league, by name.
    :ivar start: the checkpoint with whose network it begins, if it does.
    :ivar remarks: sentences about default members that are left out, and about versions that were others before.
    """

    directory: Path
    plan: Plan
    iterations: int
    files: Mapping[str, Path] = field(default_factory=dict)
    start: Path | None = None
    remarks: tuple[str, ...] = ()


def new(directory: Path, settings: dict[str, Any], iterations: int | None) -> Request:
    """Return a training with the settings of a command line.

    :raises BadTraining: two settings contradict each other.
    :raises BotUnusable: a member of the league cannot play.
    """
    if settings["members"] and not settings["league"]:
        raise BadTraining("--member: add --league SHARE, the share of the games against members")
    if settings["against"] and settings["league"]:
        raise BadTraining("--against: all games are against that one, and none is left for a --league: leave one out")
    league = Named()
    if settings["against"]:
        league = named([settings["against"]])
    elif settings["league"]:
        league = named(settings["members"]) if settings["members"] else default()
    start: Path | None = settings["start"]
    chosen = {
        "members": () if settings["against"] else league.records,
        "against": league.records[0] if settings["against"] else None,
        "start": None if start is None else digest_of(start),
    }
    plan = plan_of({**settings, **chosen})
    remarks: tuple[str, ...] = ()
    with suppress(BadCheckpoint, BadTraining):  # it reports them when it is opened
        if (known := _recorded(directory)) is not None:  # the command that began a training continues it
            remarks = _on_continuing(known)
    return Request(directory, plan, iterations or ITERATIONS, league.files, start, (*league.remarks, *remarks))


def resumed(directory: Path, given: Mapping[str, Any], iterations: int | None) -> Request:
    """Return a training that continues with its settings.

    :param given: the settings on the command line, which must be the training's own; new members join its league.
    :raises BadTraining: there is no training, or a setting is another.
    :raises BotUnusable: a new member cannot play.
    """
    known = _recorded(directory)
    if known is None:
        raise BadTraining(f"--resume: {directory} has no training, neither {run_record.FILE} nor {LATEST}")
    plan, files = _joined(known.plan, given, directory)
    return Request(directory, plan, iterations or known.iterations, files, remarks=_on_continuing(known))


def _recorded(directory: Path) -> Record | None:
    """Return the record of the training in a directory, or for one of gmd 0.2, which wrote none, what is in its newest
    checkpoint; None if there is no training.

    :raises BadTraining: the training has a setting that was removed.
    :raises BadCheckpoint: the newest checkpoint cannot be read.
    """
    record, latest = directory / run_record.FILE, directory / LATEST
    found = None
    if latest.exists():
        plan = history(latest)["plan"]
        found = Record(plan_from(plan, latest), ITERATIONS, [], changed_games(plan.get("player", {})))
    return run_record.read(record) if record.exists() else found


def _on_continuing(known: Record) -> tuple[str, ...]:
    remark = run_record.differences(known, known.plan.precision, "before", known.former)
    return () if remark is None else (remark,)


def repeated(recipe: str, directory: Path, given: Mapping[str, Any], iterations: int | None) -> Request:
    """Return a training with the settings of another.

    :param recipe: ``shipped``, or the record or directory of a training.
    :param given: the settings on the command line, which must be the same, but for the precision: it follows from the
        machine.
    :raises BadTraining: there is no such recipe, or a setting is another.
    :raises BotUnusable: a new member cannot play.
    """
    path = RECIPE if recipe == SHIPPED else Path(recipe)
    if path.is_dir():
        path /= run_record.FILE
    if not path.is_file():
        raise BadTraining(f"--recipe: {recipe} is neither {SHIPPED} nor the {run_record.FILE} of a training")
    known = run_record.read(path)
    given = dict(given)
    precision = given.pop("precision", known.plan.precision)
    plan, files = _joined(replace(known.plan, precision=precision), given, path)
    kept = {name_of(each): path.parent / FOLDER / f"{name_of(each)}.pt" for each in (*plan.members, plan.against or "")}
    start = path.parent / START
    remark = run_record.differences(known, precision, "those of the recipe", known.ever_former)
    return Request(
        directory,
        plan,
        iterations or known.iterations,
        {**{name: file for name, file in kept.items() if file.is_file()}, **files},
        start if plan.start and start.is_file() else None,
        () if remark is None else (remark,),
    )


def _joined(plan: Plan, given: Mapping[str, Any], where: Path) -> tuple[Plan, dict[str, Path]]:
    """Return a plan with the members that are new to its league, and their files.

    :raises BadTraining: a setting that was given is another than the plan's.
    """
    others = dict(given)
    joining = named(others.pop("members", ()))
    for name in ("against", "start"):
        if others.get(name) is not None:
            others[name] = named([others[name]]).records[0] if name == "against" else digest_of(others[name])
    known = leaves(asdict(plan))
    for name, value in others.items():
        if known[name] != value:
            option = OPTIONS.get(name, name).replace("_", "-")
            raise BadTraining(
                f"--{option}: {where} is of a training with {known[name]}, not {value}: leave the option out, or begin "
                "another training"
            )
    records = [record for record in joining.records if record not in plan.members]
    for record in records:
        if name_of(record) in map(name_of, plan.members):
            raise BotUnusable(f"--member {name_of(record)}: the league has another of that name: give NAME=FILE.pt")
    if records and not plan.league:
        raise BadTraining(f"--member: {where} is of a training without a league, which cannot have members")
    return replace(plan, members=(*plan.members, *records)), joining.files
