"""Whose contests and shared matches a request is about."""

from __future__ import annotations

from gm_protocol.errors import Unauthorized
from gmd.contests.contest import Owner

from .context import RequestContext
from .permission import authorise


def reporting_owner(context: RequestContext) -> Owner:
    """Return whose contests and matches a request is about: the player's, the operator's, or those of any client.

    :raises Unauthorized: the player is not the client's, or the server refuses clients without a registered player.
    """
    authorise(context)
    owner = Owner.of(context.player, is_operator=context.session.is_operator)
    if owner == Owner() and context.services.registered_only:
        raise Unauthorized("player: this server takes reports of contests from registered players only")
    return owner
