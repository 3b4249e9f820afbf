"""The caches of positions are bounded, and evicted entries are computed correctly again."""

from __future__ import annotations

import gc
import random

import chess
import msgspec
import pytest

from gmd.games import facts
from gmd.games.position import Position, pack, unpack
from tests.games.playing import choose
from tests.oracle import access_map, board_rows, fen


def some_positions(number: int, rng: random.Random) -> list[Position]:
    """Return different positions of random games."""
    found: dict[Position, None] = {}
    while len(found) < number:
        board = chess.Board.from_chess960_pos(rng.randrange(960))
        for _ in range(20):
            if not any(board.legal_moves):
                break
            board.push(choose(board, "any", rng))
            found[pack(board.copy(stack=False))] = None
    return list(found)


def check(position: Position) -> facts.Facts:
    """Return a position's facts, which must be right."""
    found = facts.facts_of(position)
    assert (found.position, found.fen_stem) == (position, " ".join(fen(unpack(position)).split()[:4]))
    return found


def test_position_seen_once_is_soon_evicted_and_one_seen_again_is_kept() -> None:
    rng = random.Random("caches")
    position, *others = some_positions(2 * facts.RECENT_POSITIONS + 50, rng)
    first = check(position)
    assert check(bytes(bytearray(position))) is first
    for other in others[: facts.RECENT_POSITIONS + 10]:
        check(other)
    second = check(position)
    assert second is not first
    for other in others[facts.RECENT_POSITIONS + 10 :]:
        check(other)
    assert check(position) is second


def in_memory() -> int:
    return sum(type(each) is facts.Facts for each in gc.get_objects())


@pytest.mark.slow
def test_full_cache_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "KEPT_POSITIONS", 0)
    before = in_memory()
    positions = some_positions(3 * facts.RECENT_POSITIONS, random.Random("full"))
    for position in positions * 2:  # the second time, most have been evicted, and are to be kept
        facts.facts_of(position)
    assert in_memory() <= before + facts.RECENT_POSITIONS + 1


def test_full_table_of_fragments_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "MAX_FRAGMENTS", 16)
    facts.OPEN_LISTS.clear()
    for position in some_positions(60, random.Random("fragments")):
        board = unpack(position)
        found = facts.Facts(position, unpack(position))
        assert found.fen_stem == " ".join(fen(board).split()[:4])
        assert msgspec.json.decode(msgspec.json.encode(found.board)) == board_rows(board)
        assert msgspec.json.decode(msgspec.json.encode(found.access_map)) == access_map(board)
        assert len(facts.OPEN_LISTS) <= 16
