"""The metrics of a daemon that is one of several on a database."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from gmd.cluster.vitals import ClusterVitals


def cluster_metrics(vitals: ClusterVitals) -> Iterator[Metric]:
    """Yield the metrics of a daemon among others. The label ``daemon`` is the other one's game port, as host:port."""
    yield GaugeMetricFamily("gmd_cluster_shards", "Shards of games that this daemon serves.", vitals.shards)
    yield GaugeMetricFamily("gmd_cluster_lobby", "Whether this daemon serves the lobby: 1 or 0.", int(vitals.lobby))
    yield GaugeMetricFamily(
        "gmd_cluster_lease_seconds",
        "Rest of this daemon's lease; it is renewed every half second.",
        vitals.lease_seconds,
    )
    yield CounterMetricFamily(
        "gmd_cluster_http_requests",
        "Requests over HTTP for games and lists, which have an owner.",
        vitals.http_requests,
    )
    yield CounterMetricFamily(
        "gmd_cluster_http_forwarded", "Those of them that other daemons have answered.", vitals.http_forwarded
    )
    labels = ("daemon",)
    up = GaugeMetricFamily("gmd_link_up", "Whether there is a connection to another daemon: 1 or 0.", labels=labels)
    forwarded = CounterMetricFamily(
        "gmd_link_forwarded", "Requests of game sessions forwarded to another daemon.", labels=labels
    )
    answered = CounterMetricFamily(
        "gmd_link_answered", "Requests of another daemon's clients that this one has answered.", labels=labels
    )
    notes = GaugeMetricFamily(
        "gmd_link_notes_waiting", "Notes to another daemon that it has not acknowledged.", labels=labels
    )
    for link in vitals.links:
        up.add_metric((link.game,), int(link.connected))
        forwarded.add_metric((link.game,), link.forwarded)
        answered.add_metric((link.game,), link.answered)
        notes.add_metric((link.game,), link.notes)
    yield from (up, forwarded, answered, notes)
