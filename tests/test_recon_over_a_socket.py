"""Reconnaissance blind chess over the wire, compared with reconchess's LocalGame after every action."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count

import pytest
import trio
from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot

from tests.helpers import Client
from tests.proofs import cases
from tests.serving import Served
from tests.side_by_side import POSITIONS, Bots, RandomPlayers, Start, drawn_start, play_side_by_side
from tests.wire_side import WireSide

#: The games played at once: enough to keep the daemon busy while the oracle computes.
AT_ONCE = 8


async def connect(port: int) -> Client:
    """Open a version 2 session."""
    client = Client(await trio.open_tcp_stream("127.0.0.1", port))
    assert (await client.ask("hello"))["error"] is None
    return client


async def play(port: int, seeds: Iterator[int], games: int) -> None:
    """Play the games of the seeds below ``games`` that no other task has taken."""
    side = WireSide(await connect(port))
    for seed in seeds:
        if seed >= games:
            break
        rng = random.Random(seed)
        try:
            await play_side_by_side(drawn_start(rng), RandomPlayers(rng), side)
        except Exception as error:
            error.add_note(f"in the game of seed {seed}")
            raise
    await side.client.aclose()


async def test_random_games_over_a_socket_match_reconchess(daemon_process: Served) -> None:
    seeds, games = count(), cases(12)
    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(play, daemon_process.port, seeds, games)


async def test_games_of_reconchess_bots_over_a_socket_match_reconchess(daemon_process: Served) -> None:
    side = WireSide(await connect(daemon_process.port))
    for seed in range(cases(2)):
        white, black = (AttackerBot, RandomBot) if seed % 2 else (RandomBot, AttackerBot)
        await play_side_by_side(Start(), Bots(seed, white, black, Start()), side)
    await side.client.aclose()


@pytest.mark.slow
async def test_every_position_over_a_socket_is_played_as_reconchess_plays_it(daemon_process: Served) -> None:
    side = WireSide(await connect(daemon_process.port))
    for position, fen in POSITIONS.items():
        rng = random.Random(position)
        await play_side_by_side(Start(fen), RandomPlayers(rng), side)
    await side.client.aclose()
