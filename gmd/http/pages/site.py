"""What all pages share, for as long as the daemon runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from .static_files import StaticFiles
from .visitor import Sessions


@dataclass(frozen=True, slots=True)
class HouseBot:
    """A bot that is always there to be played.

    :ivar player: its registered player, which is named in the game.
    :ivar name: its name on pages, with its level.
    :ivar variants: the variants that it plays.
    """

    player: int
    name: str
    variants: frozenset[str]


@dataclass(frozen=True, slots=True)
class Site:
    """The pages' state.

    :ivar sessions: the visitors' cookies.
    :ivar static: the static files.
    :ivar bots: the bots that answer invitations at any time; the part of the daemon that runs them fills the list.
    """

    sessions: Sessions
    static: StaticFiles = field(default_factory=StaticFiles)
    bots: list[HouseBot] = field(default_factory=list)
