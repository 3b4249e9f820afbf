"""Matches that several machines play together: the server hands out their games, and counts each of them once.

``claim`` has what a worker asks and gets, ``sql`` the one implementation, in the games' database or, where that is
memory, in a database in memory (``memory``); ``book`` limits rates and numbers.
"""
