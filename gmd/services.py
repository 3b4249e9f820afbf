"""The services of a daemon that requests use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import chess

from gm_protocol.messages import Limits, Request
from gmd.arbiter import Arbiter
from gmd.beliefs import Beliefs
from gmd.cluster.directory import Directory
from gmd.cluster.links import Links
from gmd.cluster.vitals import ClusterVitals, HttpCounts
from gmd.contests.book import Contests
from gmd.contests.opening import MemoryContests
from gmd.fair_scheduler import FairScheduler
from gmd.histories import Histories
from gmd.lobby.lobby import Lobby
from gmd.memory_ledger import MemoryLedger
from gmd.metrics import Metrics
from gmd.patience import Patience
from gmd.players.authenticator import Authenticator
from gmd.ranked.play import RankedPlay
from gmd.roster import Roster
from gmd.spectators import Spectators


class Cluster(Protocol):
    """What a daemon that is one of several does with requests: :class:`gmd.cluster.router.Router`.

    :ivar directory: who owns what.
    :ivar links: the connections to other daemons.
    :ivar pages_key: signs the cookies of visitors, at all daemons.
    :ivar http_counts: of the HTTP side, which shows in the vitals.
    :ivar presence_known: returns when the lobby's owner knows who has sessions here; None where nobody needs to know.
    """

    directory: Directory
    links: Links
    pages_key: bytes
    http_counts: HttpCounts
    presence_known: Callable[[], Awaitable[None]] | None

    async def answer(self, request: Request, session: Any, arrived: float, shows_presence: bool) -> Any:
        """Return the reply to a request, from here or from another daemon, as :func:`gmd.dispatch.answer` does."""

    def delivered(self, player: int, game_id: int, seats: Sequence[chess.Color]) -> None:
        """Note that a client has acknowledged the result of a game, for these of its player's seats."""

    def interrupt(self) -> None:
        """Have all waits at other daemons end now."""

    def vitals(self) -> ClusterVitals:
        """Return what this daemon shows of itself among the others, for metrics."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one daemon that requests use, over TCP, HTTP or in-process."""

    arbiter: Arbiter
    #: Checks keys and passwords; has the registered players.
    authenticator: Authenticator
    #: Invitations between registered players.
    lobby: Lobby
    #: Pairs players for ranked games, and rates them.
    ranked: RankedPlay
    limits: Limits
    #: Counts requests.
    metrics: Metrics
    #: Decides who may watch live games in full.
    spectators: Spectators
    #: Counts the memory that connections hold.
    memory: MemoryLedger
    #: The timeout and the lowest rate for clients that read replies.
    patience: Patience
    #: Whether open ids are refused.
    registered_only: bool = False
    #: Matches and tournaments, as their runners report them.
    contests: Contests = field(default_factory=lambda: Contests(MemoryContests()))
    #: Decides whose connections are read next while the event loop is loaded.
    scheduler: FairScheduler = field(default_factory=FairScheduler)
    #: Caches the histories of finished games.
    histories: Histories = field(default_factory=Histories)
    #: The possible positions of players of blind chess.
    beliefs: Beliefs = field(default_factory=Beliefs)
    #: The bots that the daemon runs.
    roster: Roster = field(default_factory=Roster)
    #: The other daemons; None for a daemon that is alone.
    cluster: Cluster | None = None

    def __post_init__(self) -> None:
        self.arbiter.feed.when_pruned(lambda pruned: self.histories.forget(pruned.game_id))
