"""How likely each possible position is, by the opponent's moves that led to it.

The probability of a move is that of two kinds of opponent: a strong one, who plays by Stockfish's scores, with a share
of moves at random for all that it does not see, and a reckless one, who may make any move and likes to attack the king.
Each position has a probability together with either kind, so a game tells the kind, too. Depth 1 predicts moves as well
as depth 4.

A position that can be reached in several ways has the sum of their probabilities, and each observation rules positions
out. Only the likeliest positions are followed so. The others share what remains evenly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from heapq import nlargest
from math import exp
from operator import itemgetter

import chess
from chess import BB_SQUARES, Board, Move, Square

from gm_recon import Cell, ReconBoard
from gm_recon.possible import PossiblePositions
from gm_recon.side_moves import EP, RIGHTS, at, column, rook_right

from .engine import Scores
from .results import Engine, expected_result, fen_of, is_decided

#: The depth of the searches of the opponent's moves.
DEPTH = 1
#: A move of a strong opponent with an expected result that is better by so much is e times as likely.
SOFTNESS = 0.06
#: The share of turns in which an opponent makes no move, and of a strong one's others those made as if at random.
PASSES, RANDOM = 0.1, 0.2
#: How many times as likely as another a reckless opponent makes a bold move.
BOLD = 10.0
#: The expected result, to a strong opponent, of a move that chess forbids: it may not know that its king is attacked.
ATTACKED = 0.05
#: The probability of a strong opponent at first, and of a reckless one.
KINDS = (0.5, 0.5)
#: The most positions that are followed.
FOLLOWED = 2_000
#: The most and the least of them from which the opponent's moves are scored in a turn. With 60 the true position is as
#: likely afterwards as with 300.
MOST_ASKED, LEAST_ASKED = 200, 16

#: A probability together with each kind of opponent.
Joint = tuple[float, float]
#: Positions as :class:`PossiblePositions` has them.
Weights = dict[int, Joint]

NOTHING: Joint = 0.0, 0.0


class Likelihoods:
    """The probabilities of the likeliest positions. All events must be reported in the order in which they happen."""

    def __init__(self, positions: PossiblePositions, engine: Engine) -> None:
        """:param positions: what is possible, at the start of a game; the caller reports all events to it, too."""
        self._positions, self._engine = positions, engine
        self._weights: Weights = dict.fromkeys(positions.draw(1), KINDS)
        self._rest: Joint = 0.0, 0.0  # of all other positions together
        self._others = 0  # their number
        self._before: list[tuple[int, Board]] = []
        self._asked: dict[int, Scores] = {}  # the scores of the opponent's moves from these
        self._capture: Square | None = None

    def __len__(self) -> int:
        """Return the number of positions that are followed."""
        return len(self._weights)

    @property
    def likely(self) -> dict[int, float]:
        """The probabilities of the positions that are followed."""
        return {position: sum(joint) for position, joint in self._weights.items()}

    @property
    def others(self) -> float:
        """The probability of all other positions together."""
        return sum(self._rest)

    def ahead(self, stopped: Callable[[], bool]) -> Iterator[Board]:
        """Score the opponent's moves while it thinks, and yield the likeliest positions after one without a capture.

        :param stopped: is asked between two searches whether to end.
        """
        found: dict[int, tuple[float, Board, Move | None]] = {}
        for position, board in self._likeliest():
            if stopped():
                return
            scored = self._scores(position, board)
            for (move, capture), shares in shares_of(board, scored).items():
                if capture is None:
                    key, (strong, reckless) = moved(position, board, move), self._weights[position]
                    weight = strong * shares[0] + reckless * shares[1]
                    found[key] = (found[key][0] if key in found else 0.0) + weight, board, move
        for _, board, move in nlargest(FOLLOWED, found.values(), key=itemgetter(0)):
            board = board.copy(stack=False)
            board.push(move or Move.null())
            board.clear_stack()
            yield board

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, before the positions do. :meth:`carry` weighs what follows from it."""
        self._before, self._capture = self._likeliest(), capture

    def _likeliest(self) -> list[tuple[int, Board]]:
        likely = self.likely
        first = nlargest(MOST_ASKED, likely, key=likely.__getitem__)
        return list(zip(first, self._positions.boards(first), strict=True))

    def carry(self, most: int, ends: float) -> None:
        """Weigh the positions after the opponent's turn, by its moves from the likeliest ones before it.

        :param most: the most positions before it whose moves are scored.
        :param ends: the moment after which no further ones are, beyond the least.
        """
        before, size = self._before[:most], self._engine.size
        if not before:
            return
        self._before = []
        found, done = Weights(), 0
        strong, even = 0.0, 0.0
        while done < len(before) and (done < LEAST_ASKED or time.monotonic() < ends):
            some = before[done : done + size]
            done += len(some)
            scores = self._engine.map(lambda each: self._scores(*each), some)
            for (position, board), scored in zip(some, scores, strict=True):
                joint = self._weights[position]
                strong, even = strong + joint[0], even + joint[1]
                for (move, capture), shares in shares_of(board, scored).items():
                    if capture == self._capture:
                        after = moved(position, board, move)
                        known = found.get(after, NOTHING)
                        found[after] = known[0] + joint[0] * shares[0], known[1] + joint[1] * shares[1]
        whole, survived = _sum(self._weights.values(), self._rest), _sum(found.values())
        # The other positions are taken to survive the observation as often as these.
        rest = (
            max(0.0, whole[0] - strong) * (survived[0] / strong if strong else 1.0),
            max(0.0, whole[1] - even) * (survived[1] / even if even else 1.0),
        )
        self._set(found, rest if found else whole)

    def saw(self, cells: Collection[Cell]) -> None:
        """Record the result of the sense, after the positions did. :meth:`carry` came before it."""
        mask = expected = 0
        for square, piece in cells:
            mask |= column(square)
            if piece is not None and piece.color != self._positions.color:
                expected |= at(piece.piece_type, square)
        self._keep({each: joint for each, joint in self._weights.items() if each & mask == expected})

    def moving(self, requested: Move | None, taken: Move | None, capture: Square | None) -> Weights:
        """Return the weights that are left by the player's move, before the positions record it."""
        gone = EP
        if capture is not None:
            gone |= column(capture) | rook_right(not self._positions.color, capture)
        left = Weights()
        for (each, joint), board in zip(self._weights.items(), self._positions.boards(self._weights), strict=True):
            result = (None, None) if requested is None else ReconBoard.of(board).revise(requested)
            if result == (taken, capture) and capture != board.king(not board.turn):
                left[each & ~gone] = _sum([left.get(each & ~gone, NOTHING)], joint)
        return left

    def moved(self, left: Weights) -> None:
        """Record what :meth:`moving` returned, after the positions recorded the move."""
        self._asked = {}
        self._keep(left)
        if len(self._positions) <= FOLLOWED:  # there is room for all of them
            others = [each for each in self._positions.draw(FOLLOWED) if each not in self._weights]
            share = self._rest[0] / max(1, len(others)), self._rest[1] / max(1, len(others))
            self._set(self._weights | dict.fromkeys(others, share), NOTHING)

    def _keep(self, left: Weights) -> None:
        """Keep these weights, and of the others the part that is still possible."""
        others = max(0, len(self._positions) - len(left))
        possible = min(1.0, others / self._others) if self._others else 0.0
        self._set(left, (self._rest[0] * possible, self._rest[1] * possible))

    def _set(self, weights: Weights, rest: Joint) -> None:
        """Follow the likeliest of some positions; all others together have the rest."""
        if len(weights) > FOLLOWED:
            first = nlargest(FOLLOWED, weights.items(), key=lambda each: sum(each[1]))
            strong, even = _sum(weights.values(), rest)
            weights = dict(first)
            followed = _sum(weights.values())
            rest = strong - followed[0], even - followed[1]
        self._others = max(0, len(self._positions) - len(weights))
        whole = sum(_sum(weights.values(), rest))
        if whole:
            self._weights = {each: (joint[0] / whole, joint[1] / whole) for each, joint in weights.items()}
            self._rest = rest[0] / whole, rest[1] / whole
        else:  # all that was followed is ruled out
            self._weights, self._rest = {}, KINDS

    def _scores(self, position: int, board: Board) -> Scores:
        if position not in self._asked:
            self._asked[position] = {} if is_decided(board) else self._engine.scores(fen_of(board), DEPTH)
        return self._asked[position]


