"""``gmd watch``: follows a live game in the terminal as a spectator."""
