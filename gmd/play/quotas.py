"""Limits by address on new games, invitations, players and keys: rate limits, and limits on how many exist at a time.

Addresses are grouped by :func:`gmd.net.addresses.source_of`. An empty peer has no limits: the operator, and the program
that embeds the daemon. The counts are kept only in memory, so a restart resets them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gm_protocol.errors import TooMany
from gm_protocol.messages import Limits
from gmd.event_log.interface import TokenUse
from gmd.games.events import AnyEvent
from gmd.games.game import Game
from gmd.net.addresses import source_of
from gmd.play.arbiter import Arbiter
from gmd.play.live_games import LiveGame
from gmd.players.rate_limiter import RateLimiter

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
#: Changes of its settings that a player may make in a minute: a bot makes one or two when it starts.
MAX_SETTINGS_PER_MINUTE = 60
#: Seconds after which a client with too many games, or invitations, at a time should try again.
FULL_RETRY_AFTER = 60.0


class Holdings:
    """The games that each address holds, up to a limit for each address. Iteration yields the games."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._source: dict[int, str] = {}
        self._sizes: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._source)

    def size(self, peer: str) -> int:
        """Return the number of games that an address holds."""
        return self._sizes[source_of(peer)] if peer else 0

    def source(self, game_id: int) -> str:
        """Return the address that holds a game; empty if none is known to."""
        return self._source.get(game_id, "")

    def is_full(self, peer: str) -> bool:
        """Return whether an address holds as many games as it may."""
        return self.size(peer) >= self.limit

    def put(self, game_id: int, peer: str) -> None:
        """Add a game to those of an address; no effect for an empty peer."""
        if peer:
            self.drop(game_id)
            self._source[game_id] = source_of(peer)
            self._sizes[self._source[game_id]] += 1

    def __iter__(self) -> Iterator[int]:
        return iter(self._source)

    def drop(self, game_id: int) -> None:
        """Remove a game from those of its address, if it has one."""
        source = self._source.pop(game_id, None)
        if source is not None:
            self._sizes[source] -= 1
            if not self._sizes[source]:
                del self._sizes[source]


class Quotas:
    """The counts of each address, and their limits. All games that clients request are created here.

    :ivar games: the unfinished games of each address.
    :ivar pending: the games of each address that are invitations and have not begun.
    :ivar registrations: the rate limiter of registrations.
    :ivar rekeys: the rate limiter of new keys in place of old ones.
    """

    def __init__(self, arbiter: Arbiter, limits: Limits) -> None:
        self.games = Holdings(limits.max_unfinished_games)
        self.pending = Holdings(limits.max_invitations_from_address)
        self.registrations = RateLimiter("max_registrations_per_day", limits.max_registrations_per_day, DAY)
        self.rekeys = RateLimiter("max_rekeys_per_hour", limits.max_rekeys_per_hour, HOUR)
        self._made = RateLimiter("max_games_per_hour", limits.max_games_per_hour, HOUR)
        self._invited = RateLimiter("max_invitations_per_minute", limits.max_invitations_per_minute, MINUTE)
        self._set = RateLimiter(
            "settings", MAX_SETTINGS_PER_MINUTE, MINUTE, unit="changes of settings", whose="player", key=str
        )
        self._set_from = RateLimiter(
            "max_invitations_per_minute", limits.max_invitations_per_minute, MINUTE, unit="changes of settings"
        )
        self._arbiter = arbiter
        arbiter.feed.when_begun(lambda game: self.pending.drop(game.id))
        arbiter.feed.when_over(lambda game: self._drop(game.id))

    def take_invitation(self, peer: str) -> None:
        """Count a request that may create a game with another player.

        :param peer: the client, as host:port.
        :raises TooMany: too many came from this address lately, or too many of its invitations wait for answers.
        """
        if self.pending.is_full(peer):
            raise TooMany(
                f"max_invitations_from_address: {self.pending.limit} invitations from this address wait for answers; "
                "withdraw some, or wait",
                FULL_RETRY_AFTER,
            )
        self._invited.take(peer)

    def take_settings(self, peer: str, player: int) -> None:
        """Count a change of a player's settings. An address may change settings as often as it may invite.

        :param peer: the client, as host:port; an empty one has no limits.
        :raises TooMany: the player, or the address, has made too many lately.
        """
        if peer:
            self._set_from.check(peer)
            self._set.take(str(player))
            self._set_from.take(peer)

    def check_game(self, peer: str) -> None:
        """Check that an address may create another game.

        :raises TooMany: it has created too many lately, or too many of its games are not over.
        """
        self._check_unfinished(peer)
        self._made.check(peer)

    def _check_unfinished(self, peer: str) -> None:
        if self.games.is_full(peer):
            raise TooMany(
                f"max_unfinished_games: {self.games.limit} games made from this address are not over; finish some, or "
                "call them off",
                FULL_RETRY_AFTER,
            )

    def open(self, game: Game, events: Sequence[AnyEvent], token: TokenUse | None, peer: str) -> LiveGame:
        """Append a new game to the log, as :meth:`gmd.play.arbiter.Arbiter.open` does, and count it for an address.

        :param peer: the client, as host:port; an empty one has no limits.
        :raises TooMany: as :meth:`check_game` does.
        """
        self._check_unfinished(peer)
        self._made.take(peer)
        try:
            live = self._arbiter.open(game, events, token)
        except Exception:
            self._made.give_back(peer)
            raise
        if not game.over:
            self.games.put(game.id, peer)
            if game.created.invited and not game.begun:
                self.pending.put(game.id, peer)
            if live.commit is not None:
                live.commit.then(lambda error: None if error is None else self._drop(game.id))
        return live

    def _drop(self, game_id: int) -> None:
        self.games.drop(game_id)
        self.pending.drop(game_id)
