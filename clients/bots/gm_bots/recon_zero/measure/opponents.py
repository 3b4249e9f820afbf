"""The measured bot and its opponents: reconchess's own bots, older checkpoints, and itself with a switch turned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gm_arena.bot import BotUnusable
from gm_arena.match.settings import Entrant, entrant_of, name_and_spec, own_label
from gm_arena.memory import memory_for
from gm_arena.stockfish import stockfish

from .. import entry
from ..bot import ReconZeroBots
from ..checkpoint_files import digest_of, is_checkpoint, iteration
from ..player import Settings
from ..processes import Processes
from .without import without_network

#: The label of the measured bot, without a file or an option that gives another.
LABEL = entry.NAME

#: The variant of all games.
VARIANT = "rbc"

#: reconchess's own bots, by the names of their classes.
TROUT, RANDOM = "TroutBot", "RandomBot"
RECONCHESS = {
    RANDOM: "reconchess:reconchess.bots.random_bot",
    "AttackerBot": "reconchess:reconchess.bots.attacker_bot",
    TROUT: "reconchess:reconchess.bots.trout_bot",
}
#: The opponents of a round robin by default.
LEAGUE = (*RECONCHESS, "minimax=minimax:depth=2,seed=1", f"material={entry.NAME}:checkpoint={entry.WITHOUT}")
NO_STOCKFISH = f"{TROUT} is left out: it needs Stockfish, on the PATH or where STOCKFISH_EXECUTABLE says"


@dataclass(frozen=True)
class Asked:
    """The arguments of a command line.

    :ivar checkpoint: the measured checkpoint; None for the bot's default.
    :ivar options: recon-zero's options, for the measured bot and all that are the same bot.
    :ivar against: files of checkpoints, names of reconchess's bots, and bots as ``gmd match`` takes them.
    :ivar older: how many checkpoints before it, of the same training.
    :ivar ablation: whether it plays itself, with one switch turned at a time.
    :ivar league: whether all play each other.
    """

    checkpoint: Path | None
    options: Mapping[str, str]
    against: Sequence[str]
    older: int
    ablation: bool
    league: bool = False


class Gauntlet:
    """The participants, each with a label of its own; the measured bot is the first, and meets all the others.

    :ivar entrants: the participants.
    :ivar texts: how each is recorded: a checkpoint by the hash of its contents, since a file keeps its name while a
        training goes on.
    :ivar remarks: sentences about missing participants.
    """

    def __init__(self, asked: Asked, given: Mapping[str, Any], processes: Processes) -> None:
        """:param given: the options of ``gmd match``.
        :raises BotUnusable: a participant cannot play. Missing libraries are reported last.
        """
        self._asked, self._given, self._processes = asked, given, processes
        self.entrants: list[Entrant] = []
        self.texts: list[str] = []
        self.remarks: list[str] = []
        self._missing: list[entry.LibraryMissing] = []
        self._add_own(LABEL, asked.checkpoint, asked.options)
        default: Sequence[str] = () if asked.ablation else LEAGUE if asked.league else (*RECONCHESS,)
        for text in asked.against or default:
            self._add(text)
        for path in older(asked.checkpoint, asked.older):
            self._add_own(path.stem, path, asked.options)
        if asked.ablation:
            for name, turned in switches(asked.options):
                self._add_own(f"{name}={turned[name]}", asked.checkpoint, {**asked.options, **turned})
        if self._missing:
            raise self._missing[0]
        if len(self.entrants) < 2:
            raise BotUnusable("; ".join(["no opponent is left", *self.remarks]))

    @property
    def bots(self) -> ReconZeroBots:
        """The measured bot."""
        bots = self.entrants[0].bots
        assert isinstance(bots, ReconZeroBots)
        return bots

    @property
    def measured(self) -> str:
        """The measured bot's name with its options."""
        return self.bots.name

    @property
    def random_mover(self) -> str:
        """The label of reconchess's random mover among the participants."""
        return next(each.label for each in self.entrants if each.spec == RECONCHESS[RANDOM])

    def _add(self, text: str) -> None:
        name, spec = (text, text) if is_checkpoint(text) else name_and_spec(text)
        if spec == TROUT and stockfish() is None and not self._asked.against:
            self.remarks.append(NO_STOCKFISH)
        elif is_checkpoint(spec):
            self._add_own(name if name != spec else Path(spec).stem, Path(spec), self._asked.options)
        else:
            with self._noting_what_is_missing():
                self._keep(self._other(own_label(name, self.entrants), RECONCHESS.get(spec, spec)))

    def _other(self, label: str, spec: str) -> Entrant:
        """Return a bot as ``gmd match`` makes it."""
        memory = memory_for(self._given["max_memory"], self._given["concurrency"])
        entrant = entrant_of(label, spec, self._given, memory)
        if entrant.bots is None:
            raise BotUnusable(f"--against {spec}: plays on a server: use gmd match for it")
        if VARIANT not in entrant.bots.variants:
            plays = ", ".join(sorted(entrant.bots.variants))
            raise BotUnusable(f"--against {spec}: plays {plays}, and not blind chess ({VARIANT})")
        if isinstance(entrant.bots, ReconZeroBots):
            return replace(entrant, bots=entrant.bots.in_processes(self._processes))
        return entrant

    def _add_own(self, name: str, checkpoint: Path | None, options: Mapping[str, str]) -> None:
        given = {} if checkpoint is None else {"checkpoint": str(checkpoint)}
        others = {name: value for name, value in options.items() if name not in given}
        with self._noting_what_is_missing(without_network(checkpoint)):
            bots = entry.make(**given, **others).in_processes(self._processes)
            digest = {"checkpoint": digest_of(bots.checkpoint)} if bots.checkpoint is not None else {}
            self._keep(Entrant(own_label(name, self.entrants), described({**digest, **others}), bots))

    @contextmanager
    def _noting_what_is_missing(self, without: str | None = None) -> Iterator[None]:
        """Note a missing library, so that an error in another argument is reported first.

        :param without: how to do without a network; None for the way that a bot's own error names.
        """
        try:
            yield
        except entry.LibraryMissing as error:
            self._missing.append(error if without is None else error.saying(without))

    def _keep(self, entrant: Entrant) -> None:
        self.entrants.append(entrant)
        self.texts.append(f"{entrant.label}={entrant.spec}")


