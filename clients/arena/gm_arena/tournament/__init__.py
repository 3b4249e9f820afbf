"""``gmd tournament``: registered players of a daemon play a round robin or a gauntlet.

``plan`` decides the format and the next games, ``record`` keeps all events in a file, ``director`` runs the games
through ``daemon``; ``results`` makes the table and the PGN, ``display`` shows the progress, ``command`` is the command
line. Importing the package imports none of these modules.
"""
