"""The transposition table: the results of positions that a search has visited.

An entry answers only for the depth it was searched to. A deeper one would be more exact, but then the result would
depend on the contents of the table, and not only the number of nodes.
"""

from __future__ import annotations

#: The relation of an entry's score to the true one.
EXACT, AT_LEAST, AT_MOST = range(3)

#: A depth, a bound, a score as :func:`scores.to_table` makes it, and the best move (0 for none).
Entry = tuple[int, int, int, int]

#: The size of an entry in bytes: a tuple, its score and move, the key, and its place in a dictionary.
ENTRY_BYTES = 320

#: Some thirty thousand entries are made in a second: this is enough for a minute.
DEFAULT_MEBIBYTES = 64


class TranspositionTable(dict[int, Entry]):
    """Entries by key, bounded: a full table is cleared, which costs little, since near positions soon fill it again.

    The search uses ``put``; ``get`` is the dictionary's.
    """

    def __init__(self, mebibytes: int = DEFAULT_MEBIBYTES) -> None:
        super().__init__()
        self.most = max(1, mebibytes * 2**20 // ENTRY_BYTES)

    def put(self, key: int, entry: Entry) -> None:
        if len(self) >= self.most:
            self.clear()
        self[key] = entry
