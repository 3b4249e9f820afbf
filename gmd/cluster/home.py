"""The hint ``home``: where the owner of a game can be reached, in replies that show a game of another daemon's."""

from __future__ import annotations

from functools import lru_cache

from gm_protocol.codec import encode
from gm_protocol.lobby import Accept, Challenge, Decline, Pair, Seek
from gm_protocol.messages import EndGame, GameFromPgn, GetState, Join, MakeMove, MakeSense, NewGame, Wait

#: Kinds whose replies show a game.
SHOW_GAME: frozenset[type] = frozenset(
    {Join, GetState, MakeMove, MakeSense, EndGame, Wait, Accept, Decline, NewGame, GameFromPgn, Challenge, Seek, Pair}
)
#: How every reply ends that is no refusal; and how one begins or goes on that shows no game.
_END = b',"error":null}'
_NO_GAME = b'"state":null'


def with_home(body: bytes, kind: type, address: str) -> bytes:
    """Return a reply with the game address of its game's owner before its last field; others unchanged.

    :param kind: of the request.
    :param address: as host:port.
    """
    if kind not in SHOW_GAME or not body.endswith(_END) or (len(body) < 256 and _NO_GAME in body):
        return body
    return body[: -len(_END)] + _field(address)


@lru_cache(1_024)
def _field(address: str) -> bytes:
    return b',"home":' + encode(address) + _END
