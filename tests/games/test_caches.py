"""The caches of positions are bounded, and evicted entries are computed correctly again."""

from __future__ import annotations

import random

import chess
import msgspec
import pytest

from gmd.games import facts, fragments
from gmd.games.position import Position, pack, unpack
from tests.games.playing import choose
from tests.oracle import access_map, board_rows, fen

POSITIONS = 300
KEPT, RECENT, REMEMBERED = 8, 4, 32


def some_positions(rng: random.Random) -> list[Position]:
    """Return positions of random games, many of them several times."""
    positions: list[Position] = []
    while len(positions) < POSITIONS:
        board = chess.Board()
        for _ in range(30):
            positions.append(pack(board.copy(stack=False)))
            board.push(choose(board, "any", rng))
        positions += rng.choices(positions, k=10)
        positions += positions[:3] * 2
    return positions


def test_position_is_computed_once_while_it_is_in_use() -> None:
    position = pack(chess.Board())
    assert facts.facts_of(position) is facts.facts_of(bytes(bytearray(position)))


def test_cached_facts_are_correct_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "KEPT_POSITIONS", KEPT)
    monkeypatch.setattr(facts, "RECENT_POSITIONS", RECENT)
    monkeypatch.setattr(facts, "REMEMBERED_POSITIONS", REMEMBERED)
    facts._kept.clear()
    facts._recent.clear()
    facts._seen.clear()
    for position in some_positions(random.Random("caches")):
        board = unpack(position)
        found = facts.facts_of(position)
        assert found.fen_stem == " ".join(fen(board).split()[:4])
        assert found.position == position
        assert len(facts._kept) <= KEPT
        assert len(facts._recent) <= RECENT
        assert len(facts._seen) <= REMEMBERED
    assert facts._kept, "some were seen twice"


def test_cache_keeps_the_last_two_positions_of_a_live_game() -> None:
    facts._kept.clear()
    facts._recent.clear()
    facts._seen.clear()
    board, rng = chess.Board(), random.Random("at hand")
    last_two = [pack(board.copy(stack=False))]
    for _ in range(40):
        move = choose(board, "any", rng)
        last_two.append(facts.facts_of(last_two[-1]).play(move.uci()).position)
        del last_two[:-2]
        board.push(move)
        assert list(facts._recent) == last_two


def test_full_table_of_fragments_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "MAX_FRAGMENTS", 16)
    fragments.OPEN_LISTS.clear()
    for position in some_positions(random.Random("fragments")):
        board = unpack(position)
        found = facts.Facts(position, unpack(position))
        assert found.fen_stem == " ".join(fen(board).split()[:4])
        assert msgspec.json.decode(msgspec.json.encode(found.board)) == board_rows(board)
        assert msgspec.json.decode(msgspec.json.encode(found.access_map)) == access_map(board)
        assert len(fragments.OPEN_LISTS) <= 16