def named(text: str) -> str:
    """Return the name of the reconchess bot in a text of ``--against``, or the text's bot if it is another."""
    spec = name_and_spec(text)[1]
    return next((name for name, bot in RECONCHESS.items() if spec == bot), spec)


def described(options: Mapping[str, str]) -> str:
    """Return recon-zero's spec with options."""
    return f"{entry.NAME}:{','.join(f'{name}={value}' for name, value in options.items())}"


def switches(options: Mapping[str, str]) -> list[tuple[str, dict[str, str]]]:
    """Return each option that is a switch, and the options that turn it off.

    One position is searched for as long as all were together: this measures the effect of several positions, not of a
    longer search. Switches that are turned already are left out.
    """
    plain = Settings()
    positions = int(options.get("determinisations", plain.determinisations))
    looks = positions * int(options.get("simulations", plain.simulations))
    turned = {name: {name: off} for name, off in entry.OFF.items()}
    turned["determinisations"] = {"determinisations": "1", "simulations": str(looks)}
    return [(name, to) for name, to in turned.items() if options.get(name) != to[name]]


def older(checkpoint: Path | None, number: int) -> list[Path]:
    """Return the newest checkpoints of a training that are older than a given one, the newest first.

    :raises BotUnusable: there is none.
    """
    if not number:
        return []
    if checkpoint is None:
        raise BotUnusable("--older: give a CHECKPOINT of a training, in the directory of the older ones")
    found = {made: path for path in checkpoint.parent.iterdir() if (made := iteration(path)) is not None}
    # A file not named by its iteration, above all latest.pt, is assumed to be the newest.
    own = iteration(checkpoint) or max(found, default=0)
    before = [found[made] for made in sorted(found, reverse=True) if made < own]
    if not before:
        raise BotUnusable(f"--older: {checkpoint.parent} has no checkpoint of an iteration before {checkpoint.name}")
    return before[:number]
