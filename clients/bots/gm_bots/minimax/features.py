"""What the search does to be quick and to see clearly: each can be switched off, to see what it gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Features:
    """The first six change only how many nodes a search takes, the last two what it sees.

    :ivar alpha_beta: leave out what cannot change the result; without it this is plain minimax.
    :ivar table: remember positions that are reached in several ways.
    :ivar hash_move: look at the move first that was best when the position was last searched; needs the table.
    :ivar captures_first: captures before quiet moves, the most valuable victim first, of those the least attacker.
    :ivar killers: quiet moves early that have refuted another move at the same distance from the root.
    :ivar history: quiet moves in the order of how much they have refuted anywhere.
    :ivar quiescence: at the horizon, go on with captures until there are none that help.
    :ivar check_extension: a side in check is given a ply more.
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
