"""The daemon's counters as Prometheus metrics, built when they are scraped."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from gm_protocol.messages import REQUESTS
from gmd.http.backend import Vitals
from gmd.net.metrics import Histogram
from gmd.version import VERSION

#: The code of requests answered without an error.
OK = "ok"


def make_registry(backend: Vitals) -> CollectorRegistry:
    """Return a registry with the metrics of one daemon and of its process."""
    registry = CollectorRegistry()
    registry.register(DaemonCollector(backend))
    ProcessCollector(namespace="gmd", registry=registry)
    return registry


class DaemonCollector(Collector):
    """Every metric of the daemon itself. The manual lists them by their texts here."""

    def __init__(self, backend: Vitals) -> None:
        self._backend = backend

    def collect(self) -> Iterable[Metric]:
        yield from self._requests()
        yield from self._connections()
        yield from self._games()
        yield from self._memory()
        yield from self._event_log()
        yield _histogram(
            "gmd_event_loop_lag_seconds",
            "Seconds by which the event loop woke a sleeping task late, sampled once a second.",
            self._backend.services.metrics.loop_lag,
        )
        yield InfoMetricFamily(
            "gmd_build",
            "Version of gmd and of Python.",
            {"version": VERSION, "python": platform.python_version()},
        )

    def _requests(self) -> Iterator[Metric]:
        counts = self._backend.services.metrics
        requests = CounterMetricFamily(
            "gmd_requests",
            'Requests by kind ("none" if it is unknown) and by the code of the error, or "ok".',
            labels=("kind", "code"),
        )
        for kind, request in REQUESTS.items():
            requests.add_metric((kind, OK), counts.answered.get(request, 0))
        for (kind, code), count in counts.refused.items():
            requests.add_metric((kind, code), count)
        yield requests
        yield _histogram(
            "gmd_request_duration_seconds",
            "Seconds from a request's last byte (of a wait: from what woke it) to the sending of its reply.",
            counts.latency,
        )

    def _connections(self) -> Iterator[Metric]:
        counts = self._backend.services.metrics
        connections = GaugeMetricFamily(
            "gmd_connections", "Open connections by port, including those about to be closed.", labels=("port",)
        )
        turned_away = CounterMetricFamily(
            "gmd_connections_refused", "Connections refused by port, because there were too many.", labels=("port",)
        )
        evicted = CounterMetricFamily(
            "gmd_connections_evicted", "Connections evicted by port, to make room for others.", labels=("port",)
        )
        game, operator = self._backend.game_port, self._backend.operator_port
        for name, port in (("game", game), ("operator", operator), *self._backend.http_ports.items()):
            if port is not None:
                connections.add_metric((name,), port.connections)
                turned_away.add_metric((name,), port.turned_away)
                evicted.add_metric((name,), port.evicted)
        yield connections
        yield turned_away
        yield evicted
        sessions = game.sessions + (0 if operator is None else operator.sessions)
        yield GaugeMetricFamily("gmd_sessions", "Open game sessions, including the operator's.", sessions)
        ended = CounterMetricFamily(
            "gmd_sessions_ended",
            "Game sessions ended, by protocol version (0: nothing was sent) and by reason.",
            labels=("protocol", "reason"),
        )
        for (version, reason), count in counts.sessions.items():
            ended.add_metric((str(version), reason), count)
        yield ended
        yield CounterMetricFamily("gmd_received_bytes", "Bytes received by game sessions.", counts.bytes_in)
        yield CounterMetricFamily("gmd_sent_bytes", "Bytes sent by game sessions.", counts.bytes_out)

    def _games(self) -> Iterator[Metric]:
        arbiter = self._backend.services.arbiter
        yield GaugeMetricFamily("gmd_games_live", "Games that are not over.", arbiter.live_games)
        yield GaugeMetricFamily("gmd_games_in_memory", "Games held in memory.", arbiter.games_in_memory)
        roster = self._backend.services.roster
        queue = roster.queue
        yield GaugeMetricFamily("gmd_bot_games", "Games that the daemon's bots play, each in a process.", queue.playing)
        yield GaugeMetricFamily("gmd_bot_games_waiting", "Games that wait for a place with those bots.", len(queue))
        yield CounterMetricFamily(
            "gmd_bot_failures", "Processes of those bots that failed; each loses its game.", roster.failures
        )

    def _memory(self) -> Iterator[Metric]:
        services = self._backend.services
        held = GaugeMetricFamily(
            "gmd_memory_bytes", "Estimated bytes that games and connections hold.", labels=("what",)
        )
        held.add_metric(("games",), services.arbiter.games_bytes)
        held.add_metric(("connections",), services.memory.held)
        yield held
        yield CounterMetricFamily(
            "gmd_connections_cut_off", "Connections closed because they held the most memory.", services.memory.cut_off
        )

    def _event_log(self) -> Iterator[Metric]:
        counts = self._backend.services.metrics
        writable = self._backend.services.arbiter.log.failure is None
        yield GaugeMetricFamily("gmd_log_writable", "1 while the event log can be written, otherwise 0.", int(writable))
        yield _histogram("gmd_log_commit_games", "Games in each commit to the event log.", counts.commit_games)
        yield _histogram("gmd_log_commit_duration_seconds", "Seconds that each commit took.", counts.commit_seconds)
        yield CounterMetricFamily("gmd_log_commit_failures", "Commits that failed.", counts.commits_failed)


def _histogram(name: str, documentation: str, values: Histogram) -> Metric:
    bounds = [*map(str, values.bounds), "+Inf"]
    buckets = list(zip(bounds, accumulate(values.counts), strict=True))
    return HistogramMetricFamily(name, documentation, buckets, values.total)
