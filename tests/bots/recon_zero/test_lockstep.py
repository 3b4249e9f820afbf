"""The search of many games in step finds what the search of each one finds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import blake2b

import chess
import numpy as np
import pytest
from chess import Move

from gm_bots.recon_zero.lockstep.candidates import Examined, value_senses
from gm_bots.recon_zero.lockstep.encoding import encode_all, with_attacks
from gm_bots.recon_zero.lockstep.forest import Forest, Found
from gm_bots.recon_zero.lockstep.judging import Judge, Values, count_material
from gm_bots.recon_zero.lockstep.trees import Indexes, Trees
from gm_client.rbc import SENSE_SQUARES
from gm_env.actions import action_of, move_of, seen_by
from gm_env.kernels.layout import MOVES
from gm_env.positions import read, written
from gm_recon import ReconBoard, ReconGame
from tests.bots.recon_zero.judges import judge_by
from tests.bots.recon_zero.plain_encoding import encode
from tests.bots.recon_zero.plain_evaluation import Evaluator, Judgement, plain_material, plain_network
from tests.bots.recon_zero.plain_search import PlainSearch
from tests.bots.recon_zero.plain_sensing import plain_worth

pytestmark = pytest.mark.slow

#: Positions of one player that may be true.
Candidates = list[ReconBoard]


def candidates(rng: random.Random, most: int = 4) -> Candidates:
    """Return a position of a random game, and others with one of the opponent's pieces elsewhere."""
    game = ReconGame()
    for _ in range(rng.randrange(60)):
        game.sense(rng.choice(game.sense_actions()))
        game.move(rng.choice([*game.move_actions(), None]))
        if game.is_over():
            return candidates(rng, most)
    found = [game.board]
    for _ in range(rng.randrange(most)):
        board = game.board.as_chess()
        piece = board.remove_piece_at(rng.choice(list(chess.scan_forward(board.occupied_co[not board.turn]))))
        board.set_piece_at(rng.choice([square for square in range(8, 56) if not board.piece_at(square)]), piece)
        board.castling_rights = board.clean_castling_rights()
        found.append(ReconBoard.of(board))
    return found


def likes(fen: str, move: Move | None) -> float:
    """Return a number from 0 to 1 that looks random and is the same for the same position and move."""
    digest = blake2b(f"{fen} {move}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") + 1) / 2**64


def judge_one(fen: str, moves: Sequence[Move | None]) -> Judgement:
    weights = [likes(fen, move) for move in moves]
    return [weight / sum(weights) for weight in weights], 2 * likes(fen, Move.null()) - 1


def by_whim(positions: Sequence[tuple[ReconBoard, Sequence[Move | None]]]) -> list[Judgement]:
    """Judge by random numbers, so that no two moves are equally good; sum floats in one order, as sums depend on it."""
    judged = []
    for board, moves in positions:
        order = sorted(range(len(moves)), key=lambda each: str(moves[each]))
        priors, value = judge_one(board.fen(), [moves[each] for each in order])
        by_move = dict(zip(order, priors, strict=True))
        judged.append(([by_move[each] for each in range(len(moves))], value))
    return judged


def search_all(games: Sequence[Candidates], forest: Forest, simulations: int, unseen: float = 0) -> Found:
    rows = [written(board) for boards in games for board in boards]
    states, numbers = (np.array(part) for part in zip(*rows, strict=True))
    forest.begin(states, numbers, np.array([len(boards) for boards in games]), [unseen] * len(games))
    forest.deepen(simulations)
    return forest.found()


