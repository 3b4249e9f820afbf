"""What the tests of every room share."""

from __future__ import annotations

import os
import resource
import signal
import sys
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

# Some containers set this variable. Without cached bytecode each of the thousand programs that the tests start compiles
# everything that it imports: a start of the daemon takes three times as long.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of processes for ``-n auto``: one more than there are processors.

    Many tests wait for programs that pause by themselves, and would leave a processor idle.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + 1


@pytest.fixture(scope="session")
def daemon_process() -> Iterator[Served]:
    """One daemon for the whole run, on a free port; tests are told apart by the games they make.

    All come from one address: what some get wrong or register must not count for others.
    """
    limits = ("--max-failures-per-minute", "1000000", "--max-registrations-per-hour", "1000000")
    with served(*limits) as daemon:
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
