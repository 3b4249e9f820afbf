"""A batch's games compared with those of ``gm_recon`` and of reconchess: every mask, result, end and sense."""

from __future__ import annotations

import random
from collections import Counter

import chess
import numpy as np
import pytest
from reconchess import LocalGame

from gm_env import OVER, BatchedRbc, action_of, sense_of
from tests.env.beside import FENS, Beside, seen_by, window_of
from tests.proofs import cases, in_processes

pytestmark = pytest.mark.slow

#: Games of a batch, and the turns of each.
GAMES, TURNS = 2 * len(FENS), 60

#: Events that random play from the positions must have met.
RARE = (
    "passed",
    "pawn refused",
    "castling refused",
    "double step cut short",
    "cut short",
    "en passant",
    "promoted to knight",
    "promoted to bishop",
    "promoted to rook",
    "promoted to queen",
    "castled",
    "KING_CAPTURE",
    "MOVE_LIMIT",
    "TURN_LIMIT",
)


def test_random_plies_equal_those_of_gm_recon() -> None:
    plies = cases(8_000)
    batches = -(-plies // (TURNS * GAMES))
    jobs = min(batches, 1 if plies < 20_000 else 16)
    happened: Counter[str] = Counter()
    shares = [(batches * job // jobs, batches * (job + 1) // jobs) for job in range(jobs)]
    for counts in in_processes(play_batches, shares):
        happened.update(counts)
    assert [what for what in RARE if not happened[what]] == []


def play_batches(first: int, end: int) -> Counter[str]:
    """Play a batch for each of these seeds, and return what happened."""
    happened: Counter[str] = Counter()
    for seed in range(first, end):
        limits = (20, 4, 100, None)[seed % 4], (12, 70, 40, None)[seed % 4]
        fens = [chess.STARTING_FEN] if seed % 5 == 4 else within(limits)
        games = Beside(GAMES, seed, fens, limits)
        for _ in range(TURNS):
            games.turn()
        happened.update(games.happened)
    return happened


def within(limits: tuple[int | None, int | None]) -> list[str]:
    """Return the start positions that have not reached a limit."""
    reversible_moves, max_turns = (1_000 if limit is None else limit for limit in limits)
    return [fen for fen in FENS if int(fen.split()[4]) < reversible_moves and int(fen.split()[5]) <= max_turns]


def play_beside_local_game(seed: int) -> None:
    """Play one game of a batch and of LocalGame by the same random actions."""
    rng = random.Random(seed)
    limits = rng.choice([100, 20]), rng.choice([None, 70])
    fen = chess.STARTING_FEN if seed % 2 else rng.choice(within(limits))
    batch = BatchedRbc(1, seed, fens=fen, reversible_moves=limits[0], max_turns=limits[1])
    local = LocalGame(None, None, *limits)
    local.board = chess.Board(fen)
    local.turn = local.board.turn
    local.start()
    while not local.is_over():
        color = local.turn
        assert bool(batch.colors[0]) == color
        assert batch.lost[0] == seen_by(local.opponent_move_results(), color)
        moves = local.move_actions()
        legal = {64 * plane + square for plane, bits in enumerate(batch.legal[0].tolist()) for square in bits_of(bits)}
        assert legal == {action_of(move, color) for move in moves}
        square = rng.choice([*local.sense_actions(), None])
        assert batch.sense(np.array([sense_of(square, color)]))[0].tolist() == window_of(
            local.sense(square), square, color
        )
        requested = rng.choice([*moves, None])
        _, taken, capture = local.move(requested)
        asked, made = action_of(requested, color), action_of(taken, color)
        batch.move(np.array([asked]))
        assert batch.results[0].tolist() == [asked, made, seen_by(capture, color)]
        local.end_turn()
        assert batch.board(0).fen(en_passant="fen") == local.board.fen(en_passant="fen")
    local.end()
    winner = local.get_winner_color()
    assert batch.phases[0] == OVER
    assert batch.reasons[0] == local.get_win_reason().value
    assert batch.winners[0] == (-1 if winner is None else winner)
    assert batch.rewards[0].tolist() == ([0, 0] if winner is None else [1 - 2 * winner, 2 * winner - 1])


def bits_of(bits: int) -> list[int]:
    """Return the numbers of a word's bits."""
    return list(chess.scan_forward(bits))
