"""Reading games again from the log, whose changes may not have been reported."""

from __future__ import annotations

from collections.abc import Iterable

import trio

from gm_protocol.errors import GmError
from gmd.event_log.interface import EventLog
from gmd.games.game_note import GameNote, note_of
from gmd.games.notation import run_through
from gmd.games.variants import replayed
from gmd.logger import get_logger

from .news import News

logger = get_logger(__name__)

#: Games read before other tasks get a turn: some milliseconds.
GAMES_A_STEP = 16


async def read_again(log: EventLog, news: News, game_ids: Iterable[int]) -> list[GameNote]:
    """Read games from the log, and have the lobby take them in; return them.

    A game that cannot be read is left out: a request for it fails, too.
    """
    found = []
    for number, game_id in enumerate(sorted(game_ids), 1):
        try:
            events = await log.load(game_id)
            note = note_of(run_through(replayed(game_id, events)), len(events)) if events else None
        except GmError as error:
            logger.warning("a game cannot be read", game_id=game_id, reason=str(error))
            continue
        except Exception:
            logger.exception("a game cannot be replayed", game_id=game_id)
            continue
        if note is not None:
            news.take_game(note)
            found.append(note)
        if number % GAMES_A_STEP == 0:
            await trio.lowlevel.checkpoint()
    return found
