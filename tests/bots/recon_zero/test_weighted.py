"""The weights of possible positions are the likelihoods of all moves of the opponent's that led to them."""

from __future__ import annotations

import random
from collections import defaultdict

import chess
import numpy as np
import pytest
from chess import Board, Color

from gm_recon import ReconBoard, ReconGame

pytest.importorskip("numba", reason="needs numba: pip install 'grandmasterd[train]'")

from gm_bots.recon_zero.evaluation import count_material
from gm_bots.recon_zero.lockstep import judging
from gm_bots.recon_zero.lockstep.weighted import LEAST, OpponentModel, WeightedPositions

Weighted = dict[object, float]

FENS = [
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "4k3/1p1p1p1p/8/P1P1P1P1/1p1p1p1p/8/P1P1P1P1/4K3 b - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "8/PPP2ppp/2k5/8/8/5K2/ppp2PPP/8 w - - 0 1",
]


@pytest.mark.parametrize("fen", FENS)
def test_weights_are_those_of_brute_force(fen: str) -> None:
    for seed in range(3):
        compare(fen, seed, OpponentModel(heat=1.5, doubt=0.3))


def test_positions_that_are_not_asked_have_equal_requests() -> None:
    compare(FENS[1], 7, OpponentModel(asked=0))


def test_weights_are_computed_again_where_not_all_positions_were_kept() -> None:
    """With a small cap some results of a move are left out until the sense; then all that fit are there again."""
    whole, capped = (play(FENS[1], 5, cap) for cap in (100_000, 400))
    assert [len(weights) for weights in whole] == [len(weights) for weights in capped]
    for one, other in zip(whole, capped, strict=True):
        assert one == pytest.approx(other)


def play(fen: str, seed: int, cap: int) -> list[Weighted]:
    """Return White's weights after each sense of a game of random moves."""
    game, rng, found = ReconGame(fen), random.Random(seed), []
    weighted = WeightedPositions(
        chess.WHITE, judging.count_material, OpponentModel(), fen=fen, cap=cap, rng=random.Random(0)
    )
    while not game.is_over() and len(found) < 6:
        mine = game.turn == chess.WHITE
        if mine and game.ply:
            weighted.opponent_moved(game.opponent_capture)
        cells = game.sense(weighted.positions.best_sense() if mine else None)
        if mine:
            weighted.saw(list(cells))
            found.append(weights_in(weighted))
        result = game.move(rng.choice([*game.move_actions(), None]))
        if mine and not game.is_over():
            weighted.player_moved(*result)
    return found


def compare(fen: str, seed: int, model: OpponentModel) -> None:
    """Follow a game of random moves for both players, and compare the weights after each event."""
    game, rng = ReconGame(fen), random.Random(seed)
    both = {
        color: (
            WeightedPositions(color, judging.count_material, model, fen=fen, cap=100_000, rng=random.Random(0)),
            {key(Board(fen), color): 1.0},
        )
        for color in chess.COLORS
    }
    while not game.is_over() and game.ply < 10:
        color = game.turn
        weighted, expected = both[color]
        if game.ply:
            before = boards_in(weighted)
            weighted.opponent_moved(game.opponent_capture)
            expected = after_opponent(before, expected, color, game.opponent_capture, model)
            check(weighted, expected)
        cells = list(game.sense(weighted.positions.best_sense()))
        weighted.saw(cells)
        expected = {at: expected[at] for at in weights_in(weighted)}
        check(weighted, expected)
        before = boards_in(weighted)
        result = game.move(rng.choice([*game.move_actions(), None]))
        if not game.is_over():
            weighted.player_moved(*result)
            expected = after_player(before, expected, color, result[1], weights_in(weighted))
            check(weighted, expected)
        both[color] = weighted, expected


def check(weighted: WeightedPositions, expected: Weighted) -> None:
    found, total = weights_in(weighted), sum(expected.values())
    shares = {at: weight / total for at, weight in expected.items()}
    assert found.keys() == shares.keys()
    for at, share in shares.items():
        assert found[at] == pytest.approx(share, rel=1e-6, abs=2 * LEAST)


def after_opponent(
    before: dict[object, Board], weights: Weighted, color: Color, capture: chess.Square | None, model: OpponentModel
) -> Weighted:
    """Return the weights after the opponent's move."""
    found: Weighted = defaultdict(float)
    total = sum(weights.values())
    for at, board in before.items():
        position = ReconBoard.of(board)
        requests = [*dict.fromkeys(map(position.promoting, position.move_actions())), None]
        priors = [1 / len(requests)] * len(requests)
        if model.asked:
            ((judged, _),) = count_material([(position, requests)])
            heated = np.array(judged) ** (1 / model.heat)
            priors = ((1 - model.doubt) * heated / heated.sum() + model.doubt / len(requests)).tolist()
        for request, prior in zip(requests, priors, strict=True):
            taken, captured = (None, None) if request is None else position.revise(request)
            if captured == capture:
                result = position.copy()
                result.push(taken, captured)
                found[key(result.as_chess(), color)] += weights[at] / total * prior
    return found


def after_player(
    before: dict[object, Board], weights: Weighted, color: Color, taken: chess.Move | None, left: Weighted
) -> Weighted:
    """Return the weights after the player's move, of the positions that are left."""
    found: Weighted = defaultdict(float)
    for at, board in before.items():
        result = board.copy(stack=False)
        result.push(taken or chess.Move.null())
        found[key(result, color)] += weights[at]
    return {at: weight for at, weight in found.items() if at in left}


def boards_in(weighted: WeightedPositions) -> dict[object, Board]:
    return {key(board, weighted.color): board for board in weighted.positions}


def weights_in(weighted: WeightedPositions) -> Weighted:
    keys = [key(board, weighted.color) for board in weighted.positions]
    return dict(zip(keys, weighted.weights.tolist(), strict=True))


def key(board: Board, color: Color) -> object:
    """Return what tells positions apart to a player: the opponent's pieces, castling rights and pawn to be captured."""
    other = not color
    pieces = tuple(int(board.pieces(kind, other)) for kind in chess.PIECE_TYPES)
    square = board.ep_square if board.turn == color else None
    if square is not None and not chess.BB_PAWN_ATTACKS[other][square] & int(board.pieces(chess.PAWN, color)):
        square = None
    return pieces, board.castling_rights & (chess.BB_RANK_1 if other else chess.BB_RANK_8), square
