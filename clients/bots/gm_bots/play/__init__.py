"""``gmd play``: a game of a person against a bot, in the terminal.

``command`` is the command line. Chess is in :mod:`gm_bots.minimax.play`; ``blind`` is reconnaissance blind chess,
against any bot that plays it.
"""
