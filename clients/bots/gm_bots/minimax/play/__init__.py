"""A game against the engine in the terminal: ``gmd play minimax``.

``game`` is the game, ``levels`` how strong the engine is, ``prompt`` reads what the player types, ``view`` draws, and
``table`` brings them together. The command line is :mod:`gm_bots.play`'s.
"""
