"""Games in progress: the arbiter, deadlines, and those who wait for a game or watch it."""
