"""Matches between bots: ``gmd match``.

``plan`` computes the games from the arguments alone, and plays them; ``game`` plays one, ``workers`` several at a time
or in step. ``record`` keeps their results, ``summary`` computes what they show, and ``verdict`` says it; ``match``
combines these, for ``command``, whose options ``options`` and ``settings`` read.
"""
