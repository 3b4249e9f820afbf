"""``game_from_pgn``: ``new_game`` with a PGN."""

from __future__ import annotations

from gmd.handlers.new_game import new_game as game_from_pgn

__all__ = ["game_from_pgn"]
