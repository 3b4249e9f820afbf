"""The mapping from the server's causes to reconchess's win reasons."""

from __future__ import annotations

from typing import assert_never

from gm_protocol.endings import Cause
from gm_recon import WinReason


def reason_of(cause: Cause) -> WinReason | None:
    """Return reconchess's win reason for a cause; None for a cause that reconchess does not have."""
    match cause:
        case Cause.KING_CAPTURE:
            return WinReason.KING_CAPTURE
        case Cause.TIMEOUT:
            return WinReason.TIMEOUT
        case Cause.RESIGNATION:
            return WinReason.RESIGN
        case Cause.TURN_LIMIT | Cause.MOVE_LIMIT:
            return WinReason.TURN_LIMIT
        case Cause.FIFTY_MOVES:
            return WinReason.MOVE_LIMIT
        case Cause.DECLINED | Cause.WITHDRAWN | Cause.EXPIRED:
            return None
        case (
            Cause.CHECKMATE
            | Cause.STALEMATE
            | Cause.INSUFFICIENT_MATERIAL
            | Cause.THREEFOLD_REPETITION
            | Cause.DRAW_CLAIM
            | Cause.AGREEMENT
            | Cause.FORFEIT
        ):
            return None
        case other:
            assert_never(other)
