"""Fixtures and settings that all tests share."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
import structlog
from hypothesis import settings

from gmd import addresses
from tests import drawn, forked, skips
from tests.order import pytest_collection_modifyitems  # noqa: F401 (pytest finds it here)
from tests.postgres import database_url  # noqa: F401 (pytest finds it here)
from tests.serving import Served, served
from tests.tls import Certificates, make_certificates

#: The descriptors that this process needs for both ends of a thousand connections, and for its files.
DESCRIPTORS = 2_500

# A busy machine is not a failure, and two ordinary runs of one commit try the same examples. The full proofs, started
# by hand, run for long and try new examples each time; they print a failing example, so that it can be tried again.
settings.register_profile("ordinary", deadline=None, derandomize=True)
settings.register_profile("full", deadline=None, print_blob=True)
settings.load_profile("full" if os.environ.get("GMD_PROOF") == "full" else "ordinary")

# Some containers set this variable. Without cached bytecode each of the thousand programs that the tests start compiles
# everything that it imports: the daemon then takes three times as long to start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

forked.install()

# A shell without job control has what it starts with "&" ignore Ctrl-C, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The threads by which pytest-xdist's processes send each other results wait five milliseconds for each other otherwise.
sys.setswitchinterval(0.0005)

#: New containers between two garbage collections. The modules and tests of a whole run are a million objects, and each
#: process would scan them again and again.
GC_THRESHOLD = 20_000
gc.disable()  # until the tests are collected, since nothing of them is garbage


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    skips.pytest_addoption(parser)
    pluginmanager.register(drawn, "drawn")  # which adds its option


def pytest_configure(config: pytest.Config) -> None:
    skips.pytest_configure(config)


def pytest_collection_finish() -> None:
    """Let garbage collection begin, and leave out what is there by now."""
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Start real programs in tests that are marked so, and let no test configure the log of the next one.

    :func:`structlog.testing.capture_logs` leaves structlog configured, and so printing on standard output.
    """
    with forked.real_starts() if item.get_closest_marker("real_start") is not None else nullcontext():
        result = yield
    structlog.reset_defaults()
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of processes for ``-n auto``: two more than there are processors.

    Many tests wait for programs that pause, and would leave a processor idle. On two processors, four processes need
    17 % less time than three.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + 2


@pytest.fixture(scope="session")
def daemon_process() -> Iterator[Served]:
    """Run one daemon for the whole test run, on a free port; each test knows its own games by their ids.

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
