"""What an event about a game carries: the live view of the game, as one JSON object."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, structs

from gm_protocol.state import ClockState

from .live import live_view_for
from .live_view import STAGES, seq_of
from .looking import Look
from .picture_view import sees_nothing
from .visit import Visit

__all__ = ["MOST_MOVES", "STAGES", "key_of", "payload", "seq_of"]

#: The most moves in an event. A page that lacks more is loaded again.
MOST_MOVES = 400


def key_of(look: Look) -> bytes:
    """Return a value that differs whenever the viewer sees another thing, apart from the time on the clocks.

    A viewer who sees nothing of the game gets only its players and its end.
    """
    state = look.state
    if sees_nothing(look):
        return msgspec.json.encode((state.player_white, state.player_black))
    clock = None if state.clock is None else ClockState(None, None)
    return msgspec.json.encode(structs.replace(state, clock=clock, board=UNSET, access_map=UNSET, pgn=UNSET))


def payload(visit: Visit, look: Look, since: int | None) -> bytes:
    """Return the JSON of a game as a viewer sees it.

    :param since: the ply after which the reader wants the moves; None for no moves.
    """
    wanted = since if since is not None and look.state.ply_index - since <= MOST_MOVES else None
    return msgspec.json.encode(live_view_for(visit, look, wanted))
