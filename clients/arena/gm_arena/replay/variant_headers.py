"""The tags of a PGN, including gmd's variants that python-chess does not know."""

from __future__ import annotations

import chess
from chess.pgn import Game, Headers

from gmd.games.variant import Variant
from gmd.games.variants import named_in_pgn


def own_variant(tag: str) -> Variant | None:
    """Return gmd's variant that a Variant tag names, where python-chess does not know it."""
    variant = named_in_pgn(tag)
    return None if variant is None or variant.pgn_is_common else variant


class VariantHeaders(Headers):
    """The tags of a game of any variant that gmd plays."""

    def variant(self) -> type[chess.Board]:
        known = own_variant(self.get("Variant", ""))
        return super().variant() if known is None else known.board_type


class VariantGame(Game):
    """A game of any variant that gmd plays."""

    def __init__(self) -> None:
        super().__init__()
        self.headers = VariantHeaders(self.headers)
