"""The members of a league by their names, as a command line gives them and as a training records them.

A record is ``material``, the text of a :class:`Program`, or ``NAME=sha256:...`` for a checkpoint's file, of which the
training's directory keeps a copy: a training continues with the same members, wherever it is moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gm_arena.bot import Bots, BotUnusable
from gm_arena.extras import how_to_install
from gm_arena.match.settings import name_and_spec
from gm_arena.specs import bots_of, read_options
from gm_arena.stockfish import stockfish
from gm_bots.options import only, whole

from ..checkpoint_files import digest_of, is_checkpoint, iteration

if TYPE_CHECKING:
    from gm_env.opponents import Opponent

#: The same bot, which evaluates positions by piece values.
MATERIAL = "material"
#: Senses and moves at random.
RANDOM = "random"
#: Runs for the king without looking, as reconchess's AttackerBot: :class:`gm_env.policies.Attacker`.
ATTACKER = "attacker"
#: reconchess's TroutBot, whose engine searches so many positions a move instead of half a second: so a game repeats.
TROUT, TROUT_NODES = "trout", 20_000
#: The members of a league by default, beside the training's own earlier networks; those that are installed.
DEFAULT = (MATERIAL, ATTACKER, TROUT)
#: Where a training's directory keeps the checkpoints of members.
FOLDER = "members"
#: The name of a training's newest checkpoint, which says nothing about the training.
_NEWEST = "latest"


@dataclass(frozen=True)
class Program:
    """A bot that is not this one, by its name, which can be sent to another process.

    :ivar spec: ``random``, ``attacker``, ``trout``, ``trout:nodes=1000``, or a bot as ``gmd match`` names it. One with
        random choices of its own has to have a seed, or a training cannot be repeated.
    """

    spec: str

    def check(self) -> None:
        """Check that it can play here.

        :raises BotUnusable: it is no bot, does not play blind chess, or a library or program is missing.
        """
        name, options = self._read()
        if name == ATTACKER:
            only(ATTACKER, options)
        elif name == TROUT:
            self._trout_nodes(options)
            _check_trout()
        elif "rbc" not in (bots := _bots_of(self.spec)).variants:
            plays = ", ".join(sorted(bots.variants))
            raise BotUnusable(f"{self.spec}: plays {plays}, and not blind chess (rbc)")

    def opponent(self, seed: int) -> Opponent:
        """Return it as an opponent, for any number of games.

        :param seed: of its random choices, where the environment does not make them.
        :raises BotUnusable: as for :meth:`check`.
        """
        self.check()
        name, options = self._read()
        if self.spec == RANDOM:
            from gm_env.opponents import play_randomly

            return play_randomly
        if name == ATTACKER:
            from gm_env.policies import Attacker

            return Attacker()
        if name == TROUT:
            from .trout import trout

            return trout(self._trout_nodes(options), seed)
        from gm_arena.opponent import BotOpponent

        return BotOpponent(_bots_of(self.spec))

    def _read(self) -> tuple[str, Mapping[str, str]]:
        name, _, options = self.spec.partition(":")
        return name, read_options(name, options) if name in (ATTACKER, TROUT) else {}

    @staticmethod
    def _trout_nodes(options: Mapping[str, str]) -> int:
        only(TROUT, options, "nodes")
        return whole(TROUT, options, "nodes", 1, 10**9) or TROUT_NODES


def _bots_of(spec: str) -> Bots:
    return bots_of(spec)


def _check_trout() -> None:
    if find_spec("reconchess") is None:
        raise BotUnusable(f"{TROUT} is reconchess's TroutBot: {how_to_install('reconchess')}")
    if stockfish() is None:
        raise BotUnusable(f"{TROUT} needs Stockfish, on the PATH or where STOCKFISH_EXECUTABLE says")


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
