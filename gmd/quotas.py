"""How much one address may make: games, invitations, players and keys; so many in a period, and so many at a time.

An address is what :func:`gmd.addresses.source_of` makes of a session's peer. An empty peer has no limits: the operator,
and the program that the daemon runs in. What an address has made is kept in memory alone, so a restart forgets it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from gm_protocol.errors import TooMany
from gmd.addresses import source_of
from gmd.arbiter import Arbiter
from gmd.config import Config
from gmd.event_log.interface import TokenUse
from gmd.games.events import AnyEvent
from gmd.games.game import Game
from gmd.live_games import LiveGame
from gmd.rate_limiter import RateLimiter

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
#: Seconds after which a client may ask again whether it has fewer games, or invitations, at a time.
FULL_RETRY_AFTER = 60.0


class QuotaLimits(Struct, frozen=True, kw_only=True):
    """What one address may make. Each is named as the setting that gives it."""

    max_games_per_hour: int
    max_unfinished_games: int
    max_invitations_per_minute: int
    max_invitations_from_address: int
    max_registrations_per_day: int
    max_rekeys_per_hour: int


#: Where the daemon listens on loopback alone: what no program on this machine comes near, unless it runs wild. A
#: benchmark starts some thousand games a second.
ON_LOOPBACK = QuotaLimits(
    max_games_per_hour=10_000_000,
    max_unfinished_games=1_000_000,
    max_invitations_per_minute=60_000,
    max_invitations_from_address=20_000,
    max_registrations_per_day=100_000,
    max_rekeys_per_hour=100_000,
)
#: Elsewhere: a class of 50 bots behind one address. A double round robin of theirs has 2,450 games, and may be played
#: twice in an hour with as many games beside it; the 25 games that are on at a time leave room for 400 times as many
#: that were given up without an end. Games of five seconds make 50 bots
#: seek 1,200 times a minute. Each bot may have the 20 invitations out that ``max_invitations`` allows, may be
#: registered six times a day, and may lose its key twelve times an hour.
ELSEWHERE = QuotaLimits(
    max_games_per_hour=10_000,
    max_unfinished_games=10_000,
    max_invitations_per_minute=1_500,
    max_invitations_from_address=1_000,
    max_registrations_per_day=300,
    max_rekeys_per_hour=600,
)


def quota_limits(config: Config, *, local: bool) -> QuotaLimits:
    """Return what the settings say, and where one says nothing, the default for where the daemon listens.

    :param local: whether strangers can reach no port of it (:func:`gmd.limits.is_private`).
    """
    default = ON_LOOPBACK if local else ELSEWHERE
    given = {name: getattr(config, name) for name in QuotaLimits.__struct_fields__}
    return QuotaLimits(**{name: getattr(default, name) if value is None else value for name, value in given.items()})


class Holdings:
    """Which games each address holds, up to a number."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._source: dict[int, str] = {}
        self._sizes: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._source)

    def size(self, peer: str) -> int:
        """How many an address holds."""
        return self._sizes[source_of(peer)] if peer else 0

    def is_full(self, peer: str) -> bool:
        """Whether an address holds as many as it may."""
        return self.size(peer) >= self.limit

    def put(self, game_id: int, peer: str) -> None:
        """Let an address hold a game. An empty one holds none."""
        if peer:
            self.drop(game_id)
            self._source[game_id] = source_of(peer)
            self._sizes[self._source[game_id]] += 1

    def drop(self, game_id: int) -> None:
        """Let nobody hold a game."""
        source = self._source.pop(game_id, None)
        if source is not None:
            self._sizes[source] -= 1
            if not self._sizes[source]:
                del self._sizes[source]


class Quotas:
    """What each address has made, against what it may make. All games that clients ask for are made here.

    :ivar limits: what an address may make.
    :ivar games: those of its games that are not over.
    :ivar pending: those of its games that are invitations, and have not begun.
    :ivar registrations: the players it has registered.
    :ivar rekeys: the keys it was given in place of others.
    """

    def __init__(self, arbiter: Arbiter, limits: QuotaLimits) -> None:
        self.limits = limits
        self.games = Holdings(limits.max_unfinished_games)
        self.pending = Holdings(limits.max_invitations_from_address)
        self.registrations = RateLimiter("max_registrations_per_day", limits.max_registrations_per_day, DAY)
        self.rekeys = RateLimiter("max_rekeys_per_hour", limits.max_rekeys_per_hour, HOUR)
        self._made = RateLimiter("max_games_per_hour", limits.max_games_per_hour, HOUR)
        self._invited = RateLimiter("max_invitations_per_minute", limits.max_invitations_per_minute, MINUTE)
        self._arbiter = arbiter
        arbiter.when_begun(lambda game: self.pending.drop(game.id))
        arbiter.when_over(lambda game: self._drop(game.id))

    def take_invitation(self, peer: str) -> None:
        """Count a request that may make a game for somebody else.

        :param peer: where it comes from, as host:port.
        :raises TooMany: too many came from there, or too many that did wait for their answers.
        """
        if self.pending.is_full(peer):
            raise TooMany(
                f"max_invitations_from_address: {self.pending.limit} invitations from this address wait for answers; "
                "withdraw some, or wait",
                FULL_RETRY_AFTER,
            )
        self._invited.take(peer)

    def check_game(self, peer: str) -> None:
        """See to it that an address may make another game.

        :raises TooMany: it has made too many of late, or too many of its games are not over.
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
        """Take in a new game, as :meth:`gmd.arbiter.Arbiter.open` does, that counts for an address.

        :param peer: who asks for it, as host:port; an empty one has no limits.
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
