"""Which connection takes up a game for its player, so that two programs of one player do not both play it.

reconchess's programs say nothing of who they are but the player. ``rc-connect`` lists invitations on one connection,
accepts each on another, in a process of its own, and plays it on a third. So the server remembers on which connection
an invitation was accepted, and neither lists it nor lets it be accepted on any other: for a while, since the reply may
have been lost and the process with it; and for good from the first request in the game, which shows that it was not.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import NamedTuple

from gm_protocol.errors import NotAvailable
from gmd import loop_time

#: Seconds that a program has from accepting to its first request in the game: rc-connect makes its bot in between,
#: which may load a network. Never more than half of the time that the player has to be ready.
ACCEPTED_SECONDS = 60.0
#: Seconds after which a game is offered to the programs of the player who made it, where none has asked for it:
#: programs that play the game they have made ask at once, and nobody plays one that was made by hand.
MADE_SECONDS = 15.0
#: Claims remembered of a player's, some 300 bytes each: more than a player has games at a time. Beyond that the
#: oldest is forgotten, and its game may be accepted twice.
MAX_CLAIMS = 200


class Taken(NotAvailable):
    """Another connection of the player's has accepted an invitation."""

    def __init__(self, game_id: int) -> None:
        super().__init__(
            f"invitation {game_id}: another program of this account has accepted it and plays it; "
            "run one rc-connect for each account"
        )


class _Claim(NamedTuple):
    """Who has taken up a game, and until when nobody else may; ``inf`` from the first request in it."""

    connection: str
    until: float
    #: Whether the player made the game, and has not been invited to it.
    made: bool = False

    @property
    def stands(self) -> bool:
        return loop_time.now() < self.until


#: What stands against nobody.
_NONE = _Claim("", 0.0)


class Claims:
    """The games that players of HTTP have taken up, by player and game. A restart forgets them."""

    def __init__(self, start_seconds: float) -> None:
        """:param start_seconds: how long a player has to be ready, before it loses on time."""
        self._accepted_seconds = min(ACCEPTED_SECONDS, start_seconds / 2)
        self._made_seconds = min(MADE_SECONDS, start_seconds / 2)
        self._claims: dict[int, OrderedDict[int, _Claim]] = {}

    @contextmanager
    def accepting(self, player: int, game_id: int, connection: str) -> Iterator[None]:
        """Claim a game for a connection; where the block raises, the claim is as it was before.

        :raises Taken: another connection has claimed it.
        :raises NotAvailable: the player has made it, and it is not offered to the player's programs.
        """
        before = self._find(player, game_id) or _NONE
        if before.stands and before.connection != connection:
            raise (
                Taken(game_id)
                if before.connection
                else NotAvailable(
                    f"game_id: you made game {game_id} and have your seat in it; accept it once it is listed to you"
                )
            )
        until = inf if before.until == inf else loop_time.now() + self._accepted_seconds
        self._put(player, game_id, _Claim(connection, until, before.made))
        try:
            yield
        except BaseException:
            if before is _NONE:
                self.forget(player, game_id)
            else:
                self._put(player, game_id, before)
            raise

    def admits(self, player: int, game_id: int, connection: str) -> bool:
        """Whether a connection may take up a game, as far as is known here."""
        claim = self._find(player, game_id)
        return claim is None or not claim.stands or claim.connection == connection

    def holds(self, player: int, game_id: int, connection: str) -> bool:
        """Whether this very connection has claimed a game."""
        claim = self._find(player, game_id)
        return claim is not None and claim.connection == connection

    def act(self, player: int, game_id: int) -> None:
        """Note that the player has asked for something in a game: the program that has taken it up is there."""
        claim = self._find(player, game_id)
        if claim is not None and claim.until != inf:
            self._claims[player][game_id] = claim._replace(until=inf)

    def made(self, player: int, game_id: int) -> None:
        """Note that a player has made a game; its own programs are offered it where nobody asks for it soon."""
        self._put(player, game_id, _Claim("", loop_time.now() + self._made_seconds, made=True))

    def is_made(self, player: int, game_id: int) -> bool:
        """Whether a player has made a game that a program of its own has taken up, or may be about to."""
        claim = self._find(player, game_id)
        return claim is not None and claim.made and claim.connection != ""

    def offered(self, player: int, connection: str) -> list[int]:
        """The games that a player has made and that a connection may take up, oldest first."""
        claims = self._claims.get(player)
        mine = [game_id for game_id, claim in claims.items() if claim.made] if claims else []
        return [game_id for game_id in mine if self.admits(player, game_id, connection)]

    def forget(self, player: int, game_id: int) -> None:
        """Offer a game no more."""
        if (claims := self._claims.get(player)) is not None:
            claims.pop(game_id, None)

    def forget_player(self, player: int) -> None:
        """Forget all claims of a player who was revoked: whoever had its key is not to keep games from its owner."""
        self._claims.pop(player, None)

    def _find(self, player: int, game_id: int) -> _Claim | None:
        claims = self._claims.get(player)
        return None if claims is None else claims.get(game_id)

    def _put(self, player: int, game_id: int, claim: _Claim) -> None:
        mine = self._claims.setdefault(player, OrderedDict())
        mine[game_id] = claim
        if len(mine) > MAX_CLAIMS:
            mine.popitem(last=False)
