"""The command line answers a misspelt command with a suggestion."""

from __future__ import annotations

from tests.cli.commands import gmd


def test_unknown_command_is_answered_with_the_likely_command() -> None:
    for typed, said in (
        ("tornament", "No such command 'tornament'. Did you mean 'tournament'?"),
        ("xyzzy", "No such command 'xyzzy'. See `gmd --help` for the commands."),
    ):
        ran = gmd(typed)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.endswith(f"Error: {said}\n")
