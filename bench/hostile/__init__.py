"""Attacks by one hostile client, and honest bots that play at the same time."""
