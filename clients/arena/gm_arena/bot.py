"""What a bot is to whoever lets it play: somebody who takes the turns of one seat of one game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import trio

from gm_client.blocking import Color, GameState, HistoryReply, PlayerNames
from gm_client.trio_client import Turn

#: What a bot does wrong: it ends or raises; does not answer; moves where it may not; says what its protocol does not
#: know, or too much.
Fault = Literal["crash", "stall", "illegal move", "protocol", "flood"]


class BotFailed(Exception):
    """A bot does not do what it has to. Its text is a sentence for the log.

    :ivar details: what the bot itself had to say, such as a traceback; may be empty.
    :ivar fault: of what sort it is.
    """

    def __init__(self, message: str, details: str = "", *, fault: Fault = "crash") -> None:
        super().__init__(message)
        self.details = details
        self.fault: Fault = fault


class BotUnusable(Exception):
    """What was asked for is no bot that could play: what is missing, and what to do."""


@dataclass
class Place:
    """A seat that a bot plays.

    :ivar opponent: the other player's id; None while nobody has taken that seat.
    :ivar options: the game's, as the reply to ``join`` has them; empty until the seat is taken.
    :ivar names: what the players are called, by colour; None for a player without a name.
    :ivar seed: what a bot that plays at random is to draw from, so that the same game is played again; None for chance.
    :ivar read_moves: asks the server for the moves so far, in UCI; for games in which everything is seen.
    """

    game_id: int
    color: Color
    variant: str
    start_fen: str
    opponent: int | None
    read_moves: Callable[[], Awaitable[list[str]]]
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    names: PlayerNames = field(default_factory=lambda: PlayerNames(white=None, black=None))

    @property
    def opponent_name(self) -> str:
        """What the opponent is called; its id if it has no name."""
        return self.names["black" if self.color == "white" else "white"] or str(self.opponent)


class Bot(ABC):
    """One bot in one game. Whatever it does wrong is a :class:`BotFailed`; it is closed in any case.

    :ivar score: what it thought of its latest move, for itself: centipawns (``+35``) or moves to mate (``#3``,
        ``#-2``); None if it does not say.
    """

    score: str | None = None

    @abstractmethod
    async def begin(self, place: Place) -> None:
        """The game begins. No clock runs yet."""

    @abstractmethod
    async def take_turn(self, turn: Turn) -> None:
        """Do something in a turn of the bot's: sense, move, take a draw or resign.

        The turn may be over sooner than the bot knows: what it does then does nothing. This may be cancelled.
        """

    @abstractmethod
    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        """The game is over.

        :param history: asks for the whole of it.
        """

    @abstractmethod
    async def aclose(self) -> None:
        """Leave nothing behind, whatever the bot is doing. Nothing else is called afterwards."""


class Bots(ABC):
    """Where bots of one make come from: every game has its own.

    :ivar name: what people know them by.
    :ivar variants: what they play; for some only known once one was started.
    :ivar defaults: the fields of ``new_game`` where nothing else is said.
    :ivar joins_late: whether they can play on where others have played before.
    """

    name: str
    variants: frozenset[str]
    defaults: ClassVar[dict[str, Any]]
    joins_late: ClassVar[bool] = True

    @abstractmethod
    async def start(self, nursery: trio.Nursery) -> Bot:
        """A new bot, ready for its game.

        :param nursery: has what goes on beside it, until that is closed.
        :raises BotFailed: it does not start.
        """


class Stillborn(Bot):
    """A bot that did not start, in a game that was counting on it."""

    def __init__(self, failure: BotFailed) -> None:
        self._failure = failure

    async def begin(self, place: Place) -> None:
        raise self._failure

    async def take_turn(self, turn: Turn) -> None:
        raise self._failure

    async def end(self, state: GameState, history: Callable[[], Awaitable[HistoryReply]]) -> None:
        raise self._failure

    async def aclose(self) -> None:
        """There is nothing to close."""
