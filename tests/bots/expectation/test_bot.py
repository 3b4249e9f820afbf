"""expectation plays on a daemon, by its name."""

from __future__ import annotations

import pytest
import trio

from gm_arena import stockfish as arena_stockfish
from gm_arena.bot import Bots, BotUnusable
from gm_arena.bridge import Bridge, Server
from gm_arena.specs import bots_of, read_options
from gm_arena.stockfish import VARIABLE
from gm_bots.expectation.settings import Settings, read
from gm_bots.random_bot import RandomBots
from tests.arena.playing import PATIENCE, Witness, new_games
from tests.serving import Served
from tests.tools import require_tool

ME, RANDOM = 77_021, 77_022
QUICK = "positions=10,depth=2,refined=4,seed=1"


def named(spec: str) -> Bots:
    return bots_of(spec)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("expectation:nodes=2", "expectation: unknown option nodes; known are positions, depth, candidates"),
        ("expectation:positions=0", "expectation: positions=0 is not from 1 to 10000"),
        ("expectation:depth=four", "expectation: depth=four is not a number"),
        ("expectation:ponder=yes", "expectation: ponder=yes is neither on nor off"),
        ("expectation:unseen=2", "expectation: unseen=2 is not from 0 to 1"),
    ],
)
def test_invalid_options_are_refused(spec: str, reason: str) -> None:
    with pytest.raises(BotUnusable, match=reason):
        named(spec)


def test_missing_stockfish_is_reported_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(arena_stockfish, "find_program", lambda name: None)
    with pytest.raises(BotUnusable) as refused:
        named("expectation")
    assert str(refused.value) == (
        "expectation asks Stockfish, which was not found: install it (on Debian: apt install stockfish), or set "
        "STOCKFISH_EXECUTABLE to the path of the program"
    )


def test_every_option_sets_its_setting() -> None:
    require_tool("stockfish")
    numbers = "positions=9,depth=3,candidates=2,refined=6,movetime=0.5,seed=7,ponder=on"
    made = read(read_options("", f"{numbers},unseen=0,caution=0.5,information=0.25"))
    assert made.settings == Settings(
        positions=9,
        depth=3,
        candidates=2,
        refined=6,
        unseen=0,
        caution=0.5,
        information=0.25,
        fixed=True,
    )
    assert (made.seconds, made.seed, made.ponder) == (0.5, 7, True)
    assert read({}).settings == Settings()


@pytest.mark.slow
@pytest.mark.parametrize("ponder", ["off", "on"])
async def test_expectation_beats_random_with_either_colour(daemon_process: Served, ponder: str) -> None:
    require_tool("stockfish")
    witness = Witness()
    opponent = Bridge(Server(port=daemon_process.port, hello={"player": RANDOM}), RandomBots(3), Witness(), at_once=1)
    bots = named(f"expectation:{QUICK},ponder={ponder}")
    mine = Bridge(Server(port=daemon_process.port, hello={"player": ME}), bots, witness, at_once=1)
    with trio.fail_after(PATIENCE * 4):  # the first game may compile the kernels that keep the positions
        async with trio.open_nursery() as nursery:
            nursery.start_soon(opponent.run, lambda bridge: bridge.play_all(2))
            await mine.run(new_games(RANDOM, 2, variant="rbc", clock={"initial": 60}))
    assert [played.failed for played in witness.played] == [False, False]
    ends = sorted(f"{played.place.seat} {played.state['termination']}" for played in witness.played)
    assert ends == ["black victory_black", "white victory_white"]
