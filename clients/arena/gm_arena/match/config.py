"""``gmd match --config match.toml``: any option in a file, and the rare settings, which are there alone."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar

import click

from gm_client.blocking import PATIENCE_SECONDS

from ..command_line import POSITIVE
from .words import WordsCommand

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


class Setting(click.Option):
    """An option that only the file has."""

    def __init__(self, names: Sequence[str], **traits: Any) -> None:
        super().__init__(names, hidden=True, **traits)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Do nothing: the command line does not have it."""

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """Return the setting's name in the file."""
        return f"{self.opts[0].lstrip('-')} (--config)"


#: The settings of the file alone, with what they mean.
SETTINGS: tuple[Setting, ...] = (
    Setting(
        ["--plies"], type=click.IntRange(0), help="plies to take of each game of a PGN of openings; all by default"
    ),
    Setting(["--in-order"], is_flag=True, help="play the openings in the file's order, not in random order"),
    Setting(["--repeat"], type=bool, default=True, help="whether each opening is played twice, with colours swapped"),
    Setting(["--margin"], type=click.IntRange(0), default=0, help="milliseconds by which a bot may overstep its time"),
    Setting(
        ["--lag"],
        type=click.IntRange(0),
        help="milliseconds of a move that are not charged if spent outside the bot; 1000 by default if all play here",
    ),
    Setting(["--movetime"], type=POSITIVE, help="the most seconds that engines think about a move, also with a clock"),
    Setting(["--depth"], type=click.IntRange(1), help="the most plies that engines search"),
    Setting(["--nodes"], type=click.IntRange(1), help="the most nodes that engines search"),
    Setting(["--option", "options"], multiple=True, help="UCI options of all engines, a table"),
    Setting(
        ["--stall"], type=POSITIVE, default=60.0, help="the most seconds for a move without a clock; 60 by default"
    ),
    Setting(["--max-memory"], type=click.IntRange(0), help="MiB for each process of a bot; 0 for no limit"),
    Setting(["--comments"], type=bool, default=True, help="whether the PGN has each move's score, depth and time"),
    Setting(["--histories"], type=FOLDER, help="a folder for a file of each rbc game, as reconchess writes it"),
    Setting(["--table-out"], type=FILE, help="a file for the crosstable as CSV"),
    Setting(["--plot"], type=FILE, help="a file for a plot of the bots' scores: .png, .svg, .pdf"),
    Setting(["--tls"], is_flag=True, help="use TLS, and verify the server's certificate against its name"),
    Setting(["--ca"], help="with tls: a PEM file of the certificates to trust instead of the system's"),
    Setting(
        ["--patience"], type=POSITIVE, default=PATIENCE_SECONDS, help="give up after so many seconds without a server"
    ),
    Setting(["--data"], help="without server: the data directory that keeps the games, as gmd serve does"),
    Setting(["--port"], type=click.IntRange(0, 65535), default=0, help="without server: the port for watching"),
)


class ConfiguredCommand(WordsCommand):
    """A command with :data:`SETTINGS` among its parameters.

    :ivar groups: the names of its options, by the headings that list them.
    """

    groups: ClassVar[Mapping[str, Sequence[str]]] = {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = {str(param.name): param.get_help_record(ctx) for param in self.get_params(ctx)}
        grouped = {name for names in self.groups.values() for name in names}
        others = [name for name, record in records.items() if record is not None and name not in grouped]
        for heading, names in {**self.groups, "Help": others}.items():
            with formatter.section(heading):
                formatter.write_dl([record for name in names if (record := records[name]) is not None])
        with formatter.section("Settings of the --config file alone"):
            formatter.write_dl([(_key(setting.opts), setting.help or "") for setting in SETTINGS])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.removeprefix("--").removeprefix("no-")
            if name not in {_key(setting.opts) for setting in SETTINGS}:
                raise
            raise click.UsageError(
                f"{error.option_name}: {name} is set in a file alone: write it there, and give --config FILE", ctx
            ) from None
        if not ctx.params["bots"]:
            ctx.params["bots"] = (ctx.default_map or {}).get("bots", ())
        return rest


def read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Make the values of a file the defaults of all options.

    :raises click.BadParameter: the file cannot be read, or has an unknown setting or a value of the wrong shape.
    """
    if path is None:
        return None
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    known = {_key(option.opts): option for option in ctx.command.params}
    known = {name: option for name, option in known.items() if name not in ("config", "help")}
    found: dict[str, Any] = {}
    for name, value in values.items():
        key = name.replace("_", "-")
        if key not in known:
            meant = get_close_matches(key, known, n=1)
            advice = f"; did you mean {meant[0]}?" if meant else f"; there are {', '.join(sorted(known))}"
            raise click.BadParameter(f"{path}: {name!r} is no setting{advice}")
        found[str(known[key].name)] = _texts(f"{path}: {name}", known[key], value)
    ctx.default_map = found
    return path


def _key(names: Sequence[str]) -> str:
    """Return the name of an option in the file."""
    return names[0].lstrip("-")


def _texts(where: str, option: click.Parameter, value: Any) -> Any:
    """Return a value of TOML as the command line has it.

    :raises click.BadParameter: it is one value where several are needed, or the other way round.
    """
    several = option.multiple or option.nargs != 1
    if several and isinstance(value, dict):
        return tuple(f"{name}={_text(each)}" for name, each in value.items())
    if several and isinstance(value, list):
        return tuple(map(_text, value))
    if several:
        raise click.BadParameter(f"{where}: {value!r} is neither a table nor a list of texts")
    if isinstance(value, (dict, list)):
        raise click.BadParameter(f"{where}: {value!r} is not one value")
    return value if isinstance(value, bool) else _text(value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
