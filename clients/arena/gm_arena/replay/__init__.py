"""``gmd replay``: steps through a recorded game in a terminal."""
