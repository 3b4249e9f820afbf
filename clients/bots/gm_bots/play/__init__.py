"""``gmd play``: a person against a bot, in the terminal. ``command`` is the command line."""
