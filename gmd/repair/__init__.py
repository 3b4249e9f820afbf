"""Repairing a damaged log: what is whole in its file goes into a new file, and the rest is set aside."""
