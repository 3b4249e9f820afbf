"""How strong a network is, and whether it works: games in step for ``gmd match``, and ``gmd train check``."""
