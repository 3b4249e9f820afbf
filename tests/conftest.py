"""Fixtures and settings that all tests share."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from collections.abc import Iterator

import pytest
import structlog

from gmd.net import addresses
from tests.postgres import database_url  # noqa: F401 (pytest finds it here)
from tests.proofs import register_profiles
from tests.serving import Served, served
from tests.tls import Certificates, make_certificates

#: The descriptors that this process needs for both ends of a thousand connections, and for its files.
DESCRIPTORS = 2_500

register_profiles()

# Some containers set this variable. Without cached bytecode each program that the tests start compiles everything that
# it imports: the daemon then takes three times as long to start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell without job control has what it starts with "&" ignore Ctrl-C, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The threads by which pytest-xdist's processes send each other results wait five milliseconds for each other otherwise.
sys.setswitchinterval(0.0005)

#: New containers between two garbage collections. The modules and tests of a whole run are a million objects, and each
#: process would scan them again and again.
GC_THRESHOLD = 20_000
gc.disable()  # until the tests are collected, since nothing of them is garbage


def pytest_collection_finish() -> None:
    """Let garbage collection begin, and leave out what is there by now."""
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let no test configure the log of the next one.

    :func:`structlog.testing.capture_logs` leaves structlog configured, and so printing on standard output.
    """
    result = yield
    structlog.reset_defaults()
    return result


@pytest.fixture(scope="session")
def daemon_process() -> Iterator[Served]:
    """Run one daemon for all tests of a process, on a free port; each test knows its own games by their ids.

    All tests connect from one address, so the rate limits are lifted: failures and registrations of one test must not
    count against another.
    """
    limits = ("--max-failures-per-minute", "1000000", "--max-registrations-per-hour", "1000000")
    with served(*limits) as daemon:
        yield daemon
        assert daemon.stop(signal.SIGTERM) == 0


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Return a certificate for the local host."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def separate_loopback() -> Iterator[None]:
    """Count every loopback address as a client of its own, as addresses of other machines are."""
    with addresses.separate_loopback():
        yield


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """Raise the limit on descriptors for a test with many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < DESCRIPTORS:
        pytest.skip(f"needs {DESCRIPTORS} descriptors, and the hard limit is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, DESCRIPTORS), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
