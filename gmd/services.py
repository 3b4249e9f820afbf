"""What every way in needs of the daemon."""

from __future__ import annotations

from dataclasses import dataclass, field

from gm_protocol.messages import Limits
from gmd.arbiter import Arbiter
from gmd.fair_scheduler import FairScheduler
from gmd.histories import Histories
from gmd.lobby.lobby import Lobby
from gmd.memory_ledger import MemoryLedger
from gmd.metrics import Metrics
from gmd.patience import Patience
from gmd.players.authenticator import Authenticator
from gmd.ranked.play import RankedPlay
from gmd.spectators import Spectators


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of one daemon that requests have to do with, whatever way they come in."""

    arbiter: Arbiter
    #: Who the registered players are, and who is taken for one.
    authenticator: Authenticator
    #: Where they invite each other.
    lobby: Lobby
    #: Where they are given ranked games, and ratings for them.
    ranked: RankedPlay
    limits: Limits
    #: Where requests are counted.
    metrics: Metrics
    #: Who may watch live games in full.
    spectators: Spectators
    #: Where connections account for the memory that they take.
    memory: MemoryLedger
    #: How long a client may take over what it is sent.
    patience: Patience
    #: Whether open ids are refused.
    registered_only: bool = False
    #: Whose connections are read next while the event loop is loaded.
    scheduler: FairScheduler = field(default_factory=FairScheduler)
    #: Of finished games: made once for all who ask.
    histories: Histories = field(default_factory=Histories)

    def __post_init__(self) -> None:
        self.arbiter.when_pruned(lambda pruned: self.histories.forget(pruned.game_id))
