"""Reconnaissance blind chess over the wire, compared with reconchess's LocalGame after every action.

``games/test_recon_side_by_side.py`` compares the rules in depth; these games show that the wire loses nothing of them.
"""

from __future__ import annotations

import random

from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot

from tests.helpers import connected, running_daemon
from tests.side_by_side import POSITIONS, Bots, RandomPlayers, Start, play_side_by_side
from tests.wire_side import WireSide

#: Start positions whose games have en passant, castling, promotion and moves that are cut short or refused.
STARTS = ("en passant for either pawn", "castling", "promotions, Black first", "sliders behind sliders")


async def test_games_over_a_socket_match_reconchess() -> None:
    async with running_daemon() as daemon, connected(daemon) as client:
        for position in STARTS:
            players = RandomPlayers(random.Random(position))
            await play_side_by_side(Start(POSITIONS[position], max_turns=30), players, WireSide(client))
        bots = Bots(1, AttackerBot, RandomBot, Start())
        await play_side_by_side(Start(max_turns=10), bots, WireSide(client))
