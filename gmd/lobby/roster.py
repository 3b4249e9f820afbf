"""The bots that come with gmd: which there are, and those that a daemon runs as players of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from shutil import which
from typing import get_args

from msgspec import UNSET, Struct, structs

from gm_protocol.errors import BadRequest
from gm_protocol.options import ClockOption, Variant
from gmd.config import ConfigError
from gmd.lobby.bot_queue import BotQueue

#: Every variant, for a bot that plays all.
EVERY_VARIANT: tuple[str, ...] = get_args(Variant)


class BotKind(Struct, frozen=True, kw_only=True):
    """A bot as a player: its name, and how its process is started.

    :ivar make: the name for the setting ``bots`` of all bots of one make.
    :ivar spec: the bot and its options, as ``gmd connect`` takes them.
    :ivar level: how strong it is, in a word or two for people.
    :ivar about: what distinguishes it from others of its make.
    :ivar seeded: whether each game needs a seed of its own among the options, so that games differ.
    :ivar rejoins: whether a new process can go on with a game in progress.
    :ivar needs: the modules of an extra that it needs.
    :ivar program: the program that it needs, and the variable that names it where it is elsewhere; None for none.
    """

    name: str
    make: str
    spec: str
    variants: tuple[str, ...]
    level: str
    about: str
    seeded: bool = False
    rejoins: bool = True
    needs: tuple[str, ...] = ()
    program: tuple[str, str] | None = None

    @property
    def missing(self) -> list[str]:
        """What it needs that is not installed: modules, and the program."""
        missing = [module for module in self.needs if find_spec(module) is None]
        if self.program is not None and _found(*self.program) is None:
            missing.append(self.program[0])
        return missing

    @property
    def line(self) -> str:
        """What distinguishes it, without the level."""
        return self.about.removeprefix(f"{self.level.lower()}: ")


def _found(program: str, variable: str) -> str | None:
    """Return a program: the one that the variable names, else one on the path or in Debian's folder of engines."""
    named = os.environ.get(variable)
    return which(named) if named else which(program) or which(program, path="/usr/games")


def _minimax(name: str, level: str, options: str, about: str, *, seeded: bool = False) -> BotKind:
    return BotKind(
        name=name,
        make="minimax",
        spec=f"minimax:{options}",
        variants=("standard", "rbc"),
        level=level,
        about=f"{level.lower()}: {about}",
        seeded=seeded,
    )


def _expectation(name: str, level: str, options: str, about: str) -> BotKind:
    """Return a level of expectation, each game with one Stockfish."""
    return BotKind(
        name=name,
        make="expectation",
        spec=f"expectation:{options}",
        variants=("rbc",),
        level=level,
        about=f"{level.lower()}: {about}",
        rejoins=False,
        program=("stockfish", "STOCKFISH_EXECUTABLE"),
    )


#: All bots, the weakest first. The levels of minimax are those of ``gmd play``; the plain name has the default one.
KINDS = (
    BotKind(
        name="random",
        make="random",
        spec="random",
        variants=EVERY_VARIANT,
        level="Random",
        about="senses and moves at random",
    ),
    _minimax(
        "minimax-beginner", "Beginner", "depth=1,margin=100", "looks 1 ply ahead, and errs by up to 1 pawn", seeded=True
    ),
    _minimax(
        "minimax-novice", "Novice", "depth=2,margin=50", "looks 2 plies ahead, and errs by up to 0.5 pawns", seeded=True
    ),
    _minimax("minimax", "Casual", "depth=3,margin=20", "looks 3 plies ahead, and errs by up to 0.2 pawns", seeded=True),
    _minimax("minimax-club", "Club", "movetime=1", "thinks 1 s a move"),
    _minimax("minimax-expert", "Expert", "movetime=5", "thinks 5 s a move"),
    BotKind(
        name="recon-zero",
        make="recon-zero",
        spec="recon-zero",
        variants=("rbc",),
        level="recon-zero",
        about="tracks the possible positions, and searches them with a network",
        rejoins=False,
        needs=("numpy", "numba", "torch"),
    ),
    _expectation(
        "expectation-adept",
        "Adept",
        "positions=30,depth=1,candidates=3,refined=2",
        "has Stockfish judge its moves in 30 possible positions, 1 ply ahead",
    ),
    _expectation("expectation", "Master", "movetime=1", "has Stockfish judge its moves, and thinks 1 s a turn"),
    _expectation(
        "expectation-champion", "Champion", "movetime=10", "has Stockfish judge its moves, and thinks up to 10 s a turn"
    ),
)

