"""Ranked play: matchmaking and ratings.

The event log is the only source: :mod:`~gmd.ranked.record` counts its finished ranked games,
:mod:`~gmd.ranked.strengths` computes ratings from the counts, and :mod:`~gmd.ranked.ratings` keeps both up to date as
games end. :mod:`~gmd.ranked.pairing` decides who plays whom; :mod:`~gmd.ranked.matchmaker` calls it when players have
room for games, and invites each pair.
"""
