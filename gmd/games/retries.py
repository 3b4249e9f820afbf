"""Retries: a request that repeats its seat's latest accepted one is shown the same state again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from msgspec import Struct

from gm_protocol.errors import GmError

from .commands import End, Play, Sense
from .game import Snapshot
from .position import Position

#: Longest text of a forfeiting move that is stored unchanged; no legal move is longer.
MAX_KEPT_TEXT = 16


class Accepted(Struct, frozen=True, gc=False):
    """A seat's latest sense, or its latest move or ending.

    :ivar kind: the command that it was; :class:`Play` also for an ending, where an illegal move forfeited the game.
    :ivar action: a square's number, a move in UCI as resolved (``e7e8q`` if ``e7e8`` was requested), the text of a
        forfeiting move as :func:`kept_text` returns it, or a termination; None for sensing nothing.
    """

    kind: type[Sense | Play | End]
    ply: int
    action: str | int | None
    before: Position
    after: Snapshot
    offer_draw: bool = False


def shown_again(accepted: Accepted | None, command: Sense | End, action: str | int | None) -> Snapshot | None:
    """Return what a command is shown if it repeats its seat's accepted action; None if it does not.

    :param action: the command's, as :attr:`Accepted.action` would have it.
    """
    if accepted is None or accepted.ply != command.ply or accepted.kind is not type(command):
        return None
    return accepted.after if accepted.action == action else None


def move_shown_again(accepted: Accepted | None, command: Play, read: Callable[[Position, str], str]) -> Snapshot | None:
    """Return what a command is shown if it repeats its seat's accepted move in any spelling; None if it does not.

    :param read: returns the move that a text means in a position, in UCI; raises a :class:`GmError` if it is none.
    """
    if accepted is None or accepted.ply != command.ply or accepted.kind is not Play:
        return None
    if accepted.offer_draw != command.offer_draw:
        return None
    if accepted.action == kept_text(command.text):
        return accepted.after
    try:
        return accepted.after if read(accepted.before, command.text) == accepted.action else None
    except GmError:
        return None


def kept_text(text: str) -> str:
    """Return a move text as the game stores it, which is for ever: a digest in place of a long text."""
    return text if len(text) <= MAX_KEPT_TEXT else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
