"""Who is measured, and by whom: reconchess's own bots, older checkpoints, and the bot itself with a switch turned."""

from __future__ import annotations

import hashlib
import re
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
from ..player import Settings
from ..processes import Processes
from .without import without_network

#: What is measured, where a file or an option says nothing else.
LABEL = entry.NAME

#: What is played.
VARIANT = "rbc"

#: reconchess's own bots, by the names of their classes.
TROUT, RANDOM = "TroutBot", "RandomBot"
RECONCHESS = {
    RANDOM: "reconchess:reconchess.bots.random_bot",
    "AttackerBot": "reconchess:reconchess.bots.attacker_bot",
    TROUT: "reconchess:reconchess.bots.trout_bot",
}
NO_STOCKFISH = f"{TROUT} is left out: it needs Stockfish, on the PATH or where STOCKFISH_EXECUTABLE says"

#: What ends the name of a checkpoint's file.
CHECKPOINT = ".pt"
_ITERATION = re.compile(r"iteration-(\d+)\.pt")
#: Switches without which others do nothing: there are no positions to weigh, or no sense is chosen by them.
_NEEDED_BY = {"belief": ("sensing", "danger", "plausible", "alarm"), "sensing": ("alarm",)}


@dataclass(frozen=True)
class Asked:
    """What a command line asks for.

    :ivar checkpoint: what is measured; None for what the bot plays by if nothing is said.
    :ivar options: of recon-zero, for the measured one and all that are the same bot.
    :ivar against: files of checkpoints, names of reconchess's bots, and bots as ``gmd match`` takes them.
    :ivar older: how many checkpoints before it, of the same training.
    :ivar ablation: whether it plays itself, with one switch turned at a time.
    """

    checkpoint: Path | None
    options: Mapping[str, str]
    against: Sequence[str]
    older: int
    ablation: bool


class Gauntlet:
    """Those who play, each with a name of its own, the measured one first: it meets all the others.

    :ivar entrants: them.
    :ivar texts: what each is in a record: a checkpoint stands there by what is in it, for a file's name stays while
        a training goes on.
    :ivar remarks: sentences about who is missing.
    """

    def __init__(self, asked: Asked, given: Mapping[str, Any], processes: Processes) -> None:
        """:param given: the options of ``gmd match``.
        :raises BotUnusable: one of them cannot play. Those that lack a library come last.
        """
        self._asked, self._given, self._processes = asked, given, processes
        self.entrants: list[Entrant] = []
        self.texts: list[str] = []
        self.remarks: list[str] = []
        self._missing: list[entry.LibraryMissing] = []
        self._add_own(LABEL, asked.checkpoint, asked.options)
        for text in asked.against or ([] if asked.ablation else RECONCHESS):
            self._add(text)
        for path in older(asked.checkpoint, asked.older):
            self._add_own(path.stem, path, asked.options)
        if asked.ablation:
            for name, turned in switches(asked.options):
                self._add_own(f"{name}={turned[name]}", asked.checkpoint, {**asked.options, **turned})
        if self._missing:
            raise self._missing[0]
        if len(self.entrants) < 2:
            raise BotUnusable("; ".join(["nobody is left to play against", *self.remarks]))

    @property
    def bots(self) -> ReconZeroBots:
        """What is measured."""
        bots = self.entrants[0].bots
        assert isinstance(bots, ReconZeroBots)
        return bots

    @property
    def measured(self) -> str:
        """What is measured, with its options, for people."""
        return self.bots.name

    @property
    def random_mover(self) -> str:
        """The label of reconchess's random mover, which plays."""
        return next(each.label for each in self.entrants if each.spec == RECONCHESS[RANDOM])

    def _add(self, text: str) -> None:
        name, spec = (text, text) if _is_checkpoint(text) else name_and_spec(text)
        if spec == TROUT and stockfish() is None and not self._asked.against:
            self.remarks.append(NO_STOCKFISH)
        elif _is_checkpoint(spec):
            self._add_own(name if name != spec else Path(spec).stem, Path(spec), self._asked.options)
        else:
            with self._noting_what_is_missing():
                self._keep(self._other(own_label(name, self.entrants), RECONCHESS.get(spec, spec)))

    def _other(self, label: str, spec: str) -> Entrant:
        """A bot as ``gmd match`` has it."""
        memory = memory_for(self._given["max_memory"], self._given["concurrency"])
        entrant = entrant_of(label, spec, self._given, memory)
        if entrant.bots is None:
            raise BotUnusable(f"--against {spec}: plays on a server, where gmd match plays against it")
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
        """Note a missing library, so that whatever is wrong with another argument is found first.

        :param without: how to do without a network; None for how a bot's own error says it.
        """
        try:
            yield
        except entry.LibraryMissing as error:
            self._missing.append(error if without is None else error.saying(without))

    def _keep(self, entrant: Entrant) -> None:
        self.entrants.append(entrant)
        self.texts.append(f"{entrant.label}={entrant.spec}")


