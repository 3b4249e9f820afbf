"""A batch of games played beside ``gm_recon``, and everything compared that either of them says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import chess
import numpy as np
from chess import Color, Move, Square

from gm_env import OVER, SENSE_PASS, BatchedRbc, action_of, move_of, sense_of, square_of
from gm_recon import Cell, ReconGame
from tests.side_by_side import POSITIONS

#: Start positions from which a game can go on.
FENS = [fen for name, fen in POSITIONS.items() if name != "at the limit of half-moves"]


def seen_by(square: Square | None, color: Color) -> int:
    """Return a square as a player sees it; -1 for none."""
    if square is None:
        return -1
    return square if color else square ^ 56


#: By colour, a move's bit in the legal moves as one large number, by the identity of gm_recon's shared moves.
_BITS: tuple[dict[int, int], dict[int, int]] = {}, {}
_SHARED: list[Move] = []

#: Every how many turns the whole position is compared; what differs there differs later, too.
POSITIONS_EVERY = 8


def bits_of(moves: Sequence[Move], color: Color) -> int:
    """Return the bits of moves of gm_recon's lists."""
    known, bits = _BITS[color], 0
    for move in moves:
        bit = known.get(id(move))
        if bit is None:
            _SHARED.append(move)  # so that no other object gets its identity
            bit = known[id(move)] = 1 << action_of(move, color)
        bits |= bit
    return bits


class Beside:
    """A batch and as many games of gm_recon's, which the same random actions step."""

    def __init__(self, n: int, seed: int, fens: Sequence[str], limits: tuple[int | None, int | None]) -> None:
        self.reversible_moves, self.max_turns = limits
        self.fens = [fens[game % len(fens)] for game in range(n)]
        self.batch = BatchedRbc(
            n, seed, fens=self.fens, reversible_moves=self.reversible_moves, max_turns=self.max_turns
        )
        self.games = [self.begun(fen) for fen in self.fens]
        #: What happened, by kinds of events.
        self.happened: Counter[str] = Counter()

    def begun(self, fen: str) -> ReconGame:
        """Return a new game under the batch's limits."""
        return ReconGame(fen, reversible_moves=self.reversible_moves, max_turns=self.max_turns)

    def turn(self) -> None:
        """Play a turn in every game and compare; a finished game is begun anew instead."""
        batch = self.batch
        resting = batch.phases == OVER
        playing = np.flatnonzero(~resting).tolist()
        legal = [row.tobytes() for row in batch.legal.astype("<u8")]
        rows = list(zip(batch.colors.tolist(), batch.plies.tolist(), batch.lost.tolist(), strict=True))
        for index in playing:
            game = self.games[index]
            color = game.turn
            assert int.from_bytes(legal[index], "little") == bits_of(game.move_actions(), color), game
            assert rows[index] == (color, game.ply, seen_by(game.opponent_capture, color)), game
        senses = batch.sample_senses().copy()
        senses[batch.plies % 16 == 7] = SENSE_PASS
        windows = batch.sense(senses).tolist()
        for index in playing:
            game = self.games[index]
            square = square_of(int(senses[index]), game.turn)
            assert windows[index] == window_of(game.sense(square), square, game.turn), game
        moves = batch.sample_moves().tolist()
        rewards, ended = (each.tolist() for each in batch.move(np.array(moves)))
        results, reasons, winners = batch.results.tolist(), batch.reasons.tolist(), batch.winners.tolist()
        for index in playing:
            game = self.games[index]
            self._compare_move(game, moves[index], results[index])
            ends = game.win_reason.value if game.win_reason else 0, -1 if game.winner is None else game.winner
            assert (reasons[index], winners[index]) == ends
            assert (ended[index], rewards[index]) == (game.is_over(), self._rewards(game))
            if game.win_reason is not None:
                self.happened[game.win_reason.name] += 1
            if game.is_over() or game.ply % POSITIONS_EVERY == 0:
                assert batch.board(index).fen(en_passant="fen") == game.board.fen()
        for index in np.flatnonzero(resting).tolist():
            self.games[index] = self.begun(self.fens[index])
            assert (rewards[index], ended[index]) == ([0, 0], False)

    def _compare_move(self, game: ReconGame, action: int, result: list[int]) -> None:
        color, board = game.turn, game.board
        requested = move_of(action, color, chess.BB_EMPTY)
        piece = None
        if requested is not None:
            piece, requested = board.piece_at(requested.from_square), board.promoting(requested)
        _, taken, capture = game.move(requested)
        assert result == [action, action_of(taken, color), seen_by(capture, color)], game
        if requested is not None and piece is not None:
            self.happened[event(piece.piece_type, requested, taken, capture)] += 1
        else:
            self.happened["passed"] += 1

    def _rewards(self, game: ReconGame) -> list[int]:
        if game.winner is None:
            return [0, 0]
        return [1 if game.winner == color else -1 for color in (chess.BLACK, chess.WHITE)]


def event(piece: chess.PieceType, requested: Move, taken: Move | None, capture: Square | None) -> str:
    """Return what kind of turn it was."""
    is_pawn = piece == chess.PAWN
    if taken is None:
        return "pawn refused" if is_pawn else "castling refused"
    if taken.to_square != requested.to_square:
        return "double step cut short" if is_pawn else "cut short"
    if capture not in (None, taken.to_square):
        return "en passant"
    if taken.promotion:
        return f"promoted to {chess.piece_name(taken.promotion)}"
    castles = piece == chess.KING and abs(taken.to_square - taken.from_square) == 2
    return "castled" if castles else "moved"


def window_of(seen: Sequence[Cell], square: Square | None, color: Color) -> list[int]:
    """Return what a sense shows, as a batch shows it.

    :param seen: what gm_recon or reconchess shows; nothing of it is left over.
    """
    if square is None:
        return [15] * 9
    pieces = dict(seen)
    center, found = sense_of(square, color), []
    for rank in (-1, 0, 1):
        for file in (-1, 0, 1):
            if not (0 <= (center >> 3) + rank <= 7 and 0 <= (center & 7) + file <= 7):
                found.append(15)
                continue
            piece = pieces.pop(seen_by(center + 8 * rank + file, color))
            found.append(0 if piece is None else piece.piece_type + (0 if piece.color == color else 6))
    assert pieces == {}
    return found
