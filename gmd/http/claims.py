"""Claims: which connection plays a game for its player, so that two programs of one player do not both play it.

reconchess's programs identify only the player, not themselves. ``rc-connect`` lists invitations on one connection,
accepts each on another, in a process of its own, and plays it on a third. So the server remembers the connection that
accepted an invitation, and neither lists it to any other connection nor accepts it from one. At first the claim lasts
only a while: the reply may have been lost, and the process with it. The first request in the game shows that neither
was lost, and makes the claim permanent.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import NamedTuple

from gm_protocol.errors import NotAvailable
from gmd.net import loop_time

#: Seconds that a program has from accepting an invitation to its first request in the game. In between, rc-connect
#: creates its bot, which may load a network. Never more than half of the time that the player has to be ready.
ACCEPTED_SECONDS = 60.0
#: Seconds after which a game without any request from its creator is offered to the creator's programs. A program that
#: plays the game it created sends requests at once; a game created by hand has no program yet.
MADE_SECONDS = 15.0
#: The most claims remembered for one player, some 300 bytes each; more than a player has games at a time. Beyond that
#: the oldest claim is dropped, and its game could be accepted twice.
MAX_CLAIMS = 200


class ClaimedElsewhere(NotAvailable):
    """Raised when another connection of the player has accepted an invitation."""

    def __init__(self, game_id: int) -> None:
        super().__init__(
            f"invitation {game_id}: another program of this account has accepted it and plays it; "
            "run one rc-connect for each account"
        )


class _Claim(NamedTuple):
    """The connection that claimed a game, and the end of the claim: ``inf`` from the first request in the game."""

    connection: str
    until: float
    #: Whether the player created the game, rather than being invited to it.
    made: bool = False

    @property
    def stands(self) -> bool:
        return loop_time.now() < self.until


#: A claim that excludes nobody.
_NONE = _Claim("", 0.0)


class Claims:
    """The games that players have claimed over HTTP, by player and game. A restart forgets them."""

    def __init__(self, start_seconds: float) -> None:
        """:param start_seconds: the seconds a player has to be ready before it loses on time."""
        self._accepted_seconds = min(ACCEPTED_SECONDS, start_seconds / 2)
        self._made_seconds = min(MADE_SECONDS, start_seconds / 2)
        self._claims: dict[int, OrderedDict[int, _Claim]] = {}

    @contextmanager
    def accepting(self, player: int, game_id: int, connection: str) -> Iterator[None]:
        """Claim a game for a connection; restore the previous claim if the block raises.

        :raises ClaimedElsewhere: another connection has claimed the game.
        :raises NotAvailable: the player created the game, and it is not offered to the player's programs yet.
        """
        before = self._find(player, game_id) or _NONE
        if before.stands and before.connection != connection:
            raise (
                ClaimedElsewhere(game_id)
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
        """Return whether the claims let a connection take up a game."""
        claim = self._find(player, game_id)
        return claim is None or not claim.stands or claim.connection == connection

    def holds(self, player: int, game_id: int, connection: str) -> bool:
        """Return whether this very connection has claimed a game."""
        claim = self._find(player, game_id)
        return claim is not None and claim.connection == connection

    def act(self, player: int, game_id: int) -> None:
        """Record a request of the player in a game, which shows that the program that claimed it is running."""
        claim = self._find(player, game_id)
        if claim is not None and claim.until != inf:
            self._claims[player][game_id] = claim._replace(until=inf)

    def made(self, player: int, game_id: int) -> None:
        """Record that a player created a game; it is offered to the player's programs if no request follows soon."""
        self._put(player, game_id, _Claim("", loop_time.now() + self._made_seconds, made=True))

    def knows(self, player: int, game_id: int) -> bool:
        """Return whether a claim of a player on a game is remembered, even one that has ended."""
        return self._find(player, game_id) is not None

    def made_before(self, player: int, game_id: int) -> None:
        """Record that a player created a game before a restart, when it was offered to the player's programs."""
        self._put(player, game_id, _Claim("", 0.0, made=True))

    def is_made(self, player: int, game_id: int) -> bool:
        """Return whether a player created a game that one of its own programs has taken up, or may be about to."""
        claim = self._find(player, game_id)
        return claim is not None and claim.made and claim.connection != ""

    def offered(self, player: int, connection: str) -> list[int]:
        """Return the games that a player created and that a connection may take up, oldest first."""
        claims = self._claims.get(player)
        mine = [game_id for game_id, claim in claims.items() if claim.made] if claims else []
        return [game_id for game_id in mine if self.admits(player, game_id, connection)]

    def forget(self, player: int, game_id: int) -> None:
        """Drop a player's claim on a game, which is then no longer offered."""
        if (claims := self._claims.get(player)) is not None:
            claims.pop(game_id, None)

    def forget_player(self, player: int) -> None:
        """Drop all claims of a revoked player: a thief of the old key must not keep games from their owner."""
        self._claims.pop(player, None)

    def _find(self, player: int, game_id: int) -> _Claim | None:
        claims = self._claims.get(player)
        return None if claims is None else claims.get(game_id)

    def _put(self, player: int, game_id: int, claim: _Claim) -> None:
        mine = self._claims.setdefault(player, OrderedDict())
        mine[game_id] = claim
        if len(mine) > MAX_CLAIMS:
            mine.popitem(last=False)
