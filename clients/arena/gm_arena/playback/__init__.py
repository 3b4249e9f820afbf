"""``gmd playback``: gives a bot a recorded game of blind chess once more, and compares what it does."""
