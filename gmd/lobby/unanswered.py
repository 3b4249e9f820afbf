"""Replaying the log's unanswered invitations at the daemon's start."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import trio

from gmd.event_log.interface import Unanswered
from gmd.games.game_note import GameNote, note_of
from gmd.games.notation import run_through
from gmd.games.variants import replayed
from gmd.logger import get_logger

logger = get_logger(__name__)

#: Games replayed before other tasks get a turn: some milliseconds.
GAMES_A_STEP = 32


async def games_of(unanswered: Iterable[Unanswered]) -> AsyncIterator[GameNote]:
    """Yield notes of replayed games. One that cannot be replayed is left out; a request for it fails."""
    for number, (game_id, events) in enumerate(unanswered, 1):
        try:
            game = run_through(replayed(game_id, events))
        except Exception:
            logger.exception("a game cannot be replayed", game_id=game_id)
            continue
        yield note_of(game)
        if number % GAMES_A_STEP == 0:
            await trio.lowlevel.checkpoint()
