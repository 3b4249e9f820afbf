"""The games of a file during an import, and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gmd.event_log.store import GameAppend, Restored
from gmd.games.events import AnyEvent
from gmd.games.game import Game


class BadGame(Exception):
    """A game of a file that cannot be imported; the message says why."""


class Taken(NamedTuple):
    """A game of a file, and a note for people if a part of it is left out."""

    game: Restored
    left_out: str | None = None


def restored(
    game: Game, events: Sequence[AnyEvent], ended: float | None, token: tuple[bytes, bytes] | None = None
) -> Restored:
    """Return a game in the form that a store restores; the caller assigns an id if it has none."""
    return Restored(GameAppend(game.id, 0, events, game.summary(), None), ended, token)
