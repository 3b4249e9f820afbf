"""``gmd serve`` starts without the modules that no request needs, and finds its own commands without a search."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from gmd.cli.own_commands import OWN, own_command
from tests.serving import START_SECONDS

#: Modules that take long to import, and that neither a daemon in memory nor any of its requests uses.
UNUSED = ("alembic", "email", "importlib.metadata", "litestar", "rich", "sqlalchemy", "zipfile")


def test_serve_imports_nothing_that_no_request_uses() -> None:
    code = (
        "import sys; from gmd.cli import main\n"
        "main(['serve', '--help'], standalone_mode=False)\n"
        "print('IMPORTED', *sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=START_SECONDS, check=True
    )
    imported = ran.stdout.partition("IMPORTED ")[2].split()
    assert "structlog" in imported
    assert [module for module in UNUSED if module in imported] == []


@pytest.mark.parametrize("before", ["", "import rich.console; "])
def test_rich_stays_what_it_is_when_structlog_is_imported_without_it(before: str) -> None:
    code = (
        f"import sys; {before}from gmd.plain_structlog import import_structlog; import_structlog()\n"
        "print('rich' in sys.modules, sys.modules['structlog'].dev.rich)\n"
        "import rich.console; print(rich.console.Console.__name__)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=START_SECONDS, check=True
    )
    assert ran.stdout.split() == [str(bool(before)), "None", "Console"]


@pytest.mark.parametrize("name", OWN)
def test_own_commands_are_those_of_the_entry_points(name: str) -> None:
    (found,) = entry_points(group="gmd.commands", name=name)
    assert own_command(name) is found.load()


def test_every_entry_point_of_the_daemon_is_an_own_command() -> None:
    commands = entry_points(group="gmd.commands")
    assert {command.name for command in commands if command.module.startswith("gmd.cli.")} == set(OWN)
    assert own_command("match") is None
