"""Bots of gmd as opponents in :mod:`gm_env`'s environments. It needs the extra ``env``, and no server."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import chess
import numpy as np
import trio
from numpy.typing import NDArray

from gm_client.blocking import PlayerNames
from gm_env.observed_turn import ObservedTurn
from gm_env.opponents import RESIGN, Decisions, Ends

from .bot import Bot, BotFailed, Bots, BotUnusable, Place
from .env_turns import LEARNER, Ended, EnvTurn, history_of, over
from .specs import bots_of

__all__ = ["BotOpponent"]


class BotOpponent:
    """Any bot of gmd's that plays RBC as an :class:`gm_env.opponents.Opponent`, a bot for each game::

        env = gymnasium.make("gm_env.gymnasium:gmd/RBC-v0", opponent=BotOpponent("minimax:depth=2"))

    Bots are named as for ``gmd match``: ``random``, ``minimax:depth=2``, ``recon-zero:checkpoint=latest.pt``,
    ``reconchess:FILE``, or any other entry point of ``gmd.bots``. They play as in a game of ``gmd connect`` without a
    clock, those of several games at once; a bot learns what its move came to when its next turn begins. Each game has a
    seed that is drawn from the environment's.

    A bot that fails, or makes an illegal move, loses its game by resignation, with a RuntimeWarning; with
    ``failing="raise"`` the :class:`BotFailed` leaves the environment, which must be reset then. :meth:`close`, which
    the environment's calls, ends the bots' processes.
    """

    def __init__(
        self, bot: str | Bots, *, options: Mapping[str, str] | None = None, failing: Literal["lose", "raise"] = "lose"
    ) -> None:
        """:param bot: its name, or what makes bots.
        :param options: those of the bot, beside the ones in its name.
        :raises BotUnusable: the text names no bot, or one that does not play RBC.
        """
        if isinstance(bot, str):
            bot = bots_of(bot, options=options or {}, seconds=None, depth=None, nodes=None)
        if "rbc" not in bot.variants:
            raise BotUnusable(f"{bot.name} plays {', '.join(sorted(bot.variants))}, and not RBC")
        self._bots, self._failing = bot, failing
        self._tables: dict[int, _Table] = {}
        self._played = 0
        self._loop: _Loop | None = None

    def begin(self, games: NDArray[np.int64], colors: NDArray[np.int32]) -> None:
        """Give up the games that are not finished in these places."""
        for game in games.tolist():
            if (table := self._tables.pop(game, None)) is not None and self._loop is not None:
                self._loop.give_up(table)

    def __call__(self, decisions: Decisions) -> NDArray[np.int64]:
        """Return an action for each decision; RESIGN for a bot that fails."""
        self._loop = self._loop or _Loop()
        fens, observed = decisions.start_fens(), decisions.observations()
        for row, game in enumerate(decisions.games.tolist()):
            if game not in self._tables:
                self._played += 1
                seed = int(decisions.rng.integers(2**53))
                place = _place(self._played, bool(decisions.colors[row]), fens[row], seed)
                self._tables[game] = _Table(place)
        rows = [
            (self._tables[game], ObservedTurn(observed[row], bool(decisions.colors[row])))
            for row, game in enumerate(decisions.games.tolist())
        ]
        return np.array([self._judged(answer) for answer in self._loop.ask(self._bots, rows)], np.int64)

    def end(self, ends: Ends) -> None:
        """Tell the bots of games that are over."""
        observed = ends.observations()
        rows = [
            (table, Ended(ObservedTurn(observed[row], table.place.color), ends.history(row)))
            for row, game in enumerate(ends.games.tolist())
            if (table := self._tables.pop(game, None)) is not None
        ]
        if rows and self._loop is not None:
            for answer in self._loop.ask(self._bots, rows):
                self._judged(answer)

    def close(self) -> None:
        """End all bots."""
        self._tables.clear()
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def _judged(self, answer: int | Exception) -> int:
        if isinstance(answer, int):
            return answer
        if self._failing == "raise":
            raise answer
        warnings.warn(f"{self._bots.name} has failed: {answer}. It loses the game.", RuntimeWarning, stacklevel=3)
        return RESIGN


def _place(game_id: int, color: chess.Color, fen: str, seed: int) -> Place:
    async def read_moves() -> list[str]:
        raise BotFailed("the moves of a game of RBC are hidden until it is over")

    names = PlayerNames(white=None, black="learner") if color else PlayerNames(white="learner", black=None)
    return Place(game_id, color, "rbc", fen, LEARNER, read_moves, seed=seed, names=names)


class _Table:
    """A bot's game, which a task of its own plays in the loop.

    :ivar scope: cancelling it gives the game up.
    """

    def __init__(self, place: Place) -> None:
        self.place, self.game_id, self.start_fen = place, place.game_id, place.start_fen
        self.own: dict[str, Any] = {"last_sense": None, "last_result": None}
        self.scope, self.has_begun, self._is_over = trio.CancelScope(), False, False
        self._to_bot, self._observed = trio.open_memory_channel[ObservedTurn | Ended](1)
        self._acted, self._from_bot = trio.open_memory_channel[int | Exception](1)

    async def ask(self, observed: ObservedTurn | Ended) -> int | Exception:
        """Tell the bot; return its action, or what it failed by. After the end of the game the action means nothing."""
        await self._to_bot.send(observed)
        return await self._from_bot.receive()

    async def act(self, action: int) -> ObservedTurn | Ended:
        """Take an action; return what the bot observes next."""
        await self._acted.send(action)
        return await self._receive()

    async def _receive(self) -> ObservedTurn | Ended:
        observed = await self._observed.receive()
        self._is_over = isinstance(observed, Ended)
        return observed

    async def play(self, bots: Bots) -> None:
        """Play the game with a new bot."""
        with self.scope:
            try:
                await self._play(bots)
            except Exception as error:  # whatever a bot raises goes to the learner, whose game it ends
                failure = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
                await self._acted.send(failure)
                if not self._is_over:
                    await self._receive()
                    await self._acted.send(RESIGN)

    async def _play(self, bots: Bots) -> None:
        async with trio.open_nursery() as nursery:
            bot = await bots.start(nursery)
            try:
                await self._follow(bot)
            finally:
                with trio.CancelScope(shield=True):
                    await bot.aclose()
                nursery.cancel_scope.cancel()

    async def _follow(self, bot: Bot) -> None:
        await bot.begin(self.place)
        observed = await self._receive()
        while not isinstance(observed, Ended):
            turn = EnvTurn(self, observed)
            await bot.take_turn(turn)
            if turn.following is None:
                raise BotFailed("it has made no move in its turn", fault="protocol")
            observed = turn.following
        await bot.end(over(self, observed), history_of(observed))
        await self._acted.send(RESIGN)


class _Loop:
    """trio in a thread of its own, where the bots live."""

    def __init__(self) -> None:
        ready = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=(self._main, ready), name="gm_arena bots", daemon=True)
        self._thread.start()
        ready.wait()

    async def _main(self, ready: threading.Event) -> None:
        self._token = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as self._nursery:
            ready.set()
            await trio.sleep_forever()

    def ask(self, bots: Bots, rows: Sequence[tuple[_Table, ObservedTurn | Ended]]) -> list[int | Exception]:
        """Tell bots, all at once; return their answers in the same order."""
        return trio.from_thread.run(self._ask, bots, rows, trio_token=self._token)

    async def _ask(self, bots: Bots, rows: Sequence[tuple[_Table, ObservedTurn | Ended]]) -> list[int | Exception]:
        answers: list[int | Exception] = [RESIGN] * len(rows)

        async def ask(number: int, table: _Table, observed: ObservedTurn | Ended) -> None:
            answers[number] = await table.ask(observed)

        async with trio.open_nursery() as nursery:
            for number, (table, observed) in enumerate(rows):
                if not table.has_begun:
                    table.has_begun = True
                    self._nursery.start_soon(table.play, bots)
                nursery.start_soon(ask, number, table, observed)
        return answers

    def give_up(self, table: _Table) -> None:
        """End a game."""
        trio.from_thread.run_sync(table.scope.cancel, trio_token=self._token)

    def close(self) -> None:
        """End all games, and the thread."""
        trio.from_thread.run_sync(self._nursery.cancel_scope.cancel, trio_token=self._token)
        self._thread.join()
