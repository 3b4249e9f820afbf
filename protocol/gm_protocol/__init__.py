"""The gm protocol's wire, without I/O: frames, messages, the game state, errors."""
