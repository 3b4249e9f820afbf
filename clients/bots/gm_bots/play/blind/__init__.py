"""A game of reconnaissance blind chess in the terminal: ``gmd play recon-zero``.

``memory`` is what the player has been told and may suspect, ``words`` says it in sentences, ``prompt`` reads what the
player types, ``view`` draws, ``match`` is the game on a daemon of its own with the bot at the other seat, and ``table``
brings them together.
"""
