"""What is skipped: with ``--skipped-to``, the continuous integration's first run writes it down.

In its second run nothing is missing, and these tests and modules run again. So nobody maintains a list of markers:
whatever is skipped, for whatever reason, is tried again. A test runs again with all its parameters, since there may be
others where more is installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

#: The name under which a worker of pytest-xdist hands over what it has skipped.
_HANDED_OVER = "skips"


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "write the tests and modules that are skipped, a line each"
    parser.addoption("--skipped-to", metavar="FILE", type=Path, help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--skipped-to")
    if path is not None:
        config.pluginmanager.register(Skips(path), "skips")


class Skips:
    """A recorder of skipped tests, and of modules that are skipped as they are imported.

    Workers note their own: of several modules that are skipped at one line, the process that started the workers sees
    the report of one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped:
            self._names.add(report.nodeid.partition("[")[0])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._names.update(getattr(node, "workeroutput", {}).get(_HANDED_OVER, ()))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        names = sorted(self._names)
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_HANDED_OVER] = names
        else:
            self._path.write_text("".join(f"{name}\n" for name in names))
