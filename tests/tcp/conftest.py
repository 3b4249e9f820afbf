"""What the tests of connections share."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

#: Descriptors this process needs to hold both ends of a thousand connections, and its files.
DESCRIPTORS = 2_500


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """As many descriptors as a test with a crowd needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < DESCRIPTORS:
        pytest.skip(f"needs {DESCRIPTORS} descriptors, and the hard limit is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, DESCRIPTORS), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
