"""Attacks by one hostile client, and honest bots that play beside them."""
