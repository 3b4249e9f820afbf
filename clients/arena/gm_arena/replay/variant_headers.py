"""The tags of a PGN, with the variants that python-chess does not know and gmd does."""

from __future__ import annotations

import chess
from chess.pgn import Game, Headers

from gmd.games.variant import Variant
from gmd.games.variants import named_in_pgn


def own_variant(tag: str) -> Variant | None:
    """Return the variant of gmd's that a Variant tag means, where python-chess does not read it."""
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
