"""The rules of reconnaissance blind chess compared with reconchess's, action by action."""

from __future__ import annotations

import random
from collections import Counter

import chess
import pytest
from reconchess import GameHistory
from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot

from tests.proofs import cases
from tests.side_by_side import POSITIONS, Bots, RandomPlayers, RulesSide, Start, drawn_start, play_side_by_side

#: The seeds of the ordinary run's games: those of the first fifty, and one in which Black captures en passant.
EVENTFUL = (*range(50), 91)


async def test_random_games_equal_those_of_reconchess() -> None:
    seen: Counter[str] = Counter()
    for seed in (*EVENTFUL, *range(1_000, 1_000 + cases(1))):
        rng = random.Random(seed)
        history = await play_side_by_side(drawn_start(rng), RandomPlayers(rng), RulesSide())
        _count(history, seen)
    # The events for which the games are played have happened.
    assert [what for what in _WHAT if not seen[what]] == []


@pytest.mark.parametrize("position", POSITIONS)
async def test_every_start_position_is_played_as_by_reconchess(position: str) -> None:
    for seed in range(3):
        rng = random.Random(f"{position} {seed}")
        await play_side_by_side(Start(POSITIONS[position]), RandomPlayers(rng), RulesSide())


async def test_games_between_bots_of_reconchess_are_the_same() -> None:
    for seed in range(cases(10)):
        white, black = (AttackerBot, RandomBot) if seed % 2 else (RandomBot, AttackerBot)
        start = Start()
        await play_side_by_side(start, Bots(seed, white, black, start), RulesSide())


_WHAT = (
    "en passant by White",
    "en passant by Black",
    "castled",
    "castling refused",
    "cut short",
    "double step cut short",
    "refused",
    "passed",
    "promoted as asked",
    "promoted by default",
    "KING_CAPTURE",
    "RESIGN",
    "MOVE_LIMIT",
    "TURN_LIMIT",
)


def _count(history: GameHistory, seen: Counter[str]) -> None:
    seen[history.get_win_reason().name] += 1
    for turn in history.turns():
        if not history.has_move(turn):
            continue
        requested, taken, capture = history.move_result(turn)
        if requested is None:
            seen["passed"] += 1
            continue
        board = history.truth_board_before_move(turn)
        castles = board.is_castling(requested)
        pawn = board.piece_type_at(requested.from_square) == chess.PAWN
        if taken is None:
            seen["castling refused" if castles else "refused"] += 1
        elif taken.to_square != requested.to_square:
            seen["double step cut short" if pawn else "cut short"] += 1
        elif castles:
            seen["castled"] += 1
        elif taken.promotion:
            seen["promoted as asked" if requested.promotion else "promoted by default"] += 1
        elif capture not in (None, taken.to_square):
            seen[f"en passant by {'White' if turn.color else 'Black'}"] += 1
