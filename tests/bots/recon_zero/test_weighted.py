"""The weights of possible positions are the likelihoods of all moves of the opponent's that led to them."""

from __future__ import annotations

import math
import random
from collections import defaultdict

import chess
import numpy as np
import pytest
from chess import Board, Color
from numpy.typing import NDArray

from gm_recon import ReconBoard, ReconGame
from tests.bots.recon_zero.plain_evaluation import plain_material
from tests.proofs import cases

pytest.importorskip("numba", reason="needs numba: .venv/bin/pip install -e '.[train]'")

from gm_bots.minimax.evaluation import KING_WORTH, WORTH
from gm_bots.recon_zero.lockstep import judging
from gm_bots.recon_zero.lockstep.opponent_model import OpponentModel, model_of
from gm_bots.recon_zero.lockstep.requests import FEATURES
from gm_bots.recon_zero.lockstep.weighted import LEAST, WeightedPositions

pytestmark = pytest.mark.slow

Weighted = dict[object, float]
#: By position, the weight with each kind of opponent.
Joint = dict[object, NDArray[np.float64]]

FENS = [
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "4k3/1p1p1p1p/8/P1P1P1P1/1p1p1p1p/8/P1P1P1P1/4K3 b - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "8/PPP2ppp/2k5/8/8/5K2/ppp2PPP/8 w - - 0 1",
]


ALL = 1_000_000
#: Two kinds of opponents, and one that requests anything.
KINDS = {
    "eager": (0.7, -2.0, 0.5, 0.3, 2.0, 1.5, 1.0, -0.2, 0.1),
    "calm": (0.1, -0.5, -1.0, 0.9, 0.5, 3.0, 0.2, 0.1, -0.3),
    "any": (0.0,) * len(FEATURES),
}


