"""The rules of the games: pure code, without I/O, clock or randomness."""
