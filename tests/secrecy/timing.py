"""The processor time of an attacker's requests, with something hidden from it and without it.

In blind chess the attacker does what the server's timing once allowed: it makes a game from each position that its
opponent may have, and measures how soon the reply comes. It also measures in the game itself, whenever it may ask. In
Dark chess, it measures after either of two moves that look the same to it.

The samples are compared by a rank statistic, the area under the curve: how often a sample of one kind is larger than
one of the other, ties counted half; 0.5 means that time reveals nothing.

The victim's requests keep the processor busy, and leave its caches in another state: that is measurable, as
``docs/explanation/what-a-player-may-see.md`` says, and is not what this looks for. So in blind chess the same requests
are made in either case, if not in the same game; and a game of other players, which is always the same, comes between
them and the measurement.
"""

from __future__ import annotations

import gc
import random
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import chess

from gm_recon import ReconGame
from tests.helpers import Json, memory_daemon
from tests.secrecy.noninterference import quiet
from tests.secrecy.probing import Server

ATTACKER, VICTIM, BYSTANDER = 1, 2, 3

#: How many samples of each request are thrown away, while the interpreter specialises.
WARM_UP = 20

#: Samples of each request, in nanoseconds: without the hidden action, and after it.
Samples = dict[str, tuple[list[int], list[int]]]


class Probe:
    """One sample of each request, without something hidden or with it."""

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

    async def sense(self, game_id: int, player: int) -> None:
        """Let a player sense, looking before and after it."""
        await self.look(game_id, player)
        await self.server.act("sense", player, game_id=game_id, square="e4")
        await self.look(game_id, player)

    async def move(self, game_id: int, player: int, move: chess.Move | None) -> None:
        """Let a player move, looking after it."""
        await self.server.act("move", player, game_id=game_id, move=None if move is None else move.uci())
        await self.look(game_id, player)

    async def settle(self) -> None:
        """Let players who have no part in the probe play."""
        made = await self.server.act("new_game", 11, **_options(chess.STARTING_FEN, 11, 12))
        await self.sense(made["game_id"], 11)
        await self.move(made["game_id"], 11, chess.Move.from_uci("e2e4"))
        await self.look(made["game_id"], 12)


async def measure(pairs: int, seed: int, *ways: Callable[[Probe], Awaitable[None]]) -> Samples:
    """Measure each of the attacker's requests so many times, with something hidden and without it.

    :param ways: each takes one sample of some requests.
    """
    samples: Samples = defaultdict(lambda: ([], []))
    rng = random.Random(seed)
    with quiet():
        async with memory_daemon() as daemon:
            server = Server(daemon)
            for pair in range(-WARM_UP, pairs):
                kept: Samples = samples if pair >= 0 else defaultdict(lambda: ([], []))
                for way in ways:
                    for hidden in rng.sample([False, True], 2):
                        with _without_garbage():
                            await way(Probe(server, rng, kept, hidden))
    return samples


def curve_area(samples: tuple[Sequence[float], Sequence[float]]) -> float:
    """Return the chance that a sample of the second kind is larger than one of the first, counting ties for half."""
    without, behind = sorted(samples[0]), samples[1]
    wins = sum(bisect_left(without, value) + bisect_right(without, value) for value in behind)
    return wins / 2 / len(without) / len(behind)


async def measure_blind_chess(pairs: int, seed: int) -> Samples:
    """Measure an attacker's requests in blind chess, each pair of samples in a position that no other has used."""
    positions = _positions(random.Random(seed))

    async def guess(probe: Probe) -> None:
        await _guess(probe, next(positions))

    async def look_on(probe: Probe) -> None:
        await _look_on(probe, next(positions))

    return await measure(pairs, seed, guess, look_on)


async def _guess(probe: Probe, position: ReconGame) -> None:
    """Let the victim move, unseen, then make a game from a possible result of the move, and make requests there.

    The position is the true result where something hidden can be found, or else the result of another move.
    """
    moved, other = probe.rng.sample(_quiet_moves(position), 2)
    victims = await probe.new_game(position, VICTIM, BYSTANDER)
    await probe.sense(victims, VICTIM)
    await probe.move(victims, VICTIM, moved)
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


async def _look_on(probe: Probe, position: ReconGame) -> None:
    """Let the victim sense and move in the attacker's game, and not in another of its games, or the other way round;
    the attacker makes its requests in between.
    """
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
def _without_garbage() -> Iterator[None]:
    """Collect garbage in between: a collection comes at any time, and depends on no request."""
    gc.collect(0)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# --- Dark chess ------------------------------------------------------------------------------------------------------


class _Scene(NamedTuple):
    """A position, two moves of the opponent that look the same to White, and White's answer."""

    fen: str
    moves: tuple[str, str]
    answer: str


#: The first move of each pair leaves less to be found by a search than the second.
SCENES = {
    "beside a pawn": _Scene("4k3/8/8/8/1p1p4/2N5/{}/4K3 b - - 0 1", ("d4c3", "b4c3"), "e2e4"),
    "with castling rights": _Scene("r3k2r/8/p7/8/8/8/{}/4K3 b kq - 0 1", ("e8e7", "a6a5"), "e2e4"),
    "of blocked pieces": _Scene("1k6/p7/8/p7/8/8/{}/4K3 b - - 0 1", ("b8c8", "a7a6"), "e2e3"),
}
#: The second ranks of the scenes: White's own pieces, which differ between samples.
RANKS = ["4P3", "4P2P", "4P1P1", "4P1PP", "P3P3", "P3P2P", "P3P1PP"]


async def measure_dark_chess(pairs: int, seed: int) -> Samples:
    """Measure an attacker's requests in Dark chess, in each scene."""

    def scene_of(name: str) -> Callable[[Probe], Awaitable[None]]:
        return lambda probe: _play(probe, name)

    return await measure(pairs, seed, *map(scene_of, SCENES))


async def _play(probe: Probe, name: str) -> None:
    scene = SCENES[name]
    players = {"player_white": ATTACKER, "player_black": VICTIM}
    fen = scene.fen.format(probe.rng.choice(RANKS))
    made = await probe.server.act("new_game", VICTIM, variant="dark_chess", fen=fen, clock=None, **players)
    seat: Json = {"game_id": made["game_id"]}
    await probe.server.act("move", VICTIM, **seat, move=scene.moves[probe.hidden])
    await _settle_in_the_dark(probe.server)
    for kind in ("state", "actions"):
        await probe.timed(name, kind, **seat)
    await probe.timed(name, "move", **seat, move=scene.answer)
    await probe.timed(name, "wait", **seat, timeout=0)


async def _settle_in_the_dark(server: Server) -> None:
    """Let players who have no part in the probe play."""
    made = await server.act("new_game", 11, variant="dark_chess", clock=None, player_white=11, player_black=12)
    for player, move in ((11, "e2e4"), (12, "e7e5")):
        await server.act("state", player, game_id=made["game_id"], actions=True)
        await server.act("move", player, game_id=made["game_id"], move=move)
