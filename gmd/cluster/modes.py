"""What the owner of a game does with a request that was led there, besides answering it."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from gm_protocol.errors import GmError, Moved, NoSuchGame
from gmd import dispatch
from gmd.handlers.wait import check, show_due
from gmd.requests.context import PendingReply, RefusedInGame, RequestContext
from gmd.requests.session import ClientSession

from .forwarding import ANSWER, MADE, SHOW
from .made import show_made


async def reply_to(
    request: Any, session: ClientSession, arrived: float, shows_presence: bool, mode: int, game_id: int | None
) -> PendingReply:
    """Return the reply to a request; an empty one to a check that found nothing wrong.

    :raises Moved: this daemon does not own the game.
    :raises NoSuchGame: the game to show was pruned.
    """
    if mode == ANSWER:
        return await dispatch.answer(request, session, arrived, shows_presence=shows_presence, here=True)
    player = session.player if request.player is UNSET else request.player
    context = RequestContext(session.services, session, request, player, arrived, shows_presence)
    try:
        if mode == SHOW:
            assert game_id is not None
            return await show_due(request, game_id, context)
        if mode == MADE:
            assert game_id is not None
            return await show_made(request, game_id, context)
        await check(request, context)
    except RefusedInGame as refused:
        return dispatch.refused(refused.error, request, arrived, refused.commit)
    except Moved:
        raise
    except GmError as error:
        if mode in (SHOW, MADE) and isinstance(error, NoSuchGame):
            raise
        return dispatch.refused(error, request, arrived)
    return PendingReply(b"", request, arrived)
