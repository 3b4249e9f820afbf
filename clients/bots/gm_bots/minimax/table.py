"""The transposition table: what is known of positions that a search has been through.

An entry answers only for the depth it was searched to. A deeper one would be worth more, and the result would depend
on what happened to be in the table: it would change more than the number of nodes.
"""

from __future__ import annotations

#: What an entry's score is of the true one.
EXACT, AT_LEAST, AT_MOST = range(3)

#: A depth, a bound, a score as :func:`scores.to_table` makes it, and the best move (0 for none).
Entry = tuple[int, int, int, int]

#: Bytes that an entry takes: a tuple, its score and move, the key, and its place in a dictionary.
ENTRY_BYTES = 320

#: In a second some thirty thousand entries are made: this is enough for a minute.
DEFAULT_MEBIBYTES = 64


class Table(dict[int, Entry]):
    """By key, bounded: when it is full it is emptied, which costs little, as it is filled anew from the near positions.

    ``put`` is for the search, ``get`` is the dictionary's.
    """

    def __init__(self, mebibytes: int = DEFAULT_MEBIBYTES) -> None:
        super().__init__()
        self.most = max(1, mebibytes * 2**20 // ENTRY_BYTES)

    def put(self, key: int, entry: Entry) -> None:
        if len(self) >= self.most:
            self.clear()
        self[key] = entry
