"""What a file's game is on its way into a log, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gmd.event_log.store import GameAppend, Restored
from gmd.games.events import AnyEvent
from gmd.games.game import Game


class BadGame(Exception):
    """A game of a file that cannot be imported; the message says why."""


class Taken(NamedTuple):
    """A game of a file, and what of it is left out, for people; nothing mostly."""

    game: Restored
    left_out: str | None = None


def restored(
    game: Game, events: Sequence[AnyEvent], ended: float | None, token: tuple[bytes, bytes] | None = None
) -> Restored:
    """A game as a log takes it in; its id is yet to be given where it has none."""
    return Restored(GameAppend(game.id, 0, events, game.summary(), None), ended, token)
