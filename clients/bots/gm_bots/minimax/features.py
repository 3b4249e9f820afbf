"""The techniques of the search: each can be switched off, to measure its effect."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Features:
    """The switches. The first six change only how many nodes a search takes, the last two its results.

    :ivar alpha_beta: skip moves that cannot change the result; without it this is plain minimax.
    :ivar table: remember positions that are reached in several ways.
    :ivar hash_move: try the best move of the position's last search first; needs the table.
    :ivar captures_first: try captures before quiet moves: the most valuable victim first, then the least attacker.
    :ivar killers: try quiet moves early that have refuted another move at the same distance from the root.
    :ivar history: sort quiet moves by how much they have refuted anywhere.
    :ivar quiescence: at the horizon, continue with captures until none helps.
    :ivar check_extension: give a side in check an extra ply.
    """

    alpha_beta: bool = True
    table: bool = True
    hash_move: bool = True
    captures_first: bool = True
    killers: bool = True
    history: bool = True
    quiescence: bool = True
    check_extension: bool = True


ALL = Features()
