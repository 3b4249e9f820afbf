"""Tokens, which identify repeated requests for a game."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import UNSET, structs

from gm_protocol.errors import BadRequest, NoSuchGame, quote
from gm_protocol.messages import GameRequest
from gmd.event_log.interface import TokenUse
from gmd.games.variants import VARIANTS
from gmd.handlers.context import RequestContext
from gmd.handlers.permission import authorise
from gmd.play.live_games import LiveGame

#: Most characters of a token in ``register`` and ``rekey``.
MAX_TOKEN = 256


def token_use(request: GameRequest, player: int | None) -> TokenUse | None:
    """Return the use of a request's token: the player, and digests of token and request; None without a token."""
    if request.token is None:
        return None
    content = structs.replace(request, id=None, token=None, brief=False, player=UNSET, key=UNSET)
    if not VARIANTS[request.variant or "standard"].null_is_an_answer:
        content = structs.replace(
            content, clock=None if request.clock is UNSET else request.clock, reversible_moves=UNSET
        )
    return TokenUse(player, _digest(request.token.encode()), _digest(msgspec.json.encode(content)))


def _digest(data: bytes) -> bytes:
    """Return the digest of a client's text, 32 bytes, which is kept as long as the game."""
    return hashlib.sha256(data).digest()


async def made_before(token: TokenUse, name: str | None, context: RequestContext) -> LiveGame | None:
    """Return the game that the same request created before; None for none. It authorises the request again afterwards.

    :param name: the token, as the client sent it.
    :raises BadRequest: the token was used with another request.
    :raises Unauthorized: the player's key was revoked or replaced while the log was read.
    """
    live = await _made_before(token, name, context)
    authorise(context)
    return live


async def _made_before(token: TokenUse, name: str | None, context: RequestContext) -> LiveGame | None:
    arbiter = context.services.arbiter
    made = await arbiter.log.made_under(token.player, token.token, context.session.peer)
    if made is None:
        return None
    game_id, content = made
    if content != token.content:
        message = f"token: {quote(name)} was used for another game ({game_id}), asked for with other fields"
        raise BadRequest(message)
    try:
        return await arbiter.live_game(game_id, context.session.peer)
    except NoSuchGame:
        return None  # it has just been pruned, and its token with it


def check_token(token: str | None) -> None:
    """Check the length of a token.

    :raises BadRequest: it is empty or too long.
    """
    if token is not None and not 1 <= len(token) <= MAX_TOKEN:
        raise BadRequest(f"token: {len(token)} characters are not between 1 and {MAX_TOKEN}")
