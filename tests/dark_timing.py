"""The processor time of a player's requests in Dark chess, with something hidden beside its move and without it."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import NamedTuple

from tests.helpers import Json, memory_daemon
from tests.noninterference import quiet
from tests.probing import Server
from tests.timing import WARM_UP, Samples, without_garbage

OBSERVER, OPPONENT = 1, 2


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


async def probe_dark(pairs: int, seed: int) -> Samples:
    """Measure each of the observer's requests so many times behind either of the opponent's moves."""
    samples: Samples = defaultdict(lambda: ([], []))
    rng = random.Random(seed)
    with quiet():
        async with memory_daemon() as daemon:
            server = Server(daemon)
            for pair in range(-WARM_UP, pairs):
                kept: Samples = samples if pair >= 0 else defaultdict(lambda: ([], []))
                for name, scene in SCENES.items():
                    rank = rng.choice(RANKS)
                    for hidden in rng.sample([False, True], 2):
                        with without_garbage():
                            await _play(server, name, scene, rank, hidden, kept)
    return samples


async def _play(server: Server, name: str, scene: _Scene, rank: str, hidden: bool, samples: Samples) -> None:
    players = {"player_white": OBSERVER, "player_black": OPPONENT}
    options = {"variant": "dark_chess", "fen": scene.fen.format(rank), "clock": None}
    made = await server.act("new_game", OPPONENT, **options, **players)
    seat: Json = {"game_id": made["game_id"]}
    await server.act("move", OPPONENT, **seat, move=scene.moves[hidden])
    await _settle(server)

    async def timed(kind: str, **fields: object) -> None:
        await server.ask(kind, OBSERVER, **seat, **fields)
        samples[f"{kind} {name}"][hidden].append(server.cost)

    await timed("state")
    await timed("actions")
    await timed("move", move=scene.answer)
    await timed("wait", timeout=0)


async def _settle(server: Server) -> None:
    """Let players who have no part in the probe play."""
    made = await server.act("new_game", 11, variant="dark_chess", clock=None, player_white=11, player_black=12)
    for player, move in ((11, "e2e4"), (12, "e7e5")):
        await server.act("state", player, game_id=made["game_id"], actions=True)
        await server.act("move", player, game_id=made["game_id"], move=move)
