"""The bots that come with gmd: which there are, and those that a daemon runs as players of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    :ivar about: what distinguishes it from others of its make.
    :ivar seeded: whether each game needs a seed of its own among the options, so that games differ.
    :ivar rejoins: whether a new process can go on with a game in progress.
    :ivar needs: the modules of an extra that it needs.
    """

    name: str
    make: str
    spec: str
    variants: tuple[str, ...]
    about: str
    seeded: bool = False
    rejoins: bool = True
    needs: tuple[str, ...] = ()


def _minimax(name: str, options: str, about: str, *, seeded: bool = False) -> BotKind:
    return BotKind(
        name=name,
        make="minimax",
        spec=f"minimax:{options}",
        variants=("standard", "rbc"),
        about=about,
        seeded=seeded,
    )


#: All bots. The levels of minimax are those of ``gmd play``; the plain name has the level that is the default there.
KINDS = (
    _minimax("minimax", "depth=3,margin=20", "casual: looks 3 plies ahead, and errs by up to 0.2 pawns", seeded=True),
    _minimax(
        "minimax-beginner", "depth=1,margin=100", "beginner: looks 1 ply ahead, and errs by up to 1 pawn", seeded=True
    ),
    _minimax(
        "minimax-novice", "depth=2,margin=50", "novice: looks 2 plies ahead, and errs by up to 0.5 pawns", seeded=True
    ),
    _minimax("minimax-club", "movetime=1", "club: thinks 1 s a move"),
    _minimax("minimax-expert", "movetime=5", "expert: thinks 5 s a move"),
    BotKind(
        name="random",
        make="random",
        spec="random",
        variants=EVERY_VARIANT,
        about="senses and moves at random",
    ),
    BotKind(
        name="recon-zero",
        make="recon-zero",
        spec="recon-zero",
        variants=("rbc",),
        about="tracks the possible positions, and searches them with a network",
        rejoins=False,
        needs=("numpy", "torch"),
    ),
)


def kinds_of(setting: str) -> list[BotKind]:
    """Return the bots that the setting ``bots`` names: makes and single bots, separated by commas, or ``none``.

    :raises ConfigError: it names another bot.
    """
    wanted = [word.strip() for word in setting.split(",") if word.strip()]
    if wanted == ["none"]:
        return []
    for word in wanted:
        if not any(word in (kind.name, kind.make) for kind in KINDS):
            known = ", ".join(dict.fromkeys(name for kind in KINDS for name in (kind.make, kind.name)))
            raise ConfigError(f"bots: {word!r} is not a bot of gmd's; name some of {known}, or none")
    return [kind for kind in KINDS if kind.name in wanted or kind.make in wanted]


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
