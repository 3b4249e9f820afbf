"""Chess against the engine in the terminal: ``gmd play``.

``game`` is the game, ``levels`` the engine's strengths, ``prompt`` reads what the player types, ``terminal`` draws and
asks, ``command`` is the command line.
"""
