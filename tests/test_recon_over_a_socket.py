"""Reconnaissance blind chess over the wire, compared with reconchess's LocalGame after every action.

``games/test_recon_side_by_side.py`` compares the rules in depth; these games show that the wire loses nothing of them.
"""

from __future__ import annotations

import random
from collections import Counter

from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot

from tests.helpers import connected, running_daemon
from tests.proofs import cases
from tests.side_by_side import Bots, RandomPlayers, Start, count_events, play_side_by_side, short_start
from tests.wire_side import WireSide

#: The first seed with which the ordinary run's few games have every event.
FIRST_SEED = 44

#: Events that the games must reach.
HAPPENS = (
    "en passant",
    "castled",
    "captured",
    "cut short",
    "refused",
    "passed",
    "promoted as asked",
    "promoted by default",
    "KING_CAPTURE",
    "TURN_LIMIT",
)


async def test_games_over_a_socket_match_reconchess() -> None:
    seen: Counter[str] = Counter()
    async with running_daemon() as daemon, connected(daemon) as client:
        for seed in range(FIRST_SEED, FIRST_SEED + cases(8)):
            rng = random.Random(seed)
            try:
                game = await play_side_by_side(short_start(rng, 6), RandomPlayers(rng), WireSide(client))
            except Exception as error:
                error.add_note(f"in the game of seed {seed}")
                raise
            count_events(game, seen)
        for seed in range(cases(1)):
            bots = Bots(seed, AttackerBot, RandomBot, Start())
            await play_side_by_side(Start(max_turns=10), bots, WireSide(client))
    assert [what for what in HAPPENS if not seen[what]] == []
