"""Errors that a turn may have in any variant."""

from __future__ import annotations

from gm_protocol.messages import FIRST_REGISTERED
from tests.helpers import Json

#: A player without a seat.
NOBODY = 77

#: Errors in game 1 (live, White to move, ply 0) or 2 (over): codes and the fields that cause them, in order of
#: checking.
WRONG_TURN: list[tuple[str, Json]] = [
    ("bad_request", {"brief": "yes"}),
    ("bad_request", {"player": None}),
    ("no_such_game", {"game_id": 9}),
    ("unauthorized", {"player": FIRST_REGISTERED}),
    ("not_a_player", {"player": NOBODY}),
    ("game_over", {"game_id": 2}),
    ("stale", {"ply": 5}),
    ("not_your_turn", {"player": 2}),
]
