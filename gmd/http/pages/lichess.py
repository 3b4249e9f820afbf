"""Links to lichess's analysis board, for games of open information."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import chess

#: lichess cuts moves off that make its address longer.
_LONGEST = 4_900


def analysis_address(variant: str, start_fen: str, moves: Sequence[str], ply: int, fen: str) -> str:
    """Return the address of a game on lichess; where it takes no moves, that of a position.

    :param variant: a variant that hides nothing; lichess knows all of them by our names.
    :param moves: the game's moves in SAN.
    :param ply: the ply to show.
    :param fen: the position at that ply.
    """
    line = quote("_".join(moves), safe="")
    if variant == "standard" and start_fen == chess.STARTING_FEN and line and len(line) < _LONGEST:
        return f"https://lichess.org/analysis/pgn/{line}#{ply}"
    return f"https://lichess.org/analysis/{variant}/{quote(fen.replace(' ', '_'))}"
