"""Registered players: who they are, what they prove it with, and how often they may try."""
