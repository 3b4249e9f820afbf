"""All shared matches: their rate limits."""

from __future__ import annotations

from gm_protocol.errors import BadRequest
from gm_protocol.work import WorkShare
from gmd.logger import get_logger
from gmd.rate_limiter import RateLimiter

from .claim import Claim, OtherMatch
from .store import MatchesNotWritten, MatchStore

logger = get_logger(__name__)

#: Matches that an address may begin in an hour, and requests for a match in a minute: of a worker some dozen a second.
BEGUN_PER_HOUR, REQUESTS_PER_MINUTE = 300, 6_000


class Matches:
    """The matches that several machines play together."""

    def __init__(self, store: MatchStore) -> None:
        self._store = store
        self._begun = RateLimiter("work", BEGUN_PER_HOUR, 3_600.0, unit="matches")
        self._requests = RateLimiter("work", REQUESTS_PER_MINUTE, 60.0, unit="requests", whose="match", key=str)

    async def work(self, claim: Claim, peer: str) -> WorkShare:
        """Carry out a worker's request, whose first one begins the match.

        :param peer: the client, as host:port; an empty one has no limit on new matches.
        :raises BadRequest: the match has other arguments.
        :raises TooMany: the address has begun too many matches, or too many requests for this one came.
        :raises MatchesNotWritten: it failed; its message says whether anything may have been done.
        """
        self._requests.take(claim.token.hex())
        share = await self._store.work(claim, begin=False)
        if share is None:
            self._begun.take(peer)
            share = await self._store.work(claim, begin=True)
            await self._sweep()
        if isinstance(share, OtherMatch):
            raise BadRequest(f"claim: {share.difference}: give all workers the same, or choose another token")
        assert share is not None
        return share

    async def _sweep(self) -> None:
        """Remove the games of the matches that made room. What fails is done after the next match has begun."""
        try:
            while await self._store.sweep():
                pass
        except MatchesNotWritten as error:
            logger.warning("games of forgotten matches are not removed yet", reason=str(error))
