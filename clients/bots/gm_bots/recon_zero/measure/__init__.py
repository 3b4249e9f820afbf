"""What a network is worth: ``gmd evaluate``, which plays it against others and counts by the arena's statistics.

``opponents`` says who these are, ``table`` what came of it. The games are a match of the arena's.
"""
