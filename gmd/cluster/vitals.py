"""What a daemon that is one of several shows of itself: for metrics, and for the others' operators."""

from __future__ import annotations

import msgspec


class LinkVitals(msgspec.Struct, frozen=True):
    """The link to another living daemon.

    :ivar daemon: its id.
    :ivar game: its game port, as host:port.
    :ivar connected: whether messages are sent at once.
    :ivar forwarded: requests that this daemon has forwarded to it.
    :ivar answered: requests of its clients that this daemon has answered.
    :ivar notes: notes to it that it has not acknowledged.
    """

    daemon: int
    game: str
    connected: bool
    forwarded: int
    answered: int
    notes: int


class HttpCounts:
    """What the HTTP side of a daemon counts of its clients' requests for games and for what the lobby's owner answers.

    :ivar requests: all of them; a stream of events is one.
    :ivar forwarded: those that another daemon has answered.
    """

    __slots__ = ("forwarded", "requests")

    def __init__(self) -> None:
        self.requests = self.forwarded = 0


class ClusterVitals(msgspec.Struct, frozen=True):
    """A daemon among the others. Counts begin when it joins.

    :ivar shards: how many shards of games it serves.
    :ivar lobby: whether it serves the lobby.
    :ivar lease_seconds: the rest of its lease, as far as it knows; 0 once that has run out.
    :ivar requests: the requests of its clients over the game port, and what it answers over HTTP.
    :ivar http_requests, http_forwarded: see :class:`HttpCounts`.
    """

    daemon: int
    shards: int
    lobby: bool
    lease_seconds: float
    requests: int
    links: tuple[LinkVitals, ...] = ()
    http_requests: int = 0
    http_forwarded: int = 0

    @property
    def forwarded(self) -> int:
        """The requests over the game port that were forwarded to other daemons."""
        return sum(link.forwarded for link in self.links)

    @property
    def notes(self) -> int:
        """The notes to other daemons that wait for an acknowledgement."""
        return sum(link.notes for link in self.links)


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(ClusterVitals)


def written(vitals: ClusterVitals) -> str:
    """Return vitals as they are stored in the table of daemons."""
    return _encoder.encode(vitals).decode()


def read(stored: str | None) -> ClusterVitals | None:
    """Return stored vitals; None if there are none, or those of another version that cannot be read."""
    try:
        return None if stored is None else _decoder.decode(stored)
    except msgspec.MsgspecError:
        return None
