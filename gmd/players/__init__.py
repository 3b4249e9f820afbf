"""Registered players: their accounts, their authentication, and the limits on attempts."""
