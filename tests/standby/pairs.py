"""Pairs of bots that play games with clocks, and measure their own time, while the daemon fails."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import chess
import trio

from gm_client.trio_client import Client, Turn

#: The clock of every game: no outage of a test may end one on time.
CLOCK = {"initial": 3_000, "increment": 0}
#: The longest that a bot thinks about a turn, in seconds.
LONGEST_THOUGHT = 0.03
#: Seconds for which a client tries again.
PATIENCE = 240


@dataclass
class Action:
    """An action that a client knows to have been carried out.

    :ivar since: when its clock may have begun to run at the earliest, in trio's time.
    :ivar acknowledged: when the reply came.
    """

    ply: int
    event: str
    what: str | None
    since: float
    acknowledged: float


@dataclass
class Played:
    """A game, as its two players know it.

    :ivar over: the states that each of them saw at the end.
    """

    game_id: int
    variant: str
    actions: list[Action] = field(default_factory=list)
    over: list[dict[str, Any]] = field(default_factory=list)
    #: When the last action was begun: no clock of the next one runs before.
    since: float = 0.0
    #: The plies after which the player to move resigns.
    length: int = 0


class Pair:
    """Two players, who play one game after the other until they are told to stop.

    :ivar games: all their games.
    """

    def __init__(self, number: int, servers: str, acknowledged: Callable[[int, float], None], length: int) -> None:
        """:param servers: the addresses of all daemons, separated by commas.
        :param acknowledged: called after each acknowledged action with the pair's number, and when it was begun.
        :param length: the longest game, in plies.
        """
        self.games: list[Played] = []
        self.stops = False
        self._number = number
        self._servers, self._acknowledged, self._length = servers, acknowledged, length
        self._rng = random.Random(f"pair {number}")
        self._variant = ("standard", "rbc")[number % 2]

    async def play(self) -> None:
        """Play games until :attr:`stops`, the last one to its end."""
        white, black = (Client(self._servers, patience=PATIENCE, player=2 * self._number + seat) for seat in (1, 2))
        async with white, black:
            while not self.stops:
                made = await white.new_game(
                    white_id := 2 * self._number + 1, white_id + 1, variant=self._variant, clock=CLOCK
                )
                game = Played(made["game_id"], self._variant, since=trio.current_time())
                game.length = self._rng.randint(2, self._length)
                self.games.append(game)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._play, white, game)
                    nursery.start_soon(self._play, black, game)
                assert len(game.over) == 2

    async def _play(self, client: Client, game: Played) -> None:
        last: list[Any] = []
        turns = client.turns(game.game_id, over=last.append)
        async for turn in turns:
            await trio.sleep(self._rng.random() * LONGEST_THOUGHT)
            await self._act(turn, game)
        game.over += last

    async def _act(self, turn: Turn, game: Played) -> None:
        if turn.ply >= game.length:
            since, game.since = game.since, trio.current_time()
            await turn.resign()
            self._note(game, Action(turn.ply, "ended", None, since, trio.current_time()), game.since)
            return
        if turn.sense_actions:
            square = self._rng.choice(turn.sense_actions)
            since, game.since = game.since, trio.current_time()
            await turn.sense(square)
            self._note(game, Action(turn.ply, "sensed", square, since, trio.current_time()), game.since)
        move = self._rng.choice([*turn.move_actions])
        since, game.since = game.since, trio.current_time()
        reply = await turn.move(move)
        assert game.variant == "rbc" or reply["state"]["last_move"] is not None
        self._note(game, Action(turn.ply, "moved", move, since, trio.current_time()), game.since)

    def _note(self, game: Played, action: Action, begun: float) -> None:
        game.actions.append(action)
        self._acknowledged(self._number, begun)


def replay(moves: list[str]) -> chess.Board:
    """Return the board after moves of standard chess; an illegal one fails."""
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    return board
