"""A classical chess engine, to read and to play against.

``evaluation`` says what a position is worth, ``position`` makes and takes back moves, ``generation`` lists them,
``ordering`` says which to look at first, ``search`` looks ahead, ``engine`` is all of it to others: its ``search``
takes a board and a limit. ``uci`` speaks UCI, ``play`` is a game in the terminal, ``bots`` plays on a server, blind
chess too, by one ``guess`` at the position. Importing the package imports none of them.
"""
