"""What the daemon counts as it goes: whole numbers in plain objects, for a count may cost a reply next to nothing.

Whoever shows them turns them into its own form when it is asked; :mod:`gmd.http.exporter` does so for Prometheus.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

#: Upper bounds of the classes a latency is sorted into, in seconds: from a known move to a stopped disk.
LATENCY_BOUNDS = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
#: Upper bounds of the classes of batches, in games.
BATCH_BOUNDS = tuple(2.0**power for power in range(13))

#: The kind of what was refused before its kind was known, or had none that this server knows.
NO_KIND = "none"


class Histogram:
    """Values sorted into classes.

    :ivar bounds: each class's highest value; one class more has all that is higher.
    :ivar counts: how many values each class has.
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
    """One daemon's counts.

    :ivar answered: requests answered without an error, by what they are.
    :ivar refused: refusals, by kind and code; of kind :data:`NO_KIND` where a request had none that is known.
    :ivar latency: seconds from the arrival of a request's last byte to the sending of its reply, which includes the
        commit it waited for; of a ``wait``, from what woke it.
    :ivar bytes_in, bytes_out: what game sessions have received and sent.
    :ivar sessions: game sessions that have ended, by protocol version (0 before the first message) and reason.
    :ivar commit_games: games in each commit to the event log.
    :ivar commit_seconds: how long each commit took.
    :ivar commits_failed: commits that failed.
    :ivar loop_lag: how late the event loop woke a task that slept, in seconds.
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