@pytest.mark.parametrize("fen", FENS)
def test_weights_are_those_of_brute_force(fen: str) -> None:
    for seed in range(max(1, cases(1) // 2)):
        compare(fen, seed, OpponentModel(KINDS, doubt=0.1, asked=ALL, carried=ALL))


def test_positions_that_are_not_asked_have_equal_requests() -> None:
    compare(FENS[1], 7, OpponentModel(KINDS, asked=0))


def test_likeliest_positions_alone_carry_their_weights() -> None:
    compare(FENS[1], 7, OpponentModel(KINDS, asked=ALL, carried=20))


def test_kind_of_the_opponent_is_found_out() -> None:
    """One that captures and attacks whenever it can, and one that requests anything."""
    model = model_of({"eager": (0.0, 0.0, 0.0, 9.0, 9.0, 0.0, 9.0, 0.0, 0.0)})
    found = []
    for eager in (True, False):
        game, rng = ReconGame(), random.Random(1)
        weighted = WeightedPositions(chess.WHITE, judging.count_material, model, cap=100_000, rng=random.Random(0))
        while not game.is_over() and game.ply < 20:
            mine, actions = game.turn == chess.WHITE, [*game.move_actions(), None]
            if mine and game.ply:
                weighted.opponent_moved(game.opponent_capture)
            cells = game.sense(weighted.positions.best_sense() if mine else None)
            if mine:
                weighted.saw(list(cells))
                result = game.move(rng.choice(actions))
                if not game.is_over():
                    weighted.player_moved(*result)
            else:
                position = game.board
                eagerness = [features_of(position, action, 1.0) @ model.coefficients[0] for action in actions]
                game.move(actions[int(np.argmax(eagerness))] if eager else rng.choice(actions))
        found.append(weighted.joint.sum(axis=0))
    assert found[0][0] > 0.9
    assert found[1][1] > 0.9


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
        chess.WHITE,
        judging.count_material,
        OpponentModel(KINDS, asked=ALL, carried=ALL),
        fen=fen,
        cap=cap,
        rng=random.Random(0),
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
            {key(Board(fen), color): np.ones(len(model.kinds))},
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


def check(weighted: WeightedPositions, expected: Joint) -> None:
    found, total = weights_in(weighted), sum(weight.sum() for weight in expected.values())
    shares = {at: weight.sum() / total for at, weight in expected.items()}
    assert found.keys() == shares.keys()
    for at, share in shares.items():
        assert found[at] == pytest.approx(share, rel=1e-6, abs=1e4 * LEAST)


def after_opponent(
    before: dict[object, Board], weights: Joint, color: Color, capture: chess.Square | None, model: OpponentModel
) -> Joint:
    """Return the weights after the opponent's move."""
    found: Joint = defaultdict(lambda: np.zeros(len(model.kinds)))
    carried = set(sorted(before, key=lambda at: -weights[at].sum())[: model.carried])
    for at, board in before.items():
        position = ReconBoard.of(board)
        requests = [*dict.fromkeys(map(position.promoting, position.move_actions())), None]
        results = [(None, None) if request is None else position.revise(request) for request in requests]
        judged = [1 / len(requests)] * len(requests)
        if model.asked:
            ((judged, _),) = plain_material([(position, requests)])
        features = np.array([features_of(position, *each) for each in zip(requests, judged, strict=True)])
        eager = np.exp(features @ model.coefficients.T)
        accepted = np.array(
            [request is None or taken is not None for request, (taken, _) in zip(requests, results, strict=True)]
        )
        chances = (1 - model.doubt) * eager / eager.sum(axis=0) + (model.doubt * accepted / accepted.sum())[:, None]
        for (taken, captured), chance in zip(results, chances, strict=True):
            if captured == capture:
                result = position.copy()
                result.push(taken, captured)
                found[key(result.as_chess(), color)] += weights[at] * chance * (at in carried)
    return found


def features_of(position: ReconBoard, request: chess.Move | None, chance: float) -> NDArray[np.float64]:
    """Return the features of a request, by python-chess."""
    board, found = position.as_chess(), dict.fromkeys(FEATURES, 0.0)
    mover = board.turn
    found["evaluator"] = math.log(max(chance, 1e-4))
    taken, captured = (None, None) if request is None else position.revise(request)
    found["pass"], found["refused"] = float(request is None), float(request is not None and taken is None)
    if taken is None:
        return np.array([found[name] for name in FEATURES])
    piece, victim = board.piece_at(taken.from_square), None if captured is None else board.piece_at(captured)
    assert piece is not None
    if victim is not None and victim.piece_type == chess.KING:
        found["king"] = 1.0
        return np.array([found[name] for name in FEATURES])
    if victim is not None and captured is not None:
        found["takes"] = worth(victim, captured)
    if taken.promotion:
        found["takes"] += worth(chess.Piece(chess.QUEEN, mover), taken.to_square) - 1
    else:
        found["square"] = worth(piece, taken.to_square) - worth(piece, taken.from_square)
    value = 10.0 if piece.piece_type == chess.KING else worth(piece, taken.from_square)
    found["risks"] = value * board.is_attacked_by(not mover, taken.to_square)
    found["saves"] = value * board.is_attacked_by(not mover, taken.from_square)
    after = position.copy()
    after.push(taken, captured)
    king = after.as_chess().king(not mover)
    found["attacks"] = float(king is not None and after.as_chess().is_attacked_by(mover, king))
    return np.array([found[name] for name in FEATURES])


def worth(piece: chess.Piece, square: chess.Square) -> float:
    """Return what a piece is worth on a square, in pawns, by the engine ``minimax``."""
    is_king = piece.piece_type == chess.KING
    table = KING_WORTH[False][piece.color] if is_king else WORTH[piece.piece_type, piece.color]
    return table[square] * (1 if piece.color else -1) / 100


def after_player(
    before: dict[object, Board], weights: Joint, color: Color, taken: chess.Move | None, left: Weighted
) -> Joint:
    """Return the weights after the player's move, of the positions that are left."""
    found: Joint = {}
    for at, board in before.items():
        result = board.copy(stack=False)
        result.push(taken or chess.Move.null())
        at_then = key(result, color)
        found[at_then] = found.get(at_then, 0) + weights[at]
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
