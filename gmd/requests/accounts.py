"""Finding the registered player that a request names."""

from __future__ import annotations

from gm_protocol.errors import BadRequest, NotAvailable, quote
from gmd.players.account import Account

from .context import RequestContext


def find_account(player: int | None, name: str | None, context: RequestContext) -> Account:
    """Return the account of the player that a request names, by id or by name.

    :raises BadRequest: neither is given, or both.
    :raises NotAvailable: no such player is registered.
    """
    registry = context.services.authenticator.registry
    if name is not None and player is not None:
        raise BadRequest(f"name: {name!r} and player are both given; send one of them")
    account = registry.named(name) if name is not None else None if player is None else registry.get(player)
    if account is not None:
        return account
    if name is not None:
        raise NotAvailable(f"name: nobody is registered as {quote(name)}")
    if player is not None:
        raise NotAvailable(f"player: nobody is registered as {player}")
    raise BadRequest("player: missing; give it, or a name")
