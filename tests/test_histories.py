"""Histories of finished games are cached, up to a number of bytes; those in progress, or not durable, are not."""

from __future__ import annotations

from gmd.event_log.interface import Pruned
from gmd.games.notation import run_through
from gmd.games.views import History
from gmd.play.histories import EncodedHistory, Histories, encoded
from tests.helpers import memory_daemon

MOVES = ["e2e4", "e7e5"]


def history(pgn: str) -> EncodedHistory:
    def steps():  # type: ignore[no-untyped-def]
        yield
        return History(pgn, MOVES)

    return run_through(encoded(steps()))


def test_history_counts_its_bytes() -> None:
    assert history("é").size == len('"é"'.encode()) + len('["e2e4","e7e5"]')


def test_cache_is_bounded_in_bytes_and_evicts_the_least_recently_used() -> None:
    one = history("x" * 983)
    assert one.size == 1_000
    kept = Histories(max_bytes=3_000)
    for game_id in (1, 2, 3):
        kept.keep(game_id, one)
    assert (len(kept), kept.size) == (3, 3_000)
    assert kept.find(1) is one
    kept.keep(4, one)
    assert (kept.find(2), kept.find(1), kept.size) == (None, one, 3_000)
    kept.keep(4, history("y" * 1_983))
    assert (len(kept), kept.size) == (2, 3_000)
    kept.keep(5, history("z" * 5_000))
    assert (len(kept), kept.size) == (0, 0)
    kept.forget(5)


async def test_history_of_a_game_in_progress_is_not_cached() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        game_id = (await client.new_game())["game_id"]
        histories = daemon.services.histories
        assert (await client.ask("history", game_id=game_id))["moves"] == []
        await client.play(game_id, "e4")
        assert (await client.ask("history", game_id=game_id))["moves"] == ["e2e4"]
        assert len(histories) == 0
        await client.ask("end_game", game_id=game_id, player=1, termination="resignation_white")
        replies = [await client.ask("history", game_id=game_id) for _ in range(2)]
        assert replies[0] == replies[1]
        assert len(histories) == 1


async def test_pruned_game_is_evicted_from_the_cache_of_histories() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        game_id = (await client.new_game())["game_id"]
        await client.ask("end_game", game_id=game_id, player=1, termination="resignation_white")
        await client.ask("history", game_id=game_id)
        assert len(daemon.services.histories) == 1
        daemon.arbiter.forget(Pruned(game_id, [1, 2]))
        assert len(daemon.services.histories) == 0
