"""The strength of a network: ``gmd evaluate``, which plays it against others and uses the arena's statistics.

``opponents`` selects the opponents, ``table`` prints the results. The games are a match of the arena's.
"""
