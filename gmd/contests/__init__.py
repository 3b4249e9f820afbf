"""Contests: the matches and tournaments that programs run here, as their reports say. The daemon runs none itself.

``contest`` has one with its latest report, ``book`` all of them with their limits, ``sql`` stores them.
"""
