"""Observations in the shape of OpenSpiel's game ``rbc``, for those who come from there.

Names, shapes, order and meaning are those of its default observer in ``open_spiel`` 2.0.2. The numbers are equal, too,
except where OpenSpiel does not follow reconchess or tells a player too much:

- ``illegal_move``: OpenSpiel shows it to the opponent of the player who tried such a move. Here the player itself sees
  it, when it is to sense next, and the opponent never does.
- ``capture``: OpenSpiel does not count a capture en passant; here it counts.
- ``phase`` and ``capture`` of a player that waits: OpenSpiel shows at once that the opponent has sensed. Here a player
  that waits is always shown the phase in which the opponent is to sense.

OpenSpiel knows 36 senses; on the edge of the board a window is cut off, of which it has no counterpart. It ends games
by threefold repetition and insufficient material, too, which reconchess does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from chess import Color
from numpy.typing import NDArray

from .batch import BatchedRbc
from .kernels.layout import TO_MOVE, TO_SENSE

__all__ = ["TENSOR_SIZE", "observation_dict", "observation_tensor"]

#: The length of a flat tensor.
TENSOR_SIZE = 814
#: Letters of the piece types in OpenSpiel's order; an observation's planes are in the reverse order.
_PIECES = "kqrbnp"
_CAPTURED, _LOST, _CASTLING = 18, 13, 19


def observation_dict(batch: BatchedRbc, player: Color) -> dict[str, NDArray[np.float32]]:
    """Return what a player is shown in every game, by OpenSpiel's names; the first axis counts the games.

    As in the dictionary of OpenSpiel's Python, a small letter is an own piece and a capital one of the opponent's, for
    both players. Boards are ``[game, file, rank]``, not mirrored for Black.

    :param player: White is OpenSpiel's player 1, Black its player 0.
    """
    observed = batch.observations(player)
    is_turn = batch.colors == player
    to_sense, to_move = is_turn & (batch.phases == TO_SENSE), is_turn & (batch.phases == TO_MOVE)
    captured, lost = observed[:, _CAPTURED].any((1, 2)), observed[:, _LOST].any((1, 2))
    shown = {
        **_counts(batch, player),
        "phase": _binary(~to_move),
        "capture": _binary(np.where(is_turn, to_sense & lost, captured)),
        "side_to_play": _binary(batch.colors),
        "illegal_move": _binary(to_sense & _was_refused(observed)),
    }
    for plane, letter in zip(range(5, -1, -1), _PIECES, strict=True):
        shown[f"private_{letter}_pieces"] = _board(observed[:, plane], player)
    for name, file in (("left", 0), ("right", 7)):
        shown[f"private_{name}_castling"] = _binary(observed[:, _CASTLING, 0, file])
    for plane, letter in zip(range(11, 5, -1), _PIECES.upper(), strict=True):
        shown[f"private_sense_{letter}_pieces"] = _board(observed[:, plane] * to_move[:, None, None], player)
    return shown


def observation_tensor(batch: BatchedRbc, player: Color) -> NDArray[np.float32]:
    """Return :func:`observation_dict` as flat tensors in OpenSpiel's order: float32[n, 814]."""
    return np.concatenate([part.reshape(batch.n, -1) for part in observation_dict(batch, player).values()], axis=1)


def _counts(batch: BatchedRbc, player: Color) -> dict[str, NDArray[np.float32]]:
    """Return how many pieces each side has, 16 at the most, which both know: each observes every capture."""
    pieces = batch.privileged_state(player)[:, :12].reshape(batch.n, 2, -1).sum(2, dtype=np.int64)
    own, others = np.eye(17, dtype=np.float32)[np.minimum(pieces, 16)].transpose(1, 0, 2)
    black, white = (others, own) if player else (own, others)
    return {"pieces_black": black, "pieces_white": white}


def _was_refused(observed: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return whether the player's last move was not made as requested, and captured nothing."""
    differs: NDArray[np.bool_] = (observed[:, 14:16] != observed[:, 16:18]).any((1, 2, 3))
    return differs & ~observed[:, _CAPTURED].any((1, 2))


def _binary(values: NDArray[Any]) -> NDArray[np.float32]:
    return np.eye(2, dtype=np.float32)[values.astype(np.int64)]


def _board(planes: NDArray[np.uint8], player: Color) -> NDArray[np.float32]:
    seen = planes if player else planes[:, ::-1]
    return seen.transpose(0, 2, 1).astype(np.float32)
