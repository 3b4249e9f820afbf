"""Seeks of clients of this daemon: it keeps each before the client learns that it waits, whoever has the lobby then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import chess
import msgspec
from msgspec import UNSET

from gm_protocol.lobby import Decline, Seek
from gm_protocol.messages import NewGame, Request
from gm_protocol.state import side_of
from gmd.requests.context import PendingReply
from gmd.requests.seated import terms_of
from gmd.requests.session import ClientSession

from .lobby.seeks import Seeks


class _Waits(msgspec.Struct):
    """What a reply to ``seek`` says of the game."""

    game_id: int | None = None


_decode = msgspec.json.Decoder(_Waits).decode


async def answer_seek(
    seeks: Seeks, request: Request, session: ClientSession, answer: Callable[[], Awaitable[PendingReply]]
) -> PendingReply:
    """Return the reply to ``seek``, or to ``decline`` without a game, and note what it says.

    :param answer: returns the reply.
    """
    player = session.player if request.player is UNSET else request.player
    if player is None:
        return await answer()
    visit = session.visit
    if isinstance(request, Seek):
        seeks.begin(player, visit if visit is not None and visit.player == player else None)
    reply = await answer()
    if reply.code is not None:
        return reply
    if isinstance(request, Decline):
        seeks.stop(player)
    elif isinstance(request, Seek) and reply.commit is None and _decode(reply.body).game_id is None:
        color: chess.Color | None = side_of(request.color)
        terms: NewGame = terms_of(request)
        seeks.acknowledge(player, color, terms)
    return reply
