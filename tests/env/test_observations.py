"""Every plane of the observations and of the true state, compared with those computed from ``gm_recon``'s games."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from chess import Color
from numpy.typing import NDArray

from gm_env import OBSERVATION, OVER, PRIVILEGED, TO_MOVE, TO_SENSE, BatchedRbc
from gm_recon import History, ReconBoard, Turn
from tests.env.beside import FENS
from tests.proofs import cases

pytestmark = pytest.mark.slow


class Planes:
    """Planes drawn by hand, as a player sees the board."""

    def __init__(self, names: tuple[str, ...], color: Color) -> None:
        self.planes = np.zeros((len(names), 8, 8), np.uint8)
        self._names, self._color = names, color

    def mark(self, name: str, square: int | None) -> None:
        if square is not None:
            seen = square if self._color else square ^ 56
            self.planes[self._names.index(name), seen >> 3, seen & 7] = 1

    def fill(self, name: str, value: int) -> None:
        (plane,) = [index for index, each in enumerate(self._names) if each.startswith(name)]
        self.planes[plane] = min(value, 255)


_MINE = ("own pawns", "own knights", "own bishops", "own rooks", "own queens", "own king")
_THEIRS = tuple(f"opponent's {name.removeprefix('own ')}" for name in _MINE)


def pieces(planes: Planes, board: chess.Board, color: Color, names: tuple[str, ...]) -> None:
    for piece_type in chess.PIECE_TYPES:
        for square in board.pieces(piece_type, color):
            planes.mark(names[piece_type - 1], square)


def phase(planes: Planes, is_turn: bool, phase: int, color: Color) -> None:
    planes.fill("everywhere: the player is to sense", is_turn and phase == TO_SENSE)
    planes.fill("everywhere: the player is to move", is_turn and phase == TO_MOVE)
    planes.fill("everywhere: the player has White", color)


def observed(history: History, color: Color, phase_of_game: int) -> NDArray[np.uint8]:
    """Return the observation of a player, from a game's record alone."""
    planes, board = Planes(OBSERVATION, color), history.board()
    is_turn, position = board.turn == color, board.as_chess()
    pieces(planes, position, color, _MINE)
    home = chess.BB_RANK_1 if color else chess.BB_RANK_8
    for square in chess.scan_forward(board.castling & home):
        planes.mark("own rooks that may castle", square)
    replayed = list(history.replay())
    own = [ply for ply, each in enumerate(replayed) if each.color == color]
    seen, square = [], None
    if is_turn and history.unfinished:
        square = history.unfinished[0]
        seen = [] if square is None else board.window(square)
    elif not is_turn and own:
        square, seen = replayed[own[-1]].turn.sense, replayed[own[-1]].sense_result
    for at, piece in seen:
        planes.mark("the squares sensed this turn", at)
        if piece is not None and piece.color != color:
            planes.mark(f"{_THEIRS[piece.piece_type - 1]}, as sensed this turn", at)
    before = len(replayed) - 1 if is_turn else own[-1] - 1 if own else -1
    if before >= 0:
        planes.mark("the square on which the opponent's last move captured", replayed[before].turn.capture_square)
    if own:
        _draw_move(planes, replayed[own[-1]].turn)
    phase(planes, is_turn, phase_of_game, color)
    planes.fill("everywhere: the number of turns", len(own))
    return planes.planes


def _draw_move(planes: Planes, turn: Turn) -> None:
    for name, move in (("requested", turn.requested), ("made", turn.taken)):
        if move is not None:
            planes.mark(f"the source of the last move {name}", move.from_square)
            planes.mark(f"the target of the last move {name}", move.to_square)
    planes.mark("the square on which the last move captured", turn.capture_square)


def truth(board: ReconBoard, color: Color, phase_of_game: int) -> NDArray[np.uint8]:
    planes, position = Planes(PRIVILEGED, color), board.as_chess()
    pieces(planes, position, color, _MINE)
    pieces(planes, position, not color, _THEIRS)
    for square in chess.scan_forward(board.castling):
        planes.mark("rooks of both sides that may castle", square)
    planes.mark("the en passant square", board.ep_square)
    planes.fill("everywhere: half-moves", board.halfmoves)
    planes.fill("everywhere: the full-move number", board.fullmoves)
    phase(planes, board.turn == color, phase_of_game, color)
    return planes.planes


def test_every_plane_is_what_the_record_says() -> None:
    compared = 0
    for seed in range(cases(1)):
        rng = random.Random(seed)
        batch = BatchedRbc(24, seed, fens=rng.choices(FENS, k=24), reversible_moves=None)
        for _ in range(rng.choice([6, 25])):
            compare(batch)
            batch.sense(batch.sample_senses())
            compare(batch)
            batch.move(batch.sample_moves())
            compared += 1
    assert compared


def compare(batch: BatchedRbc) -> None:
    histories = [batch.history(game) for game in range(batch.n)]
    for color in chess.COLORS:
        observations, truths = batch.observations(color), batch.privileged_state(color)
        for game, history in enumerate(histories):
            phase_of_game = int(batch.phases[game])
            if batch.phases[game] in (TO_SENSE, TO_MOVE, OVER):
                assert (observations[game] == observed(history, color, phase_of_game)).all()
                assert (truths[game] == truth(history.board(), color, phase_of_game)).all()


def test_observations_are_the_movers_by_default_or_of_one_player_a_game() -> None:
    batch = BatchedRbc(3, 1, fens=[FENS[1], FENS[2], FENS[0]])
    assert batch.colors.tolist() == [1, 0, 1]
    both = [batch.observations(color).copy() for color in (chess.BLACK, chess.WHITE)]
    assert (batch.observations() == np.stack([both[1][0], both[0][1], both[1][2]])).all()
    chosen = batch.observations(np.array([False, False, True]))
    assert (chosen == np.stack([both[0][0], both[0][1], both[1][2]])).all()
    assert (batch.privileged_state() == batch.privileged_state(batch.colors)).all()


def test_masks_are_the_legal_moves_as_bytes() -> None:
    batch = BatchedRbc(20, 4)
    for _ in range(30):
        masks = batch.masks()
        assert masks.shape == (20, 4673)
        shifts = np.arange(64, dtype=np.uint64)
        expected = (batch.legal[:, :, None] >> shifts & np.uint64(1)).reshape(20, -1)
        assert (masks[:, :-1] == expected).all()
        assert (masks[:, -1] == (batch.phases != OVER)).all()
        batch.sense(batch.sample_senses())
        batch.move(batch.sample_moves())


def test_names_of_planes_are_those_of_the_arrays() -> None:
    batch = BatchedRbc(2)
    assert batch.observations().shape == (2, len(OBSERVATION), 8, 8)
    assert batch.privileged_state().shape == (2, len(PRIVILEGED), 8, 8)
    assert len(set(OBSERVATION)) == len(OBSERVATION)
