"""The command line answers a misspelt command with a suggestion, and a former one with what replaces it."""

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


def test_former_command_is_answered_with_one_line_that_names_the_new_one() -> None:
    for typed, said in (
        (("watch", "7", "--server", ":7100"), "gmd watch is now: gmd replay --follow"),
        (("playback", "game.json", "reconchess:bot.py", "white"), "gmd playback is now: gmd replay GAME --ask BOT"),
        (("referee", "codingame", "a", "b"), "gmd referee is now: gmd match BOT1 BOT2 --referee codingame"),
        (
            ("evaluate", "latest.pt", "--games", "20"),
            "gmd evaluate is now: gmd match recon-zero RandomBot AttackerBot TroutBot --tournament gauntlet --games 20",
        ),
    ):
        assert gmd(*typed) == (2, "", f"Error: {said}\n")
