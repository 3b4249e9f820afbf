"""The bots that come with gmd: which there are, and those that a daemon runs as players of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import get_args

from msgspec import Struct

from gm_protocol.options import Variant
from gmd.config import ConfigError

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


class Roster:
    """The bots that the daemon runs, by their players' ids, and the state of their games.

    :ivar at_once: the most games that they play at a time.
    :ivar running: the games that have a process, as pairs of a bot's id and a game's.
    :ivar failures: how many processes failed in their games.
    """

    def __init__(self) -> None:
        self._kinds: dict[int, BotKind] = {}
        self.at_once = 0
        self.running: set[tuple[int, int]] = set()
        self.failures = 0

    def replace(self, kinds: Mapping[int, BotKind]) -> None:
        """Have these bots, and no others, from now on."""
        self._kinds = dict(kinds)

    def drop(self, player: int) -> None:
        """Remove a bot that plays no more."""
        self._kinds.pop(player, None)

    def __len__(self) -> int:
        return len(self._kinds)

    def __contains__(self, player: int) -> bool:
        return player in self._kinds

    def bots(self) -> Iterable[tuple[int, BotKind]]:
        """Return all bots with their ids, in the order of :data:`KINDS`."""
        return self._kinds.items()

    def waiting(self, player: int, invited_to: Collection[int]) -> list[int]:
        """Return the games of a bot that have no process yet, of those that it is invited to."""
        return [game_id for game_id in invited_to if (player, game_id) not in self.running]

    def ahead(self, player: int | None, game_id: int, invited_to: Collection[int]) -> int | None:
        """Return how many invitations a bot takes before one that waits for a place; None if that waits for none.

        :param invited_to: the games that the bot is invited to, in the order in which it takes them.
        """
        if player not in self._kinds or (player, game_id) in self.running or len(self.running) < self.at_once:
            return None
        waiting = self.waiting(player, invited_to)
        return waiting.index(game_id) if game_id in waiting else None
