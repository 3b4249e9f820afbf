"""Possible positions that are followed from request to request, and the places of the players whose they are."""

from __future__ import annotations

import random

import chess
import trio
from trio.testing import MockClock

from gm_recon.possible import PossiblePositions
from gmd.games import views
from gmd.games.game import Game
from gmd.games.notation import run_through
from gmd.games.rbc_knowledge import Observed
from gmd.play.beliefs import Followed, FollowedCache, observe_steps
from tests.helpers import memory_daemon
from tests.work import calls_of_steps


def begun() -> Followed:
    """Return White's positions at the beginning of a game."""
    return Followed(lambda: PossiblePositions(chess.WHITE, rng=random.Random(1)))


def followed(game: Game, observed: list[Observed]) -> Followed:
    """Return positions that take these observations of a game into account."""
    found = begun()
    run_through(found.resume_steps(game, observed))
    for each in observed:
        run_through(observe_steps(found.positions, each))
        found.seen.append(each)
    return found


async def played(turns: int, sense: str | None = None) -> Game:
    """Return a game whose players sense this square and pass."""
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game(variant="rbc", clock=None, reversible_moves=None)
        for ply in range(turns):
            for kind, fields in (("sense", {"square": sense}), ("move", {"move": None})):
                reply = await client.ask(kind, game_id=1, player=1 + ply % 2, brief=True, **fields)
                assert reply["error"] is None
        return (await daemon.arbiter.live_game(1)).game


def of_white(game: Game) -> list[Observed]:
    return list(views.observations(game, chess.WHITE) or [])


async def test_positions_are_continued_in_a_game_that_was_loaded_again() -> None:
    game, again = await played(4), await played(6)
    found = followed(game, of_white(game)[:3])
    seen = list(found.seen)
    run_through(found.resume_steps(again, of_white(again)))
    assert found.seen == seen


async def test_positions_begin_again_where_a_loaded_game_lacks_what_was_seen() -> None:
    game, other = await played(2), await played(4, "e2")
    for lacking in (of_white(other), of_white(game)[:1]):
        found = followed(game, of_white(game))
        run_through(found.resume_steps(other, lacking))
        assert found.seen == []
        assert len(found.positions) == 1


async def test_observations_of_the_same_game_are_not_compared() -> None:
    game = await played(60)
    observed = of_white(game)
    found = begun()
    found.seen = observed[:-1]
    run_through(found.resume_steps(game, observed))
    assert len(calls_of_steps(found.resume_steps(game, observed))) == 1
    assert found.seen == observed[:-1]


async def test_observations_of_a_loaded_game_are_compared_in_short_steps() -> None:
    game = await played(60)
    observed = of_white(game)
    found = begun()
    found.seen = observed[:-1]
    calls = calls_of_steps(found.resume_steps(game, observed))
    assert len(calls) > len(observed) // 20
    assert max(calls) < 100
    assert found.seen == observed[:-1]


async def test_cache_evicts_the_player_who_asked_longest_ago() -> None:
    cache, one = FollowedCache(2, held=0.0, idle=0.0), begun()
    for game_id in (1, 2, 1, 3):
        assert cache.keep((game_id, chess.WHITE), one, "a") == 0.0
    assert [cache.find((game_id, chess.WHITE)) for game_id in (1, 2, 3)] == [one, None, one]
    assert len(cache) == 2


async def test_place_is_held_until_its_player_is_idle(mock_clock: MockClock) -> None:
    cache, one = FollowedCache(1, held=600.0, idle=120.0), begun()
    first, second = (1, chess.WHITE), (2, chess.WHITE)
    cache.keep(first, one, "a")
    mock_clock.jump(100.0)
    cache.keep(first, one, "a")
    assert cache.keep(second, one, "a") == 120.0
    assert cache.find(second) is None
    mock_clock.jump(120.0)
    assert cache.keep(second, one, "a") == 0.0
    assert cache.find(first) is None


async def test_place_is_not_held_for_ever(mock_clock: MockClock) -> None:
    cache, one = FollowedCache(1, held=600.0, idle=120.0), begun()
    first, second = (1, chess.WHITE), (2, chess.WHITE)
    cache.keep(first, one, "a")
    began = trio.current_time()
    while (wait := cache.keep(second, one, "a")) > 0.0:
        mock_clock.jump(min(60.0, wait))
        cache.keep(first, one, "a")
    assert trio.current_time() - began == 600.0
    assert cache.find(first) is None


async def test_address_takes_a_place_of_one_that_has_fewer_only_once_it_is_idle(mock_clock: MockClock) -> None:
    cache, one = FollowedCache(3, held=600.0, idle=120.0), begun()
    keys = [(game_id, chess.WHITE) for game_id in range(5)]
    for number, source in enumerate(("a", "b", "b")):
        cache.keep(keys[number], one, source)
    for _ in range(7):
        mock_clock.jump(100.0)
        cache.keep(keys[0], one, "a")
        cache.keep(keys[2], one, "b")
    assert cache.keep(keys[3], one, "b") == 0.0  # its own idle one makes room
    assert [cache.find(key) is not None for key in keys] == [True, False, True, True, False]
    assert cache.keep(keys[4], one, "b") == 0.0  # and then its own that was held long enough
    assert [cache.find(key) is not None for key in keys] == [True, False, False, True, True]
    assert cache.keep(keys[1], one, "b") == 120.0
    mock_clock.jump(120.0)
    cache.keep(keys[3], one, "b")
    cache.keep(keys[4], one, "b")
    assert cache.keep(keys[1], one, "b") == 0.0
    assert cache.find(keys[0]) is None
