"""Requests that were not carried out, or whose game could not be shown: errors for routers and clients."""

from __future__ import annotations

from typing import Any

from gm_protocol.codec import kind_of
from gm_protocol.errors import GmError, Internal, Moved
from gm_protocol.messages import Request


class Undone(Exception):
    """An error: a request was not carried out, and is to be sent again."""


class Unshown(Exception):
    """An error: a request has made a game, which could not be shown; it must not be carried out again.

    :ivar game_id: the game.
    """

    def __init__(self, game_id: int) -> None:
        super().__init__(f"game {game_id} was made")
        self.game_id = game_id


def no_owner(request: Request, made: int | None = None) -> GmError:
    """Return the error for a request whose game, or the lobby, has had no owner for a while.

    :param made: the game that it has made.
    """
    if made is not None:
        return Internal(f"game {made} was made, and has no owner among the servers now; look at its state")
    return Moved(f"{subject(request)} has no owner among the servers now; nothing was done; send it again")


def unanswered(request: Request, made: int | None = None) -> GmError:
    """Return the error for a request all attempts at which have failed slowly, for long.

    :param made: the game that it has made.
    """
    if made is not None:
        return Internal(
            f"game {made} was made, and its servers were lost at every attempt to show it; look at its state"
        )
    return Moved(f"{subject(request)} moved, or its server was lost, at every attempt; send it again")


def unknown(request: Request) -> Moved:
    """Return the error for a request that may have been carried out."""
    return Moved(
        f"{subject(request)} was sent to a server that is gone; nobody knows whether it was done; look at the state"
    )


def subject(request: Any) -> str:
    """Return what a request is about, for an error."""
    game_id = getattr(request, "game_id", None)
    return f"{kind_of(request)}" if game_id is None else f"game {game_id}"
