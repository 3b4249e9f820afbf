"""The identity that a session has proved."""

from __future__ import annotations

from typing import NamedTuple


class Authenticated(NamedTuple):
    """A player and the digest of its key, which a session has proved once and need not send again."""

    player: int
    key: bytes