def shares_of(board: Board, scores: Scores) -> dict[tuple[Move | None, Square | None], Joint]:
    """Return the probability of each result of the opponent's turn by either kind: its move and the square of its
    capture, if any.

    :param board: the opponent is to move.
    :param scores: those of its legal moves, in hundredths of a pawn; without any, all moves are equally likely.
    """
    truth, king = ReconBoard.of(board), board.king(not board.turn)
    made = dict.fromkeys(truth.revise(request) for request in truth.move_actions())
    moves = [(move, capture) for move, capture in made if move is not None and capture != king]
    if not moves:
        return {(None, None): (1.0, 1.0)}
    results = [expected_result(scores[uci]) if (uci := move.uci()) in scores else ATTACKED for move, _ in moves]
    best = max(results)
    good = [exp((result - best) / SOFTNESS) for result in results] if scores else [1.0] * len(moves)
    bold = [BOLD if is_bold(board, move) else 1.0 for move, _ in moves]
    even, by_score = (1 - PASSES) * RANDOM / len(moves), (1 - PASSES) * (1 - RANDOM) / sum(good)
    by_boldness = (1 - PASSES) / sum(bold)
    found: dict[tuple[Move | None, Square | None], Joint] = {(None, None): (PASSES, PASSES)}
    found |= zip(
        moves,
        ((even + by_score * each, by_boldness * other) for each, other in zip(good, bold, strict=True)),
        strict=True,
    )
    return found


