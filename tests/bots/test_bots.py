"""The bots that come with gmd play on a daemon, by their names."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from gm_arena.bot import BotUnusable
from gm_arena.bridge import Bridge, Server
from gm_arena.specs import bots_of
from gm_bots.minimax.bots import ChessBot, ChessBots, MinimaxBots
from gm_bots.minimax.settings import Settings
from gm_bots.random_bot import RandomBots
from gm_client.trio_client import connect
from tests.arena.playing import PATIENCE, Witness, bridged, new_games
from tests.serving import Served

ME, RANDOM = 77_001, 77_002


def named(spec: str, **options: str) -> MinimaxBots | RandomBots:
    bots = bots_of(spec, options=options)
    assert isinstance(bots, MinimaxBots | RandomBots)
    return bots


def test_options_are_part_of_the_name_or_flags() -> None:
    assert named("random").name == "random"
    assert named("minimax").name == "minimax"
    assert named("minimax:depth=2,seed=7").name == "minimax:depth=2,seed=7"
    flags = bots_of("minimax", options={"margin": "30"}, seconds=0.5, depth=2, nodes=1000)
    assert flags.name == "minimax:movetime=0.5,depth=2,nodes=1000,margin=30"


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("minimax:plies=2", "minimax: unknown option plies; known are depth, nodes, .*, hash, check_extension"),
        ("minimax:depth=two", "minimax: depth=two is not a number"),
        ("minimax:depth=1.5", "minimax: depth=1.5 is not a whole number"),
        ("minimax:depth=0", "minimax: depth=0 is not from 1 to 60"),
        ("minimax:2", "minimax:2: '2' is not NAME=VALUE"),
        ("minimax:check_extension=no", "minimax: check_extension=no is neither on nor off"),
        ("random:depth=2", "random: unknown option depth; known are seed"),
        ("fritz", "'fritz' is not a bot: .* or one of expectation, minimax, random, recon-zero"),
    ],
)
def test_invalid_options_are_refused(spec: str, reason: str) -> None:
    with pytest.raises(BotUnusable, match=reason):
        named(spec)


@pytest.mark.parametrize("variant", ["standard", "chess960", "crazyhouse", "rbc"])
async def test_random_plays_every_variant(variant: str, daemon_process: Served) -> None:
    limit = {"max_turns": 40} if variant == "rbc" else {"max_moves": 40}
    plan = new_games(RANDOM, 1, variant=variant, **limit)
    witness = await bridged(daemon_process.port, RANDOM, named("random:seed=1"), plan)
    assert [played.failed for played in witness.played] == [False, False]


async def against_random(port: int, bots: MinimaxBots | RandomBots, **options: object) -> list[str]:
    """Return how two games end for the bots, one with either colour; they are played one after the other, so that they
    repeat.
    """
    witness = Witness()
    opponent = Bridge(Server(port=port, hello={"player": RANDOM}), named("random:seed=3"), Witness(), at_once=1)
    mine = Bridge(Server(port=port, hello={"player": ME}), bots, witness, at_once=1)
    with trio.fail_after(PATIENCE * 2):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(opponent.run, lambda bridge: bridge.play_all(2))
            await mine.run(new_games(RANDOM, 2, **options))
    return sorted(f"{played.place.seat} {played.state['termination']}" for played in witness.played)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"clock": {"initial": 300, "increment": 1}}, {"variant": "rbc"}], ids=["chess", "rbc"]
)
async def test_minimax_beats_random_with_either_colour(daemon_process: Served, options: dict[str, Any]) -> None:
    ends = await against_random(daemon_process.port, named("minimax:depth=2"), **options)
    assert ends == ["black victory_black", "white victory_white"]


@pytest.mark.slow
async def test_score_and_depth_of_the_last_move_are_kept(daemon_process: Served) -> None:
    made: list[ChessBot] = []

    class Keeping(ChessBots):
        async def start(self, nursery: trio.Nursery) -> ChessBot:
            made.append(await super().start(nursery))
            return made[-1]

    await bridged(daemon_process.port, ME, Keeping("minimax", Settings(depth=1)), new_games(ME, max_moves=1))
    assert {(bot.depth, bot.score) for bot in made} == {(1, "+50"), (1, "+0")}


@pytest.mark.slow
async def test_minimax_may_join_a_game_in_progress(daemon_process: Served) -> None:
    async with await connect(port=daemon_process.port, player=ME) as client:
        game_id = (await client.game_from_pgn(ME, ME, pgn="1.e4 e5 2.Nf3 Nc6", max_moves=4))["game_id"]
    bots = named("minimax:depth=1")
    witness = await bridged(daemon_process.port, ME, bots, lambda bridge: bridge.play_one(game_id))
    assert [played.failed for played in witness.played] == [False, False]
