"""A game against the engine in the terminal: ``gmd play minimax``.

``game`` is the game, ``levels`` the engine's strengths, ``prompt`` reads what the player types, ``view`` draws, and
``table`` combines them. The command line is in :mod:`gm_bots.play`.
"""
