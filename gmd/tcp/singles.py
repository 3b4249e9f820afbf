"""Finds the clients that send one request at a time."""

from __future__ import annotations

#: Requests in a row that came alone, each while no other reply was held. After that many, the client is assumed to
#: continue like this. If it plays several games over its connection, it soon sends two requests within the time of a
#: commit, and the wrong assumption has cost no more than that time.
SINGLES = 4


class Singles:
    """Counts a session's requests that came alone, in a row."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def note(self, alone: bool, *, unacknowledged: bool) -> bool:
        """Note how the latest request came; return whether to read more only when the client has its reply.

        That is for a client that has long sent one request at a time, unless a reply that is held may show the end of
        a game: bytes that were sent before it left, and read after it, would look as if the client had it.

        :param alone: whether the request came alone, with no other reply held.
        :param unacknowledged: whether replies may show results that the client does not know of yet.
        """
        self._count = self._count + 1 if alone else 0
        return self._count > SINGLES and not unacknowledged
