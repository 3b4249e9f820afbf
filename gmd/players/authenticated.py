"""What somebody has shown of who they are."""

from __future__ import annotations

from typing import NamedTuple


class Authenticated(NamedTuple):
    """What a session has shown once and is taken to know from then on: a player's key, by its digest."""

    player: int
    key: bytes
