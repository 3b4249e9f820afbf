"""``gmd referee codingame``: CodinGame's chess match between two commands, played through a daemon."""
