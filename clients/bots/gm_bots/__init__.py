"""The bots that come with gmd: ``minimax``, which searches, and ``random``, which does not.

They are entry points of the group ``gmd.bots``, by which ``gmd connect`` finds them as it finds anybody's.
Importing the package imports none of them.
"""
