"""The files with skipped tests: with ``--skipped-to``, the continuous integration's first run writes them down.

In its second run nothing is missing, and these files run again, whole. So nobody maintains a list of markers: whatever
is skipped, for whatever reason, is tried again.
"""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "write the files of the tests that are skipped, a line each"
    parser.addoption("--skipped-to", metavar="FILE", type=Path, help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--skipped-to")
    if path is not None and not hasattr(config, "workerinput"):  # workers report to the process that writes
        config.pluginmanager.register(Skips(path))


class Skips:
    """A recorder of the files of skipped tests, and of modules that are skipped as they are imported."""

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
