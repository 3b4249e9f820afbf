"""A forwarded request gets the bytes that the owner would give a client of its own, and nothing hidden shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.paired import one_and_cluster, two_clusters
from tests.helpers_proof import in_processes, proof_size
from tests.noninterference import Open, play_pairs, quiet

#: The pairs of games played on one cluster, whose games have at most 256 ids.
PAIRS_PER_CLUSTER = 100


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with quiet():
        yield


@pytest.mark.proof
@pytest.mark.parametrize("opened", [one_and_cluster, two_clusters])
def test_player_at_another_daemon_gets_same_bytes_in_games_that_look_the_same(opened: Open) -> None:
    pairs = proof_size(6, 2_000, share=40)
    jobs = [(first, min(PAIRS_PER_CLUSTER, pairs - first), opened) for first in range(0, pairs, PAIRS_PER_CLUSTER)]
    counts = list(in_processes(play_pairs, jobs))
    played, different, compared = map(sum, zip(*counts, strict=True))
    assert played == pairs
    assert different > 0.7 * pairs
    assert compared > 50 * pairs
