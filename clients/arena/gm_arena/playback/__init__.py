"""``gmd playback``: replays a recorded game of blind chess to a bot, and compares the bot's choices."""
