"""The bots that come with gmd: ``minimax`` and ``recon-zero``, which search, and ``random``, which does not.

They are entry points of the group ``gmd.bots``, through which ``gmd connect`` finds them like any other bot.
Importing the package imports none of them.
"""
