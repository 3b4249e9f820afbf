"""Bots that speak other protocols than gmd's, brought to a gmd server as they are: ``gmd connect``.

``bot`` says what a bot is to all the rest. ``reconchess_bot``, ``uci_bot`` and ``codingame_bot`` are the kinds there
are, and ``specs`` tells them apart. ``seat`` lets one bot play one seat of a game; ``bridge`` plays the games of a
player, several at once.

``schedule``, ``swiss`` and ``crosstable`` are who plays whom and what it came to; ``tournament`` is ``gmd tournament``.
Importing the package imports none of them.
"""