def named(text: str) -> str:
    """Return the name of the reconchess bot that a text of ``--against`` means, or the text's bot where it is none."""
    spec = name_and_spec(text)[1]
    return next((name for name, bot in RECONCHESS.items() if spec == bot), spec)


def _is_checkpoint(text: str) -> bool:
    """Whether it names a file of one, and no bot: these have colons before their files."""
    return text.endswith(CHECKPOINT) and (Path(text).is_file() or not any(sign in text for sign in ":="))


def described(options: Mapping[str, str]) -> str:
    """recon-zero with options."""
    return f"{entry.NAME}:{','.join(f'{name}={value}' for name, value in options.items())}"


def digest_of(path: Path) -> str:
    """:raises BotUnusable: the file cannot be read."""
    try:
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError as error:
        raise BotUnusable(f"{path} cannot be read: {error.strerror}") from None


def switches(options: Mapping[str, str]) -> list[tuple[str, dict[str, str]]]:
    """Each option that is a switch, and what turns it from what it is to the notebook's way.

    One position is searched as long as all were: what several are worth is asked, not what it is worth to look longer.
    What does nothing beside those that are turned already is left out.
    """
    plain = Settings()
    positions = int(options.get("determinisations", plain.determinisations))
    looks = positions * int(options.get("simulations", plain.simulations))
    turned = {name: {name: words[-1]} for name, words in entry.WORDS.items()}
    turned |= {name: {name: off} for name, off in entry.OFF.items()}
    turned["determinisations"] = {"determinisations": "1", "simulations": str(looks)}
    idle = {
        name for switch, names in _NEEDED_BY.items() if options.get(switch) == turned[switch][switch] for name in names
    }
    return [(name, to) for name, to in turned.items() if options.get(name) != to[name] and name not in idle]


def older(checkpoint: Path | None, number: int) -> list[Path]:
    """The newest checkpoints of a training that are older than one of it, the newest first.

    :raises BotUnusable: there is none.
    """
    if not number:
        return []
    if checkpoint is None:
        raise BotUnusable("--older: give a CHECKPOINT of a training, beside which the older ones are")
    found = {made: path for path in checkpoint.parent.iterdir() if (made := iteration(path)) is not None}
    # Whatever is not called by its iteration, latest.pt above all, is taken to be the newest of them.
    own = iteration(checkpoint) or max(found, default=0)
    before = [found[made] for made in sorted(found, reverse=True) if made < own]
    if not before:
        raise BotUnusable(f"--older: {checkpoint.parent} has no checkpoint of an iteration before {checkpoint.name}")
    return before[:number]


def iteration(path: Path) -> int | None:
    """Of a training's checkpoint, by its name; None for another file."""
    match = _ITERATION.fullmatch(path.name)
    return int(match[1]) if match else None
