"""Creating a game at a daemon of a cluster, as a client at some address does."""

from __future__ import annotations

from gm_protocol.messages import NewGame
from gmd.games.events import Created
from gmd.games.setup import resolve
from gmd.games.variants import make_game
from gmd.quotas import Place
from tests.cluster.memory_cluster import Member


def open_game(member: Member, peer: str, place: Place | None) -> str:
    """Create a game between open ids; return "made"."""
    request = NewGame(player_white=1, player_black=2)
    created = Created(1, 2, resolve(request, {}, 0, strict=True), "")
    member.lobby.open(make_game(created), [created], None, peer, place=place)
    return "made"
