"""The ways to give options of ``gmd match``: words as of fastchess and cutechess, and a file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar

import click

from gm_client.blocking import PATIENCE_SECONDS

from ..command_line import POSITIVE, parse_clock

#: A function that parses the value of a word. It raises ``ValueError`` with what the value is not.
Parse = Callable[[str], Any]


@dataclass(frozen=True)
class Words:
    """An option of several words NAME=VALUE.

    :ivar parse: for each name the function that parses its value.
    :ivar needed: the names that must be given.
    :ivar example: the option with words, for errors.
    :ivar any_after: the beginning of names that may go on in any way; their values stay text.
    """

    option: str
    parse: Mapping[str, Parse]
    needed: tuple[str, ...]
    example: str
    any_after: str | None = None

    def takes(self, word: str) -> bool:
        """Return whether a word of the command line belongs to this option."""
        name = word.partition("=")[0]
        return name in self.parse or (self.any_after is not None and name.startswith(self.any_after))

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the values by name; empty where the option is not given.

        :raises click.UsageError: a word is unknown, or its value is not valid, or a needed one is missing.
        """
        found: dict[str, Any] = {}
        for word in words:
            name, _, value = word.partition("=")
            if not self.takes(word):
                raise self.unknown(word)
            try:
                found[name] = self.parse.get(name, str)(value)
            except ValueError as error:
                raise click.UsageError(f"{self.option}: {name}: {value!r} is {error}; write {self.example}") from None
        if words and not set(self.needed) <= found.keys():
            raise self.incomplete()
        return found

    def unknown(self, word: str) -> click.UsageError:
        """Return the error that the option has no such word."""
        any_other = [] if self.any_after is None else [f"{self.any_after}NAME"]
        known = _and([f"{each}=" for each in [*self.parse, *any_other]])
        return click.UsageError(f"{self.option}: {word!r} is unknown; there are {known}, as in {self.example}")

    def incomplete(self) -> click.UsageError:
        """Return the error that a needed word is missing, or that there is none."""
        needed = _and(self.needed) if self.needed else "a word NAME=VALUE"
        return click.UsageError(f"{self.option} needs {needed}; write {self.example}")


class WordsCommand(click.Command):
    """A command that accepts options of any number of words; each word reaches the option as a value of its own.

    :ivar of_words: these options.
    """

    of_words: Sequence[Words] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for words in self.of_words:
            args = _spread(args, words, ctx)
        return super().parse_args(ctx, args)


def _spread(args: list[str], words: Words, ctx: click.Context) -> list[str]:
    """Return the arguments with the option's name before each of its words."""
    spread: list[str] = []
    while words.option in args:
        at = args.index(words.option)
        behind = at + 1
        while behind < len(args) and words.takes(args[behind]):
            behind += 1
        spread += [word for each in args[at + 1 : behind] for word in (words.option, each)]
        if behind == at + 1:
            follows = args[behind : behind + 1]
            error = words.unknown(follows[0]) if follows and "=" in follows[0] else words.incomplete()
            error.ctx = ctx
            raise error
        args = args[:at] + args[behind:]
    return [*spread, *args]


def number(text: str) -> float:
    """Parse a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError("not a number") from None


def count(least: int) -> Parse:
    """Return a function that parses a whole number of at least this size."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ValueError(f"not a whole number of at least {least}")
        return int(text)

    return parse


def truth(text: str) -> bool:
    """Parse ``true`` or ``false``."""
    if text.lower() not in ("true", "false"):
        raise ValueError("neither true nor false")
    return text.lower() == "true"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# --- Words of fastchess and cutechess ----------------------------------------------------------------------------


#: Games of a round, as of fastchess, and of a match without ``--rounds``: each opening with both colours.
GAMES = 2


def _clock(text: str) -> dict[str, float]:
    """Parse a time control; ``inf`` is none."""
    return parse_clock("none" if text == "inf" else text)


def _seconds(text: str) -> float:
    if not 0.0 < (seconds := number(text)) < float("inf"):
        raise ValueError("not a number of seconds above 0")
    return seconds


def _protocol(text: str) -> str:
    if text != "uci":
        raise ValueError("not uci, the only protocol of engines here")
    return text


EACH = Words(
    "--each",
    {"tc": _clock, "st": _seconds, "depth": count(1), "nodes": count(1), "timemargin": count(0), "proto": _protocol},
    (),
    "--each tc=10+0.1 option.Hash=64",
    any_after="option.",
)

#: The setting that each of these words is.
_SETTINGS = {"tc": "clock", "st": "movetime", "depth": "depth", "nodes": "nodes", "timemargin": "margin"}


def resolved(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``gmd match`` with ``--each`` and ``--rounds`` in their own words.

    :raises click.UsageError: an option says a second time what another one has said.
    """
    settings = {name: value for name, value in given.items() if name not in ("each", "rounds", "config")}
    for word, value in EACH.read(given["each"]).items():
        if word.startswith("option."):
            settings["options"] = (*settings["options"], f"{word.removeprefix('option.')}={value}")
            continue
        if word == "proto":
            continue
        name = _SETTINGS[word]
        if settings[name]:
            raise click.UsageError(f"--each {word}= sets what {name} has set already: give only one of them")
        settings[name] = value
    settings["games"] = (settings["games"] or GAMES) * (given["rounds"] or 1)
    if settings["concurrency"] is None:
        settings["concurrency"] = 1 if settings["ray"] is None else 0
    if settings["ray"] is None:
        settings["concurrency"] = settings["concurrency"] or os.cpu_count() or 1
    return settings


# --- The file ----------------------------------------------------------------------------------------------------


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
