"""Games of the Python clients over connections that break at random bytes, while the daemon is killed and
restarted, are the same as without disturbance.
"""

from __future__ import annotations

import queue
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from gm_client import trio_client
from tests.chaos import Chaos, chaos
from tests.clients.python_clients import Clients, Json
from tests.proofs import cases
from tests.serving import served

#: Seconds after which a game counts as hanging.
PATIENCE = 120

#: A turn has about two kilobytes, so the connection is cut every few turns, and several times in a game.
BYTES_BETWEEN_CUTS = 5_000
CUTS_BETWEEN_RESTARTS = 30

VARIANTS: list[Json] = [
    {"variant": "rbc", "max_turns": 10},
    {"variant": "standard", "max_moves": 10},
    {"variant": "crazyhouse", "max_moves": 10},
]

#: The arguments of each player's client.
Accounts = list[Json]
OPEN: Accounts = [{"player": 1}, {"player": 2}]

#: What one bot has seen of a game: its states and the results of all its actions, without the clocks.
Seen = list[Any]


class Bot:
    """Bot that decides at random and records what it sees."""

    def __init__(self, seed: str) -> None:
        self._rng = random.Random(seed)
        self.seen: Seen = []

    def sense(self, turn: Any) -> str:
        self.note(turn.state, turn.sense_actions, turn.move_actions)
        return self._rng.choice(turn.sense_actions)

    def move(self, turn: Any) -> str | None:
        self.note(turn.state, turn.move_actions)
        return self._rng.choice(turn.move_actions or [None])

    def note(self, *things: Any) -> None:
        self.seen.append([_settled(thing) for thing in things])


def _settled(thing: Any) -> Any:
    """Return a value without the parts that differ from game to game."""
    if not isinstance(thing, dict):
        return thing
    return {name: _settled(value) for name, value in thing.items() if name not in {"clock", "game_id", "pgn"}}


def play(
    clients: Clients, port: int, bot: Bot, accounts: Accounts, side: int, options: Json, games: queue.Queue[int]
) -> None:
    """Play one side of a game. White creates it and passes its id to Black, who joins."""
    client = clients.unconnected(port, **accounts[side], patience=PATIENCE)
    if side == 0:
        white, black = (account["player"] for account in accounts)
        games.put(client.new_game(white, black, brief=True, **options)["game_id"])
    game_id = games.get(timeout=PATIENCE)
    games.put(game_id)
    if side == 1:
        client.join(game_id)
    for turn in client.turns(game_id, over=bot.note, brief=True):
        if turn.sense_actions:
            turn.sense(bot.sense(turn))
            bot.note(turn.reply)
        bot.note(turn.move(bot.move(turn)))
    clients.close(client)


async def registered(port: int) -> Accounts:
    """Register two players and return their accounts."""
    async with trio_client.Client(port=port) as client:
        replies = [await client.register(name) for name in ("white", "black")]
        return [{"player": reply["player"], "key": reply["key"]} for reply in replies]


async def game(clients: Clients, port: int, seed: int, options: Json, accounts: Accounts) -> tuple[int, list[Seen]]:
    """Play a game between two bots, registered ones if the seed is odd; return its id, and what each bot has seen."""
    bots = [Bot(f"{seed} white"), Bot(f"{seed} black")]
    games: queue.Queue[int] = queue.Queue()
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            for side, bot in enumerate(bots):
                arguments = (clients, port, bot, accounts if seed % 2 else OPEN, side, options, games)
                nursery.start_soon(trio.to_thread.run_sync, play, *arguments)
    return games.get(), [bot.seen for bot in bots]


async def history(port: int, game_id: int) -> Json:
    """Return the moves and the history of a finished game."""
    async with await trio_client.connect(port=port) as client:
        reply: Json = dict(await client.history(game_id))
        assert (await client.state(game_id))["state"]["phase"] == "over"
    return {name: reply[name] for name in ("moves", "history")}


async def restart(proxy: Chaos, start: Callable[[], int], cuts_between: int) -> None:
    """Kill the daemon and start another after every given number of cut connections."""
    while True:
        for _ in range(cuts_between):
            await proxy.cut.wait()
        proxy.target = await trio.to_thread.run_sync(start)


@pytest.mark.slow
async def test_games_are_the_same_with_and_without_chaos(clients: Clients, tmp_path: Path) -> None:
    count = len(VARIANTS) * max(1, cases(1) // 2)
    plans = [(seed, VARIANTS[seed % len(VARIANTS)]) for seed in range(count)]
    with served() as calm:
        accounts = await registered(calm.port)
        expected = [await game(clients, calm.port, seed, options, accounts) for seed, options in plans]
        histories = [await history(calm.port, game_id) for game_id, _ in expected]

    stack = Daemons(tmp_path / "data")
    try:
        async with chaos(count, stack.start(), BYTES_BETWEEN_CUTS) as proxy, trio.open_nursery() as nursery:
            nursery.start_soon(restart, proxy, stack.start, CUTS_BETWEEN_RESTARTS)
            ids, accounts = [], await registered(proxy.port)
            for (seed, options), (_, seen) in zip(plans, expected, strict=True):
                game_id, again = await game(clients, proxy.port, seed, options, accounts)
                assert again == seen
                ids.append(game_id)
            nursery.cancel_scope.cancel()
        port = stack.start()
        assert [await history(port, game_id) for game_id in ids] == histories
        assert ids == list(range(1, count + 1))  # no lost reply led to a second game
        print(f"{proxy.cuts} cuts, {stack.started - 2} restarts")
        assert proxy.cuts > 4 * count
        assert stack.started - 2 >= max(1, count // 10)
    finally:
        stack.stop()


class Daemons:
    """Daemons that serve the same games one after the other; each is killed before the next is started.

    :ivar started: how many daemons there have been.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._running: Any = None
        self.started = 0

    def start(self) -> int:
        """Start the next daemon and return its port."""
        self.stop()
        self._running = served("--data", str(self._data))
        self.started += 1
        port: int = self._running.__enter__().port
        return port

    def stop(self) -> None:
        """Kill the running daemon."""
        if self._running is not None:
            self._running.__exit__(None, None, None)
            self._running = None
