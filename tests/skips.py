"""Which files have tests that were skipped: with ``--skipped-to``, the continuous integration's first run notes them.

In its second run nothing lacks and these files are run again, whole. That is no list of markers to be kept current:
whatever is skipped, for whatever reason, is tried again.
"""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "write the files of the tests that are skipped, a line each"
    parser.addoption("--skipped-to", metavar="FILE", type=Path, help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--skipped-to")
    if path is not None and not hasattr(config, "workerinput"):  # pytest-xdist's workers report to the one that writes
        config.pluginmanager.register(Skips(path))


class Skips:
    """Notes the files of skipped tests, and of modules that are skipped as they are imported."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped:
            self._files.add(report.nodeid.partition("::")[0])

    def pytest_sessionfinish(self) -> None:
        self._path.write_text("".join(f"{file}\n" for file in sorted(self._files)))
