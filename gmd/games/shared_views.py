"""States of a game that are encoded once for all who are shown the same: its spectators.

A seat's view is never shared, nor kept: what it was made of could be told by how soon it is shown again.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import msgspec
from msgspec import Raw, structs

from gm_protocol.codec import encode
from gm_protocol.state import ClockState, GameState

from .game import Game
from .views import Viewer, clock_shown, game_state

#: Where the clocks go, which run on from one spectator to the next. JSON has no such byte: in strings it is escaped.
_CLOCKS = b"\0"


class SharedView(NamedTuple):
    """What a viewer without a seat is shown of a game, as JSON, on both sides of the clocks' place.

    Without a clock, all of it is in front.
    """

    front: bytes
    back: bytes

    def at(self, game: Game, elapsed: float, viewer: Viewer) -> GameState:
        """The state as it is now, encoded already: what a reply is said to hold is the JSON that it will be.

        :param thought: seconds the clock of the side to move has been running.
        """
        clock = b"" if game.clock is None else encode(clock_shown(game, elapsed, viewer))
        return cast(GameState, Raw(self.front + clock + self.back))


def shared_view(game: Game, viewer: Viewer, *, brief: bool) -> SharedView:
    """The present of a game as a viewer without a seat may see it."""
    assert viewer.seat is None
    state = game_state(game, game.now, 0.0, viewer, brief=brief)
    if state.clock is not None:
        state = structs.replace(state, clock=cast(ClockState, Raw(_CLOCKS)))
    front, _, back = msgspec.json.encode(state).partition(_CLOCKS)
    return SharedView(front, back)
