"""``gmd --help`` groups the commands, and each command's help begins with a valid example."""

from __future__ import annotations

import ast
import gc
import inspect
import shlex
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gmd.cli import main
from gmd.cli.groups import GROUPS, OTHERS, group_of, position
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


def example_of(command: click.Command) -> str:
    """Return the example that the help begins with."""
    text = inspect.cleandoc(command.help or "")
    assert text.startswith(EXAMPLE), text
    return text.removeprefix(EXAMPLE).partition("\n")[0]


ALL = dict(commands(main, "gmd"))


@pytest.mark.parametrize("name", ALL)
def test_help_begins_with_an_example_that_parses(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs/first").mkdir(parents=True)
    for file in ("games.pgn", "game.pgn", "game.json", "runs/first/latest.pt"):
        Path(file).write_text("")
    example = example_of(ALL[name])
    assert example.startswith(f"{name} ") or example == name
    assert parse(main, shlex.split(example)[1:]).command.name


def test_example_is_the_first_line_below_the_usage() -> None:
    shown = CliRunner().invoke(main, ["match", "--help"], prog_name="gmd").output.splitlines()
    assert shown[0].startswith("Usage: gmd match ")
    assert shown[2].startswith("  Example: gmd match new=")


def test_lists_of_commands_show_summaries_and_no_examples() -> None:
    for name in ("train", "referee"):
        shown = CliRunner().invoke(main, [name, "--help"]).output
        assert "Example" not in shown.partition("Commands:")[2]


def test_wrong_example_does_not_parse() -> None:
    with pytest.raises(click.NoSuchOption):
        parse(main, ["check", "--dta", "games"])


def test_every_gmd_command_is_listed_under_its_heading() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    headings = [line.removesuffix(":") for line in shown.splitlines() if line and not line.startswith(" ")]
    assert [heading for heading in headings if heading in GROUPS] == list(GROUPS)
    assert OTHERS not in headings
    lines = [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and not line.startswith("   ")]
    wanted = [name for names in GROUPS.values() for name in names]
    assert [name for name in lines if name in wanted] == [name for name in wanted if name in lines]
    assert {each.name for each in entry_points(group="gmd.commands")} <= set(wanted)


@pytest.mark.parametrize(
    ("source", "group"),
    [
        ('COMMAND_GROUP = "Look"', "Look"),
        ('COMMAND_GROUP: Final = "Analyse"', "Analyse"),
        ("", OTHERS),
        ("COMMAND_GROUP = make()", OTHERS),
    ],
)
def test_command_of_another_distribution_names_its_heading(source: str, group: str) -> None:
    assert group_of("analyse", ast.parse(source)) == group
    assert group_of("serve", ast.parse(source)) == "Serve"


def test_headings_of_other_distributions_follow_the_headings_of_gmd() -> None:
    places = [("Zoo", "a"), (OTHERS, "b"), ("Look", "later"), ("Look", "replay"), ("Serve", "serve"), ("Analyse", "c")]
    assert [name for _, name in sorted(places, key=lambda place: position(*place))] == [
        "serve", "replay", "later", "c", "a", "b"
    ]  # fmt: skip


def test_loading_a_command_leaves_garbage_collection_as_it_was() -> None:
    assert CliRunner().invoke(main, ["export", "--help"]).exit_code == 0
    assert gc.isenabled()
    gc.disable()
    try:
        assert CliRunner().invoke(main, ["export", "--help"]).exit_code == 0
        assert not gc.isenabled()
    finally:
        gc.enable()
