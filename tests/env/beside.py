"""A batch of games played beside ``gm_recon``, and everything compared that either of them says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

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


@cache
def bit_of(move: Move, color: Color) -> int:
    """Return a move's bit in the legal moves as one large number."""
    return 1 << action_of(move, color)


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
        for game in np.flatnonzero(~resting):
            self._compare_actions(game)
        senses = batch.sample_senses().copy()
        # Some games pass.
        senses[batch.plies % 16 == 7] = SENSE_PASS
        windows = batch.sense(senses).copy()
        for game in np.flatnonzero(~resting):
            self._compare_sense(game, int(senses[game]), windows[game].tolist())
        moves = batch.sample_moves().copy()
        rewards, ended = batch.move(moves)
        for game in np.flatnonzero(~resting):
            self._compare_move(game, int(moves[game]))
            assert ended[game] == self.games[game].is_over()
            assert rewards[game].tolist() == self._rewards(self.games[game])
        for game in np.flatnonzero(resting):
            self.games[game] = self.begun(self.fens[game])
            assert (rewards[game].tolist(), bool(ended[game])) == ([0, 0], False)

    def _compare_actions(self, index: int) -> None:
        game, color = self.games[index], self.games[index].turn
        legal = int.from_bytes(self.batch.legal[index].astype("<u8").tobytes(), "little")
        expected = 0
        for move in game.move_actions():
            expected |= bit_of(move, color)
        assert legal == expected, game
        assert self.batch.colors[index] == color
        assert self.batch.plies[index] == game.ply
        assert self.batch.lost[index] == seen_by(game.opponent_capture, color)

    def _compare_sense(self, index: int, sense: int, window: list[int]) -> None:
        game, color = self.games[index], self.games[index].turn
        square = square_of(sense, color)
        assert window == window_of(game.sense(square), square, color), game

    def _compare_move(self, index: int, action: int) -> None:
        game, color = self.games[index], self.games[index].turn
        pawns = game.board.as_chess().pawns
        requested = move_of(action, color, pawns)
        assert requested is None or requested in game.move_actions()
        _, taken, capture = game.move(requested)
        self._count(requested, taken, capture, pawns)
        results = self.batch.results[index].tolist()
        assert results == [action, action_of(taken, color), seen_by(capture, color)], game
        assert move_of(results[1], color, pawns) == taken
        assert self.batch.board(index).fen(en_passant="fen") == game.board.fen()
        reason = game.win_reason
        assert self.batch.reasons[index] == (0 if reason is None else reason.value)
        assert self.batch.winners[index] == (-1 if game.winner is None else game.winner)

    def _rewards(self, game: ReconGame) -> list[int]:
        if game.winner is None:
            return [0, 0]
        return [1 if game.winner == color else -1 for color in (chess.BLACK, chess.WHITE)]

    def _count(self, requested: Move | None, taken: Move | None, capture: Square | None, pawns: int) -> None:
        if requested is None:
            self.happened["passed"] += 1
            return
        is_pawn = pawns >> requested.from_square & 1
        is_from_home = requested.from_square in (chess.E1, chess.E8)
        castles = is_from_home and abs(requested.to_square - requested.from_square) == 2
        if taken is None:
            self.happened["pawn refused" if is_pawn else "castling refused"] += 1
        elif taken.to_square != requested.to_square:
            self.happened["double step cut short" if is_pawn else "cut short"] += 1
        elif capture not in (None, taken.to_square):
            self.happened["en passant"] += 1
        elif taken.promotion:
            self.happened[f"promoted to {chess.piece_name(taken.promotion)}"] += 1
        elif castles and not is_pawn:
            self.happened["two steps from a king's square"] += 1


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
