"""The daemon's counters: numbers in plain objects, because counting must cost a reply next to nothing.

They are converted only when they are shown; :mod:`gmd.http.exporter` does so for Prometheus.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

#: Upper bounds of the buckets of latencies, in seconds: from a repeated move to a disk that hangs.
LATENCY_BOUNDS = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
#: Upper bounds of the buckets of batch sizes, in games.
BATCH_BOUNDS = tuple(2.0**power for power in range(13))

#: The kind of a request that was refused before its kind was read, or whose kind this server does not know.
NO_KIND = "none"


class Histogram:
    """A histogram: values counted by buckets.

    :ivar bounds: the highest value of each bucket; a last bucket has all higher values.
    :ivar counts: the number of values in each bucket.
    :ivar total: the sum of all values.
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += times
        self.total += value * times


class Metrics:
    """The counters of one daemon.

    :ivar answered: requests answered without an error, by type.
    :ivar refused: refusals, by kind and code; the kind is :data:`NO_KIND` where a request has no known kind.
    :ivar latency: seconds from the arrival of a request's last byte to the sending of its reply, including the commit
        that it waited for; for a ``wait``, from the notification that woke it.
    :ivar bytes_in, bytes_out: bytes that game sessions have received and sent.
    :ivar sessions: game sessions that have ended, by protocol version (0 before the first message) and reason.
    :ivar commit_games: games in each commit to the event log.
    :ivar commit_seconds: how long each commit took.
    :ivar commits_failed: commits that failed.
    :ivar loop_lag: how late the event loop woke a sleeping task, in seconds.
    """

    def __init__(self) -> None:
        self.answered: defaultdict[type, int] = defaultdict(int)
        self.refused: defaultdict[tuple[str, str], int] = defaultdict(int)
        self.latency = Histogram(LATENCY_BOUNDS)
        self.bytes_in = 0
        self.bytes_out = 0
        self.sessions: defaultdict[tuple[int, str], int] = defaultdict(int)
        self.commit_games = Histogram(BATCH_BOUNDS)
        self.commit_seconds = Histogram(LATENCY_BOUNDS)
        self.commits_failed = 0
        self.loop_lag = Histogram(LATENCY_BOUNDS)
