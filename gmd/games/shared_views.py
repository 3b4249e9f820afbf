"""States of a game that are encoded once for all its spectators, who are shown the same.

A seat's view is neither shared nor cached: the time of a reply would reveal whether the view was made before.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import msgspec
from msgspec import Raw, structs

from gm_protocol.codec import encode
from gm_protocol.state import ClockState, GameState

from .game import Game
from .views import Viewer, clock_shown, game_state

#: Placeholder for the clocks, which change from one reply to the next. JSON escapes this byte, so it cannot occur.
_CLOCKS = b"\0"


class SharedView(NamedTuple):
    """The JSON of a game's state for a viewer without a seat, before and after the clocks.

    Without a clock, all of it is in ``front``.
    """

    front: bytes
    back: bytes

    def at(self, game: Game, elapsed: float, viewer: Viewer) -> GameState:
        """Return the present state as encoded JSON, under the type of a reply's field.

        :param elapsed: seconds for which the clock of the side to move has been running.
        """
        clock = b"" if game.clock is None else encode(clock_shown(game, elapsed, viewer))
        return cast(GameState, Raw(self.front + clock + self.back))


def shared_view(game: Game, viewer: Viewer, *, brief: bool) -> SharedView:
    """Return the present state of a game as a viewer without a seat may see it."""
    assert viewer.seat is None
    state = game_state(game, game.now, 0.0, viewer, brief=brief)
    if state.clock is not None:
        state = structs.replace(state, clock=cast(ClockState, Raw(_CLOCKS)))
    front, _, back = msgspec.json.encode(state).partition(_CLOCKS)
    return SharedView(front, back)