#: The setting ``bots`` for every bot that has what it needs, and for none.
ALL, NONE = "all", "none"


def kinds_of(setting: str) -> list[BotKind]:
    """Return the bots that the setting ``bots`` names: makes and single bots, separated by commas, or all, or none.

    :raises ConfigError: it names another bot, or one that lacks what it needs.
    """
    wanted = [word.strip() for word in setting.split(",") if word.strip()]
    if wanted == [NONE]:
        return []
    if wanted == [ALL]:
        return [kind for kind in KINDS if not kind.missing]
    for word in wanted:
        if not any(word in (kind.name, kind.make) for kind in KINDS):
            known = ", ".join(dict.fromkeys(name for kind in KINDS for name in (kind.make, kind.name)))
            raise ConfigError(f"bots: {word!r} is not a bot of gmd's; name some of {known}, or all, or none")
    named = [kind for kind in KINDS if kind.name in wanted or kind.make in wanted]
    for kind in named:
        if missing := kind.missing:
            how = f"install {missing[0]}" if kind.program else "install gmd with the extra train"
            raise ConfigError(f"bots: {kind.name} needs {', '.join(missing)}: {how}, or leave it out")
    return named


#: The most seconds of each time of a clock against the daemon's bots: a bot must not wait for days for somebody who has
#: left. It is longer than games between people and programs take.
LONGEST_CLOCK = 3 * 3_600.0


class Roster:
    """The bots that the daemon runs, by their players' ids, and the state of their games.

    :ivar at_once: the most games that they play at a time.
    :ivar queue: the games that wait for a place with them, and those that have one.
    :ivar failures: how many processes failed in their games.
    """

    def __init__(self) -> None:
        self._kinds: dict[int, BotKind] = {}
        self.at_once = 0
        self.queue = BotQueue()
        self.failures = 0

    def replace(self, kinds: Mapping[int, BotKind]) -> None:
        """Have these bots, and no others, from now on."""
        self._kinds = dict(kinds)

    def drop(self, player: int) -> None:
        """Remove a bot that plays no more."""
        self._kinds.pop(player, None)
        self.queue.keep(player, ())

    def __len__(self) -> int:
        return len(self._kinds)

    def __contains__(self, player: object) -> bool:
        return player in self._kinds

    def bots(self) -> Iterable[tuple[int, BotKind]]:
        """Return all bots with their ids, in the order of :data:`KINDS`."""
        return self._kinds.items()

    def is_full(self) -> bool:
        """Return whether every place is taken."""
        return self.queue.playing >= self.at_once

    def ahead(self, player: int | None, game_id: int) -> int | None:
        """Return how many games begin before one that a bot is invited to; None if it waits for no place."""
        return self.queue.ahead(player, game_id) if player in self._kinds and self.is_full() else None

    def check_clock(self, players: Iterable[int | None], clock: ClockOption | None) -> None:
        """Check the time control of a game that these are to play.

        :raises BadRequest: one of them is a bot, and a time is longer than :data:`LONGEST_CLOCK`.
        """
        if clock is None or not any(player in self for player in players):
            return
        for name, seconds in structs.asdict(clock).items():
            if seconds is not UNSET and seconds > LONGEST_CLOCK:
                most = f"{LONGEST_CLOCK:g} seconds, the most against the server's bots"
                raise BadRequest(f"clock.{name}: {seconds:.15g} is more than {most}")
