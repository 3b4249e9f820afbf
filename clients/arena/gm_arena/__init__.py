"""Adapters that let bots written for other protocols play on a gmd server unchanged: ``gmd connect``.

``bot`` defines the interface that every kind of bot implements. ``reconchess_bot``, ``uci_bot`` and ``codingame_bot``
are the kinds, and ``specs`` chooses among them. ``seat`` lets one bot play one seat of a game; ``bridge`` plays the
games of a player, several at once.

``schedule`` and ``crosstable`` compute pairings and standings; ``tournament`` is ``gmd tournament``.
Importing the package imports none of these modules.
"""
