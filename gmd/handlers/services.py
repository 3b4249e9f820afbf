"""The services of a daemon that requests use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gm_protocol.messages import Limits
from gmd.lobby.contests import Contests, MemoryContests
from gmd.lobby.lobby import Lobby
from gmd.lobby.ranked import RankedPlay
from gmd.lobby.roster import Roster
from gmd.net.fair_scheduler import FairScheduler
from gmd.net.memory_ledger import MemoryLedger
from gmd.net.metrics import Metrics
from gmd.net.send_timeout import SendTimeout
from gmd.play.arbiter import Arbiter
from gmd.play.beliefs import Beliefs
from gmd.play.histories import Histories
from gmd.play.spectators import Spectators
from gmd.players.authenticator import Authenticator

if TYPE_CHECKING:
    from gmd.event_log.lease import Lease


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
    send_timeout: SendTimeout
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
    #: The right to serve a database; None where the games are in SQLite or in memory.
    lease: Lease | None = None

    def __post_init__(self) -> None:
        self.arbiter.feed.when_pruned(lambda pruned: self.histories.forget(pruned.game_id))
