"""The processor time of an attacker's requests, after a victim's hidden action and without it.

The attacker does what the server's timing once allowed: it makes a game from each position that its opponent may have,
and measures how soon the reply comes. It also measures in the game itself, whenever it may ask.

Each pair of samples is of a position that no other sample has used. The samples are compared by a rank statistic, the
area under the curve: how often a sample of one kind is larger than one of the other, ties counted half; 0.5 means that
time reveals nothing.
"""

from __future__ import annotations

import gc
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import chess

from gm_recon import ReconGame
from tests.helpers import Json, memory_daemon
from tests.noninterference import quiet
from tests.probing import Server

ATTACKER, VICTIM, BYSTANDER = 1, 2, 3

#: How many samples of each request are thrown away, while the interpreter specialises.
WARM_UP = 20

#: Samples of each request, in nanoseconds: without the hidden action, and after it.
Samples = dict[str, tuple[list[int], list[int]]]


async def probe(pairs: int, seed: int) -> Samples:
    """Measure each of the attacker's requests so many times, without the victim's hidden action and after it."""
    samples: Samples = defaultdict(lambda: ([], []))
    rng = random.Random(seed)
    positions = _positions(rng)
    with quiet():
        async with memory_daemon() as daemon:
            server = Server(daemon)
            for pair in range(-WARM_UP, pairs):
                kept: Samples = samples if pair >= 0 else defaultdict(lambda: ([], []))
                for probing in (_guess, _look_on):
                    for hidden in rng.sample([False, True], 2):
                        with without_garbage():
                            await probing(_Probe(server, rng, kept, hidden), positions)
    return samples


def standard_error(pairs: int) -> float:
    """Return the area's standard error (Mann and Whitney's) for so many samples of either kind that do not differ."""
    return math.sqrt((2 * pairs + 1) / (12 * pairs * pairs))


def curve_area(samples: tuple[Sequence[float], Sequence[float]]) -> float:
    """Return the chance that a sample of the second kind is larger than one of the first, counting ties for half."""
    without, behind = samples
    merged = sorted([(value, 0) for value in without] + [(value, 1) for value in behind])
    wins = ties = smaller = 0.0
    index = 0
    while index < len(merged):
        end = index
        while end < len(merged) and merged[end][0] == merged[index][0]:
            end += 1
        behind_here = sum(kind for _, kind in merged[index:end])
        without_here = end - index - behind_here
        wins += behind_here * smaller
        ties += behind_here * without_here
        smaller += without_here
        index = end
    return (wins + ties / 2) / (len(without) * len(behind))


class _Probe:
    """One sample of each request.

    The victim's requests keep the processor busy, and leave its caches in another state: that is measurable, as
    ``docs/explanation/what-a-player-may-see.md`` says, and is not what this looks for. So the same requests are made in
    either case, if not in the same game; and a game of other players, which is always the same, comes between them and
    the measurement.
    """

    def __init__(self, server: Server, rng: random.Random, samples: Samples, hidden: bool) -> None:
        self.server, self.rng, self.samples, self.hidden = server, rng, samples, hidden

    async def timed(self, name: str, kind: str, **fields: object) -> Json:
        """Make a request as the attacker, and keep its time."""
        reply = await self.server.ask(kind, ATTACKER, **fields)
        self.samples[f"{kind} {name}"][self.hidden].append(self.server.cost)
        return reply

    async def timed_in_any_order(self, name: str, requests: dict[str, Json], game_id: int) -> None:
        """Make several requests in a game."""
        for kind, fields in self.rng.sample(list(requests.items()), len(requests)):
            await self.timed(name, kind, game_id=game_id, **fields)

    async def new_game(self, position: ReconGame, mover: int, other: int) -> int:
        """Make a game from a position; return its id."""
        white, black = (mover, other) if position.turn else (other, mover)
        made = await self.server.act("new_game", white, **_options(position.board.fen(), white, black))
        game_id: int = made["game_id"]
        return game_id

    async def look(self, game_id: int, player: int) -> None:
        """Let a player ask for all that is its own."""
        for kind in ("state", "actions"):
            await self.server.act(kind, player, game_id=game_id)

    async def turn(self, game_id: int, player: int, move: chess.Move | None) -> None:
        """Let a player take its turn, looking before and after each action."""
        await self.sense(game_id, player)
        await self.move(game_id, player, move)

    async def sense(self, game_id: int, player: int) -> None:
        await self.look(game_id, player)
        await self.server.act("sense", player, game_id=game_id, square="e4")
        await self.look(game_id, player)

    async def move(self, game_id: int, player: int, move: chess.Move | None) -> None:
        await self.server.act("move", player, game_id=game_id, move=None if move is None else move.uci())
        await self.look(game_id, player)

    async def settle(self) -> None:
        """Let players who have no part in the probe play."""
        made = await self.server.act("new_game", 11, **_options(chess.STARTING_FEN, 11, 12))
        await self.turn(made["game_id"], 11, chess.Move.from_uci("e2e4"))
        await self.look(made["game_id"], 12)


