"""The bots that come with gmd as players of the daemon: each game is played by a process of its own."""
