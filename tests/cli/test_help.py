"""``gmd --help`` groups the commands, and each command's help shows a valid example and names its options."""

from __future__ import annotations

import ast
import inspect
import shlex
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gmd.cli import main
from gmd.cli.own_commands import GROUPS, OTHERS, group_of, position
from gmd.cli.serve import serve
from gmd.config import SERVED
from tests.cli.parsing import parse

EXAMPLE = "\b\nExample: "


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a group's commands and their subcommands, each with the words that a user types for it."""
    context = click.Context(group, info_name=name)
    for each in group.list_commands(context):
        command = group.get_command(context, each)
        assert command is not None
        yield f"{name} {each}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {each}")


def test_every_command_has_help_with_an_example_that_parses_and_all_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs/first").mkdir(parents=True)
    for file in ("games.pgn", "game.pgn", "game.json", "runs/first/latest.pt"):
        Path(file).write_text("")
    for name, command in commands(main, "gmd"):
        text = inspect.cleandoc(command.help or "")
        assert text.startswith(f"{EXAMPLE}{name}"), name
        words = shlex.split(text.removeprefix(EXAMPLE).partition("\n")[0])
        assert parse(main, words[1:]).command.name
        shown = CliRunner().invoke(main, [*name.split()[1:], "--help"]).output
        options = [each.opts[0] for each in command.params if isinstance(each, click.Option) and not each.hidden]
        assert [option for option in options if option not in shown] == [], name
        assert "Example" not in shown.partition("Commands:")[2]
    with pytest.raises(click.NoSuchOption):
        parse(main, ["check", "--dta", "games"])


def test_default_data_directory_is_shown_from_the_home_directory() -> None:
    (text,) = (each.help or "" for each in serve.params if isinstance(each, click.Option) and each.name == "data")
    shown = text.partition("default: ")[2].partition(";")[0]
    assert (Path(shown).expanduser(), f"{Path.home()}/" in shown) == (Path(SERVED.data), False)


def test_every_gmd_command_is_listed_under_its_heading() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    headings = [line.removesuffix(":") for line in shown.splitlines() if line and not line.startswith(" ")]
    assert [heading for heading in headings if heading in GROUPS] == list(GROUPS)
    lines = [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and not line.startswith("   ")]
    wanted = [name for names in GROUPS.values() for name in names]
    assert [name for name in lines if name in wanted] == [name for name in wanted if name in lines]
    assert {each.name for each in entry_points(group="gmd.commands")} <= set(wanted)


def test_every_command_has_a_summary_of_its_own() -> None:
    shown = CliRunner().invoke(main, ["--help"], terminal_width=200).output
    listed = dict(line.split(None, 1) for line in shown.partition("Serve:")[2].splitlines() if line.startswith("  "))
    assert listed["rekey"] == "Give a player a new key, and print it."
    assert len(set(listed.values())) == len(listed)


def test_command_of_another_distribution_names_its_heading() -> None:
    for source, group in (
        ('COMMAND_GROUP: Final = "Analyse"', "Analyse"),
        ("", OTHERS),
        ("COMMAND_GROUP = make()", OTHERS),
    ):
        assert group_of("analyse", ast.parse(source)) == group
        assert group_of("serve", ast.parse(source)) == "Serve"
    places = [("Zoo", "a"), (OTHERS, "b"), ("Look", "later"), ("Look", "replay"), ("Serve", "serve"), ("Analyse", "c")]
    assert [name for _, name in sorted(places, key=lambda place: position(*place))] == [
        "serve", "replay", "later", "c", "a", "b"
    ]  # fmt: skip
