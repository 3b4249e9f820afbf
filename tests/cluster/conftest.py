"""Fixtures of the tests of clusters."""

from tests.cluster.members import cluster_url  # noqa: F401 (pytest finds it here)
