"""Clients of the gm protocol for Python: ``gmcat`` for the shell.

Each module is imported by its own name; importing the package imports none of them.
"""
