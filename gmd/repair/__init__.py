"""The repair of a damaged log: whole games and players go into a new file, and the rest is set aside."""
