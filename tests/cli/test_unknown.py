"""The command line answers a misspelt command with a suggestion."""

from __future__ import annotations

import pytest

from tests.cli.commands import gmd


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("serv", "No such command 'serv'. Did you mean 'serve'?"),
        ("tornament", "No such command 'tornament'. Did you mean 'tournament'?"),
        ("xyzzy", "No such command 'xyzzy'. See `gmd --help` for the commands."),
    ],
)
def test_unknown_command_is_answered_with_the_likely_command(typed: str, said: str) -> None:
    ran = gmd(typed)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith(f"Error: {said}\n")
