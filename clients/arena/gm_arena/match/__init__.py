"""Matches between bots: ``gmd match``.

``plan`` computes the games from the arguments alone; ``runner`` plays them, several at once; ``record`` keeps their
results, in the plan's order; ``summary`` computes what they show. ``game`` plays one game, with each bot measured by
``observed``. ``match`` combines these, for ``command``
and for other programs.
"""
