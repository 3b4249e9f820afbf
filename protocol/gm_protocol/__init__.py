"""The wire format of the gm protocol, without I/O: frames, messages, the game state, errors."""
