"""A game of reconnaissance blind chess in the terminal: ``gmd play recon-zero``.

``memory`` holds the player's knowledge and suspicions, ``words`` puts events in sentences, ``prompt`` reads what the
player types, ``view`` draws, ``match`` is the game on a daemon of its own with the bot in the other seat, and ``table``
combines them.
"""
