"""Unmodified bots by other authors finish their games against each other."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import trio

from gm_arena.bot import Bots
from gm_arena.codingame_bot import CodinGameBots
from gm_arena.reconchess_bot import ReconchessBots
from gm_arena.uci_bot import Limits, UciBots
from tests.arena.playing import Witness, bridged, new_games
from tests.proofs import cases
from tests.serving import Served
from tests.tools import require_tool

pytestmark = pytest.mark.slow

#: Seconds for all games of a pairing: TroutBot uses a second in each turn, and there may be only two processors.
PATIENCE = 3600

#: The terminations of a game of reconnaissance blind chess that both sides play out.
PLAYED_OUT = {"victory_white", "victory_black", "draw_fifty_moves", "draw_turn_limit"}


async def play(
    port: int, first: Bots, second: Bots, players: tuple[int, int], count: int, **options: Any
) -> list[Witness]:
    """Play so many games between two bots with alternating colours, each through its own bridge; return what both have
    seen.
    """
    seen: dict[int, Witness] = {}

    async def make() -> None:
        seen[0] = await bridged(port, players[0], first, new_games(players[1], count, **options), patience=PATIENCE)

    async def take() -> None:
        seen[1] = await bridged(port, players[1], second, lambda bridge: bridge.play_all(count), patience=PATIENCE)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(make)
        nursery.start_soon(take)
    assert len(seen[0].played) == len(seen[1].played) == count
    assert seen[0].ends_by_game == seen[1].ends_by_game
    print(f"{first.name} against {second.name}: {dict(Counter(seen[0].ends_by_game.values()))}")
    return [seen[0], seen[1]]


def failures(witness: Witness) -> int:
    return sum(played.failed for played in witness.played)


async def test_random_and_attacker_bots_finish(daemon_process: Served) -> None:
    bots = [ReconchessBots(f"reconchess.bots.{name}") for name in ("random_bot", "attacker_bot")]
    witnesses = await play(daemon_process.port, bots[0], bots[1], (77_001, 77_002), cases(2))
    assert [failures(witness) for witness in witnesses] == [0, 0]
    assert set(witnesses[0].ends_by_game.values()) <= PLAYED_OUT


@pytest.mark.parametrize("other", ["random_bot", "attacker_bot"])
async def test_trout_bot_finishes(other: str, daemon_process: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its engine may crash on a request. Then the bot may fail, which loses its game; the other bots never fail."""
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", str(require_tool("stockfish")))
    players = (77_003, 77_004) if other == "random_bot" else (77_005, 77_006)
    trout, opponent = ReconchessBots("reconchess.bots.trout_bot"), ReconchessBots(f"reconchess.bots.{other}")
    witnesses = await play(daemon_process.port, trout, opponent, players, cases(1), max_turns=1)
    assert failures(witnesses[1]) == 0
    assert set(witnesses[0].ends_by_game.values()) <= PLAYED_OUT | {"resignation_white", "resignation_black"}
    resigned = [end for end in witnesses[0].ends_by_game.values() if end.startswith("resignation")]
    assert len(resigned) <= failures(witnesses[0])


async def test_codingame_bot_that_reads_nothing_finishes(daemon_process: Served) -> None:
    bots = [CodinGameBots("bash -c 'echo fen; yes random'") for _ in range(2)]
    witnesses = await play(daemon_process.port, bots[0], bots[1], (77_007, 77_008), cases(2))
    assert [failures(witness) for witness in witnesses] == [0, 0]


async def test_stockfish_finishes_against_itself(daemon_process: Served) -> None:
    command = str(require_tool("stockfish"))
    bots = [UciBots(command, {"Threads": "1", "Hash": "16"}, Limits(seconds=0.02)) for _ in range(2)]
    witnesses = await play(daemon_process.port, bots[0], bots[1], (77_009, 77_010), cases(2), max_moves=20)
    assert [failures(witness) for witness in witnesses] == [0, 0]
