"""The bots that come with gmd: ``minimax``, ``recon-zero`` and ``expectation``, which search, and ``random``.

They are entry points of the group ``gmd.bots``, through which ``gmd connect`` finds them like any other bot.
Importing the package imports none of them.
"""