async def _guess(probe: _Probe, positions: Iterator[ReconGame]) -> None:
    """Let the victim move, unseen, then make a game from a possible result of the move, and make requests there.

    The position is the true result where something hidden can be found, or else the result of another move.
    """
    position = next(positions)
    moved, other = probe.rng.sample(_quiet_moves(position), 2)
    await probe.turn(await probe.new_game(position, VICTIM, BYSTANDER), VICTIM, moved)
    await probe.settle()
    guess = position.board.copy()
    guess.push(moved if probe.hidden else other, None)
    made = await probe.timed("from a guess", "new_game", **_options(guess.fen(), ATTACKER, ATTACKER))
    game_id = made["game_id"]
    to_move, waiting = ("white", "black") if guess.turn else ("black", "white")
    for kind in ("state", "actions"):
        await probe.timed("of a guess, as the victim", kind, game_id=game_id, seat=waiting)
        await probe.timed("of a guess, as oneself", kind, game_id=game_id, seat=to_move)
    seat: Json = {"game_id": game_id, "seat": to_move}
    await probe.timed("in a guess", "wait", **seat, timeout=0)
    await probe.timed("in a guess", "sense", **seat, square="d4")
    await probe.timed("in a guess", "move", **seat, move=None)


async def _look_on(probe: _Probe, positions: Iterator[ReconGame]) -> None:
    """Let the victim sense and move in the attacker's game, and not in another of its games, or the other way round;
    the attacker makes its requests in between.
    """
    position = next(positions)
    attacked, elsewhere = [await probe.new_game(position, VICTIM, player) for player in (ATTACKER, BYSTANDER)]
    await probe.look(attacked, ATTACKER)
    acted, other = (attacked, elsewhere) if probe.hidden else (elsewhere, attacked)
    await probe.sense(acted, VICTIM)
    await probe.settle()
    await probe.server.ask("history", ATTACKER, game_id=attacked)
    asked: dict[str, Json] = {"state": {}, "actions": {}, "wait": {"timeout": 0}}
    refused: dict[str, Json] = {"sense": {"square": "e4"}, "move": {"move": None}}
    await probe.timed_in_any_order("behind a sense", asked | refused, attacked)
    await probe.sense(other, VICTIM)
    await probe.move(acted, VICTIM, probe.rng.choice(_quiet_moves(position)))
    await probe.move(other, VICTIM, None)
    await probe.settle()
    await probe.server.ask("history", ATTACKER, game_id=attacked)
    await probe.timed_in_any_order("behind a move", asked, attacked)
    await probe.timed("behind a move", "sense", game_id=attacked, square=None)
    await probe.timed("behind a move", "move", game_id=attacked, move=None)


def _options(fen: str, white: int, black: int) -> Json:
    players = {"player_white": white, "player_black": black}
    return {**players, "variant": "rbc", "fen": fen, "clock": None, "reversible_moves": None}


def _positions(rng: random.Random) -> Iterator[ReconGame]:
    """Yield games in progress, each in a position that no other has."""
    while True:
        game = ReconGame(reversible_moves=None)
        for _ in range(rng.randint(16, 40)):
            game.sense(None)
            game.move(rng.choice(game.move_actions()))
            if game.is_over():
                break
        else:
            if len(_quiet_moves(game)) >= 2:
                yield game


def _quiet_moves(game: ReconGame) -> list[chess.Move]:
    """Return the moves that are made as requested and capture nothing."""
    return [move for move in game.move_actions() if game.board.revise(move) == (move, None)]


@contextmanager
def without_garbage() -> Iterator[None]:
    """Collect garbage in between: a collection comes at any time, and depends on no request."""
    gc.collect(0)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
