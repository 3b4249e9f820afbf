"""``gmd tournament``: registered players of a daemon play a round robin, a gauntlet or a Swiss tournament.

``plan`` says what a tournament is and which games are next, ``record`` keeps what has happened in a file, ``director``
has the games played, by way of ``daemon``; ``results`` makes tables and PGN of it, ``display`` shows how it goes on,
``command`` is the command line. Importing the package imports none of them.
"""
