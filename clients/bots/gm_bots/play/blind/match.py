"""A game of blind chess between a person and a bot, on a daemon in this process.

The bot plays in a thread of its own, as it would for ``gmd connect``; the person in the main thread, through the
blocking client.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from threading import Thread
from types import TracebackType
from typing import Any, Self

import chess
import trio

from gm_arena.bot import Bots, Place
from gm_arena.match.trial import started
from gm_arena.seat import play_seat
from gm_client import chess_client, trio_client
from gm_client.blocking import Color, GameState
from gm_client.chess_client import Turn

#: The player ids of the two.
PERSON, BOT = 1, 2

COLORS: tuple[Color, Color] = ("black", "white")


class Match:
    """One game. Leaving its ``with`` block ends the game, whether it is over or not, and its bot.

    :ivar color: the person's colour.
    :ivar opponent: the bot's name.
    :ivar start: the start position.
    :ivar over: the last state, once the game is over.
    """

    def __init__(
        self, port: int, bots: Bots, color: chess.Color, *, name: str, fen: str | None = None, seed: int | None = None
    ) -> None:
        """Begin a game, and let the bot take its seat.

        :param port: the daemon's port, on this machine.
        :param name: the bot's name.
        :param seed: the seed of the bot's random choices; None for a random one.
        :raises BotFailed: the bot does not start.
        """
        self.color, self.opponent = color, name
        self.over: GameState | None = None
        self._client = chess_client.connect(port=port, player=PERSON, patience=0)
        white, black = (PERSON, BOT) if color else (BOT, PERSON)
        options: dict[str, Any] = {} if fen is None else {"fen": fen}
        game = self._client.new_game(white, black, variant="rbc", clock=None, brief=True, **options)
        self._game_id, self.start = game["game_id"], chess.Board(game["state"]["start_fen"])
        self._failures = _Failures()
        place = Place(self._game_id, not color, "rbc", self.start.fen(), PERSON, _no_moves, seed=seed)
        self._bot = _BotThread(bots, place, port)
        try:
            self._bot.start()
        except BaseException:
            self.close()
            raise

    def turns(self) -> Iterator[Turn]:
        """Yield the person's turns as they come; after the last one, :attr:`over` is set."""

        def ended(state: GameState) -> None:
            self.over = state

        yield from self._client.turns(self._game_id, seat=COLORS[self.color], over=ended)

    def history(self) -> dict[str, Any]:
        """Return the game so far as reconchess's GameHistory, with the players' names."""
        history = self._client.history(self._game_id)["history"]
        assert history is not None  # a game of blind chess has one
        names = ("you", self.opponent) if self.color else (self.opponent, "you")
        return {**history, "white_name": names[0], "black_name": names[1]}

    @property
    def failure(self) -> str | None:
        """The bot's failure in a sentence, or None."""
        return self._failures.first

    def close(self) -> None:
        """End the game, whatever the bot is doing."""
        self._bot.close()
        self._client.close()
        self._failures.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        self.close()


async def _no_moves() -> list[str]:
    """Return no moves: nobody may read the moves of a blind game in progress."""
    return []


class _BotThread:
    """A bot that plays its seat in a thread."""

    def __init__(self, bots: Bots, place: Place, port: int) -> None:
        self._bots, self._place, self._port = bots, place, port
        self._ready: Future[None] = Future()
        self._scope = trio.CancelScope()
        self._token: trio.lowlevel.TrioToken | None = None
        self._thread = Thread(target=trio.run, args=(self._play,), name="gmd play's bot", daemon=True)

    def start(self) -> None:
        """Start the thread, and return when the bot is ready.

        :raises BotFailed: the bot does not start.
        """
        self._thread.start()
        self._ready.result()

    async def _play(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with self._scope:
            async with trio.open_nursery() as background:
                try:
                    await self._take_seat(background)
                except Exception as error:  # an error of the nursery's tasks would also come as a group
                    if self._ready.done():
                        raise
                    self._ready.set_exception(error)
                background.cancel_scope.cancel()
        self._ready.cancel()

    async def _take_seat(self, background: trio.Nursery) -> None:
        bot = await started(self._bots, background)
        self._ready.set_result(None)
        async with trio_client.Client(port=self._port, player=BOT, patience=0) as client:
            await play_seat(client, self._place, bot)

    def close(self) -> None:
        if self._token is not None and self._thread.is_alive():
            try:
                self._token.run_sync_soon(self._scope.cancel)
            except trio.RunFinishedError:
                return
            self._thread.join()


class _Failures(logging.Handler):
    """A handler that keeps the arena's log of a bot's failure."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first: str | None = None
        self._logger = logging.getLogger("gm_arena.seat")
        self._propagated, self._logger.propagate = self._logger.propagate, False
        self._logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or record.getMessage().splitlines()[0]

    def close(self) -> None:
        self._logger.removeHandler(self)
        self._logger.propagate = self._propagated
        super().close()


def saved(history: Mapping[str, Any]) -> str:
    """Return a history in the file format that ``gmd replay`` and ``rc-replay`` read."""
    return json.dumps(history) + "\n"
