"""Ranked play: who plays whom next, and how strong everybody is.

The log of games is the one truth: :mod:`~gmd.ranked.record` counts its finished ranked games,
:mod:`~gmd.ranked.strengths` makes ratings of the counts, and :mod:`~gmd.ranked.ratings` keeps both while games end.
:mod:`~gmd.ranked.pairing` decides who is to play whom, and :mod:`~gmd.ranked.matchmaker` has it decide when somebody
has room, and invites the two.
"""