def is_bold(board: Board, move: Move) -> bool:
    """Return whether the piece that is moved then attacks the other side's king, or is a knight that comes nearer.

    Nothing stands in a knight's way, and from its first square it takes most kings with its fourth move.
    """
    king = board.king(not board.turn)
    piece_type = move.promotion or board.piece_type_at(move.from_square)
    if king is None or piece_type == chess.KING:
        return False
    if piece_type == chess.PAWN:
        return bool(chess.BB_PAWN_ATTACKS[board.turn][move.to_square] & BB_SQUARES[king])
    if piece_type == chess.KNIGHT:
        moves = _knight_moves(king)
        return moves[move.to_square] < moves[move.from_square]
    if chess.between(king, move.to_square) & board.occupied & ~BB_SQUARES[move.from_square]:
        return False
    straight = chess.square_file(king) == chess.square_file(move.to_square) or chess.square_rank(
        king
    ) == chess.square_rank(move.to_square)
    diagonal = not straight and bool(chess.ray(king, move.to_square))
    return (straight and piece_type in (chess.ROOK, chess.QUEEN)) or (
        diagonal and piece_type in (chess.BISHOP, chess.QUEEN)
    )


@cache
def _knight_moves(target: Square) -> list[int]:
    """Return how many moves a knight needs from each square to one of them."""
    moves, reached = [0] * 64, BB_SQUARES[target]
    while reached != chess.BB_ALL:
        for square in chess.scan_forward(chess.BB_ALL & ~reached):
            moves[square] += 1
        for square in chess.scan_forward(reached):
            reached |= chess.BB_KNIGHT_ATTACKS[square]
    return moves


def moved(position: int, board: Board, move: Move | None) -> int:
    """Return the position after a move of the opponent's."""
    if move is None:
        return position & ~EP
    piece_type = board.piece_type_at(move.from_square)
    assert piece_type is not None
    if piece_type == chess.PAWN:
        is_plain = move.promotion is None and abs(move.to_square - move.from_square) != 16
    else:
        is_plain = not position & RIGHTS or piece_type not in (chess.KING, chess.ROOK)
    if is_plain:
        return (position ^ at(piece_type, move.from_square) ^ at(piece_type, move.to_square)) & ~EP
    after = board.copy(stack=False)
    after.push(move)
    return PossiblePositions.part_of(after, after.turn)


def _sum(joints: Iterable[Joint], start: Joint = NOTHING) -> Joint:
    strong, even = start
    for each in joints:
        strong, even = strong + each[0], even + each[1]
    return strong, even
