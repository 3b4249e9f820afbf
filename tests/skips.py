"""The files with skipped tests: with ``--skipped-to``, the continuous integration's first run writes them down.

In its second run nothing is missing, and these files run again, whole. So nobody maintains a list of markers: whatever
is skipped, for whatever reason, is tried again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

#: The name under which a worker of pytest-xdist hands over its files.
_HANDED_OVER = "files_with_skips"


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "write the files of the tests that are skipped, a line each"
    parser.addoption("--skipped-to", metavar="FILE", type=Path, help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--skipped-to")
    if path is not None:
        config.pluginmanager.register(Skips(path), "skips")


class Skips:
    """A recorder of the files of skipped tests, and of modules that are skipped as they are imported.

    Workers note their own: of several modules that are skipped at one line, the process that started the workers sees
    the report of one.
    """

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

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._files.update(getattr(node, "workeroutput", {}).get(_HANDED_OVER, ()))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        files = sorted(self._files)
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_HANDED_OVER] = files
        else:
            self._path.write_text("".join(f"{file}\n" for file in files))