@pytest.mark.parametrize("seed", range(4))
def test_visits_and_values_are_those_of_the_search_of_one_game(seed: int) -> None:
    rng = random.Random(seed)
    games = [candidates(rng) for _ in range(8)]
    found = search_all(games, Forest(judge_by(by_whim)), 40, unseen=0.3)
    for index, boards in enumerate(games):
        moves = [*boards[0].move_actions(), None]
        search = PlainSearch(boards, moves, by_whim, unseen=0.3)
        search.deepen(40)
        expected = search.found()
        visits, turn = np.zeros(MOVES, int), boards[0].turn
        for move, count in expected.visits.items():
            visits[action_of(move, turn)] += count
        assert np.array_equal(found.visits[index], visits), boards[0].fen()
        assert found.values()[index] == pytest.approx(expected.value, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_positions_are_evaluated_by_material_as_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    check_judge(count_material, plain_material, [candidates(rng) for _ in range(20)])


def test_network_judges_positions_as_one_by_one() -> None:
    pytest.importorskip("torch", reason="needs PyTorch: .venv/bin/pip install -e '.[train]'")
    from gm_bots.recon_zero.checkpoint import load_network
    from gm_bots.recon_zero.checkpoint_files import SHIPPED
    from gm_bots.recon_zero.lockstep.network_judge import NetworkJudge

    network, rng = load_network(SHIPPED), random.Random(5)
    games = [candidates(rng) for _ in range(10)]
    check_judge(NetworkJudge(network), plain_network(network), games)
    check_judge(NetworkJudge(network, "bfloat16"), plain_network(network), games, tolerance=0.05)


def test_planes_are_those_of_boards() -> None:
    boards = [board for seed in range(20) for board in candidates(random.Random(seed))]
    states, numbers = (np.array(part) for part in zip(*map(written, boards), strict=True))
    assert np.array_equal(encode_all(states, numbers), [encode(board.as_chess()) for board in boards])


def test_planes_of_attacks_count_the_pieces_that_attack_each_square() -> None:
    boards = [board.as_chess() for seed in range(20) for board in candidates(random.Random(seed))]
    shown = with_attacks(np.array([encode(board) for board in boards]))
    for board, planes in zip(boards, shown, strict=True):
        kinds = [(color, kind) for color in (board.turn, not board.turn) for kind in chess.PIECE_TYPES]
        for (color, kind), plane in zip(kinds, planes[15:].reshape(12, 64), strict=True):
            pieces = board.pieces_mask(kind, color)
            counts = [len(board.attackers(color, square) & pieces) for square in chess.SQUARES]
            assert [2 * plane[seen_by(square, board.turn)] for square in chess.SQUARES] == counts


def check_judge(judge: Judge, evaluator: Evaluator, games: Sequence[Candidates], tolerance: float = 1e-5) -> None:
    """Compare probabilities and values in the positions after one simulation, roots and others."""
    seen: list[ReconBoard] = []

    def compare(trees: Trees, nodes: Indexes) -> Values:
        values = judge(trees, nodes)
        for node, value in zip(nodes, values, strict=True):
            board = ReconBoard.of(read(trees.states[node], trees.numbers[node]))
            edges = slice(trees.first[node], trees.first[node] + trees.edges[node])
            pawns = int(board.as_chess().pieces(chess.PAWN, board.turn))
            moves = [move_of(int(action), board.turn, pawns) for action in trees.action[edges]]
            [(priors, expected)] = evaluator([(board, moves)])
            assert trees.prior[edges] == pytest.approx(np.array(priors), abs=tolerance), board.fen()
            assert value == pytest.approx(expected, abs=tolerance)
            seen.append(board)
        return values

    search_all(games, Forest(compare), 3)
    assert len(seen) > 3 * len(games)


@pytest.mark.parametrize("alarm", [0.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_attacks_and_senses_are_those_of_boards(seed: int, alarm: float) -> None:
    boards = [board.as_chess() for board in candidates(random.Random(seed), 200)]
    turn = boards[0].turn
    attacked = np.array([board.is_attacked_by(not turn, board.king(turn) or 0) for board in boards])
    weights = np.random.default_rng(seed).random(len(boards)) + 0.01
    states, numbers = (np.array(part) for part in zip(*(written(ReconBoard.of(each)) for each in boards), strict=True))
    found = Examined.of(states, numbers, weights)
    assert np.array_equal(found.attacked, attacked)

    values = np.empty(64)
    best = value_senses(states, weights, found.attacked, alarm, values)
    assert values[best] == values.max()
    for square in SENSE_SQUARES:
        wanted = plain_worth(boards, weights, square, alarm)
        assert values[seen_by(square, turn)] == pytest.approx(wanted, abs=1e-9)
