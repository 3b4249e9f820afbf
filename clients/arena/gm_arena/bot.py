"""The interface between a bot and the code that runs it: a bot takes the turns of one seat of one game.

A bot of blind chess is better written as a :class:`gm_recon.Player`, which also plays without a server;
:class:`gm_arena.player_bot.PlayerBots` makes bots of players.

A package adds a bot to ``gmd match``, ``connect`` and ``play`` by an entry point of the group ``gmd.bots``: a function
that takes the options by keyword, as text, and returns its :class:`Bots`. It raises :exc:`BotUnusable` for options that
it does not know.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import chess
import trio

from gm_client.blocking import Color, GameState, HistoryReply, PlayerNames
from gm_client.trio_client import Turn
from gm_protocol.state import COLOR_NAMES

__all__ = ["Bot", "Bots", "Place", "BotFailed", "BotUnusable"]

#: What a bot did wrong: it ended or raised an exception; did not answer; made an illegal move; broke its protocol; or
#: wrote too much.
Fault = Literal["crash", "stall", "illegal move", "protocol", "flood"]


class BotFailed(Exception):
    """A bot has failed to do what it must. The text is a sentence for the log.

    :ivar details: the bot's own output about it, such as a traceback; may be empty.
    :ivar fault: the kind of failure.
    """

    def __init__(self, message: str, details: str = "", *, fault: Fault = "crash") -> None:
        super().__init__(message)
        self.details = details
        self.fault: Fault = fault


class BotUnusable(Exception):
    """The bot that was asked for cannot play. The text says what is missing and what to do."""


@dataclass
class Place:
    """The seat that a bot plays.

    :ivar opponent: the other player's id; None while nobody has taken that seat.
    :ivar options: the game's options, as the reply to ``join`` has them; empty until the seat is taken.
    :ivar names: the players' names by colour; None for a player without a name.
    :ivar seed: the seed of a bot that plays at random, which makes a game repeatable; None for a random one.
    :ivar invites: whether the bot has invited the opponent, who has not accepted yet.
    :ivar read_moves: asks the server for the moves so far, in UCI; for games without hidden information.
    """

    game_id: int
    color: chess.Color
    variant: str
    start_fen: str
    opponent: int | None
    read_moves: Callable[[], Awaitable[list[str]]]
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    invites: bool = False
    names: PlayerNames = field(default_factory=lambda: PlayerNames(white=None, black=None))

    @property
    def seat(self) -> Color:
        """The protocol's word for the colour."""
        return COLOR_NAMES[self.color]

    @property
    def opponent_name(self) -> str:
        """The opponent's name; its id if it has no name."""
        return self.names[COLOR_NAMES[not self.color]] or str(self.opponent)


class Bot(ABC):
    """One bot in one game. Its failures are raised as :class:`BotFailed`; it is closed in any case.

    :ivar score: the bot's score of its latest move, from its own side: centipawns (``+35``) or moves to mate (``#3``,
        ``#-2``); None if the bot gives none.
    :ivar depth: the plies that it has searched for that move; None if it does not say so.
    """

    score: str | None = None
    depth: int | None = None

    @abstractmethod
    async def begin(self, place: Place) -> None:
        """Prepare for the game, before any clock runs."""

    @abstractmethod
    async def take_turn(self, turn: Turn) -> None:
        """Make the turn's action: sense, move, accept a draw or resign.

        The turn may end before the bot notices: its actions then have no effect. This call may be cancelled.
        """

    @abstractmethod
    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        """Take note that the game is over.

        :param history: asks the server for the history of the game.
        """

    @abstractmethod
    async def aclose(self) -> None:
        """Release everything, whatever the bot is doing. No other method is called afterwards."""


class Bots(ABC):
    """A factory of bots of one make: every game gets its own bot.

    :ivar name: the name shown to people.
    :ivar variants: the variants that the bots play; for some makes known only once a bot has started.
    :ivar defaults: the fields of ``new_game`` that apply where the user gives none.
    :ivar joins_late: whether a bot can take over a game after its first moves.
    """

    name: str
    variants: frozenset[str]
    defaults: ClassVar[dict[str, Any]]
    joins_late: ClassVar[bool] = True

    def has_threads(self, variant: str) -> bool:
        """Return whether the bots think in threads of this process in a variant, and not in processes of their own."""
        return False

    @abstractmethod
    async def start(self, nursery: trio.Nursery) -> Bot:
        """Start a new bot, ready for its game.

        :param nursery: runs the bot's background tasks until it is closed.
        :raises BotFailed: the bot does not start.
        """


class Stillborn(Bot):
    """A bot that failed to start; each call raises that failure, so that its game is given up."""

    def __init__(self, failure: BotFailed) -> None:
        self._failure = failure

    async def begin(self, place: Place) -> None:
        raise self._failure

    async def take_turn(self, turn: Turn) -> None:
        raise self._failure

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        raise self._failure

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""
