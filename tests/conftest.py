"""What the tests of every room share."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.serving import Served, served
from tests.skips import pytest_addoption, pytest_configure  # noqa: F401 (pytest finds them here)
from tests.tls import Certificates, make_certificates

#: Descriptors this process needs to hold both ends of a thousand connections, and its files.
DESCRIPTORS = 2_500

# A busy machine is not a failure, and two ordinary runs of one commit try the same examples. The full proofs,
# run by hand and for long, try new ones each time; what they find they print, to be tried again.
settings.register_profile("ordinary", deadline=None, derandomize=True)
settings.register_profile("full", deadline=None, print_blob=True)
settings.load_profile("full" if os.environ.get("GMD_PROOF") == "full" else "ordinary")


@pytest.fixture(scope="session")
def daemon_process() -> Iterator[Served]:
    """One daemon for the whole run, on a free port; tests are told apart by the games they make."""
    with served() as daemon:
        yield daemon
        assert daemon.stop(signal.SIGTERM) == 0


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """A certificate for the local host."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """As many descriptors as a test with a crowd needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < DESCRIPTORS:
        pytest.skip(f"needs {DESCRIPTORS} descriptors, and the hard limit is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, DESCRIPTORS), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
