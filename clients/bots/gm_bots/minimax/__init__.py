"""A classical chess engine, to read and to play against.

``evaluation`` computes the value of a position, ``position`` makes and takes back moves, ``generation`` lists them,
``ordering`` sorts them, ``search`` searches, and ``engine`` is the interface for other code: its ``search`` takes a
board and a limit. ``uci`` speaks UCI, ``play`` is a game in the terminal, ``player`` plays blind chess by one ``guess``
at the position, and ``bots`` makes both play on a server. Importing the package imports none of these modules.

The name ``Minimax`` here is the bot as a player of the package reconchess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .player import Minimax as Minimax
else:
    from gm_bots.reconchess_players import offered

    __dir__, __getattr__ = offered("gm_bots.minimax.player", "Minimax", globals())
