"""The tracker of possible positions, beside brute force on boards, and beside the truth in whole games."""

from __future__ import annotations

import random
from collections.abc import Iterable

import chess
import pytest
from chess import Board, Color, Move, Square

from gm_client.rbc import SENSE_SQUARES
from gm_client.tracker import Tracker
from gmd.games.recon import ReconBoard, ReconGame
from tests.helpers_proof import proof_size

#: Positions from which what is rare comes soon: castling, captures en passant, promotions, and kings almost alone.
RARE = [
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 0 1",
    "4k3/2p1p3/8/1P1P1P2/2p1p3/8/1P1P1P2/4K3 w - - 0 1",
    "4k3/2p1p3/8/1P1P1P2/2p1p3/8/1P1P1P2/4K3 b - - 0 1",
    "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
    "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
    "k1n5/1P3P2/8/8/8/8/1p3p2/K1N5 w - - 0 1",
    "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
]

#: What tells positions apart: the pieces, the castling rights, and the capture en passant that could be made.
Key = tuple[str, int, Square | None]


def key(board: Board) -> Key:
    able = board.ep_square is not None and any(
        board.pieces_mask(chess.PAWN, board.turn) & chess.BB_PAWN_ATTACKS[not board.turn][board.ep_square] & bit
        for bit in chess.BB_SQUARES
    )
    return board.board_fen(), board.castling_rights, board.ep_square if able else None


class BruteForce:
    """What a tracker does, as one would write it: all boards, all that may be asked for on each."""

    def __init__(self, color: Color, fen: str) -> None:
        self.color = color
        self.boards = [ReconBoard(fen)]

    def opponent_moved(self, capture: Square | None) -> None:
        self._replace(
            (board, board.revise(move) if move else (None, None))
            for board in self.boards
            for move in [None, *board.move_actions()]
            if (board.revise(move)[1] if move else None) == capture
        )

    def player_moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        outcomes = ((board, board.revise(requested) if requested else (None, None)) for board in self.boards)
        self._replace(
            (board, outcome)
            for board, outcome in outcomes
            if outcome == (taken, capture) and (capture is None or not board.has_king(capture))
        )

    def saw(self, square: Square, cells: object) -> None:
        self.boards = [board for board in self.boards if board.window(square) == cells]

    def _replace(self, outcomes: Iterable[tuple[ReconBoard, tuple[Move | None, Square | None]]]) -> None:
        found: dict[Key, ReconBoard] = {}
        for board, (taken, capture) in outcomes:
            successor = board.copy()
            successor.push(taken, capture)
            found.setdefault(key(successor.as_chess()), successor)
        self.boards = list(found.values())

    def keys(self) -> set[Key]:
        return {key(board.as_chess()) for board in self.boards}


@pytest.mark.proof
@pytest.mark.parametrize("color", chess.COLORS, ids=["black", "white"])
def test_it_is_equal_to_brute_force_in_short_games(color: Color) -> None:
    for seed in range(proof_size(10, 400)):
        rng = random.Random(f"{color} {seed}")
        fen = RARE[seed % len(RARE)] if seed % 3 else chess.STARTING_FEN
        game, tracker, brute = ReconGame(fen), Tracker(color, fen), BruteForce(color, fen)
        for turn in range(3 if fen == chess.STARTING_FEN else 7):
            compare(tracker, brute, game)
            square = rng.choice(SENSE_SQUARES)
            cells = game.sense(square)
            if game.turn == color:
                tracker.saw(cells)
                brute.saw(square, cells)
                compare(tracker, brute, game)
            requested, taken, capture = game.move(rng.choice([None, *game.move_actions()]))
            if game.is_over() or len(brute.boards) > 2_000:
                break
            if game.turn != color:
                tracker.player_moved(requested, taken, capture)
                brute.player_moved(requested, taken, capture)
            else:
                tracker.opponent_moved(capture)
                brute.opponent_moved(capture)
            assert turn < 7
        assert tracker.complete


def compare(tracker: Tracker, brute: BruteForce, game: ReconGame) -> None:
    boards = list(tracker)
    assert {key(board) for board in boards} == brute.keys()
    assert len(boards) == len(tracker) == len(brute.boards)
    assert key(game.board.as_chess()) in {key(board.as_chess()) for board in brute.boards}
    assert game.board.as_chess() in tracker


@pytest.mark.proof
def test_the_truth_is_always_possible_in_long_games() -> None:
    """Both players move at random, and sense where it tells them most."""
    sizes: list[int] = []
    for seed in range(proof_size(2, 300)):
        rng = random.Random(seed)
        fen = chess.STARTING_FEN if seed % 4 else RARE[seed // 4 % len(RARE)]
        game = ReconGame(fen)
        trackers = {color: Tracker(color, fen, cap=2_000_000, rng=rng) for color in chess.COLORS}
        while not game.is_over() and game.ply < 120:
            tracker = trackers[game.turn]
            if game.ply:
                tracker.opponent_moved(game.opponent_capture)
            check(tracker, game)
            tracker.saw(game.sense(tracker.best_sense()))
            check(tracker, game)
            outcome = game.move(rng.choice([None, *game.move_actions()]))
            if not game.is_over():
                tracker.player_moved(*outcome)
                check(tracker, game)
            sizes.append(len(tracker))
    print(f"{len(sizes)} turns; positions after them: median {sorted(sizes)[len(sizes) // 2]}, most {max(sizes)}")


def check(tracker: Tracker, game: ReconGame) -> None:
    assert tracker.complete
    assert game.board.as_chess() in tracker
