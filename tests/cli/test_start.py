"""``gmd serve`` starts without the modules that no request needs, and finds its own commands without a search."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from gmd.cli.own_commands import own_command, own_entry_points
from tests.serving import START_SECONDS

#: Modules that take long to import, and that neither a daemon in memory nor any of its requests uses.
UNUSED = ("alembic", "email", "importlib.metadata", "litestar", "rich", "sqlalchemy", "zipfile")


@pytest.mark.slow
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


def test_own_commands_are_those_of_the_entry_points() -> None:
    commands = {command.name: command for command in entry_points(group="gmd.commands")}
    found = own_entry_points()
    assert set(found) == {
        name for name, command in commands.items() if command.dist and command.dist.name == "grandmasterd"
    }
    assert {name: commands[name].value for name in found} == found
    assert own_command("serve") is commands["serve"].load()
