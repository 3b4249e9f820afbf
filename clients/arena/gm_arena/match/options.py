"""Options of several words, as of fastchess and cutechess, and the help of ``gmd match``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import click

from ..command_line import parse_clock

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
    :ivar groups: the names of its options, by the headings that list them.
    """

    of_words: Sequence[Words] = ()
    groups: ClassVar[Mapping[str, Sequence[str]]] = {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = {str(param.name): param.get_help_record(ctx) for param in self.get_params(ctx)}
        grouped = {name for names in self.groups.values() for name in names}
        others = [name for name, record in records.items() if record is not None and name not in grouped]
        for heading, names in {**self.groups, "Help": others}.items():
            with formatter.section(heading):
                formatter.write_dl([record for name in names if (record := records[name]) is not None])

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


def _order(text: str) -> str:
    if text not in ("random", "sequential"):
        raise ValueError("neither random nor sequential")
    return text


OPENINGS = Words(
    "--openings", {"file": Path, "plies": count(0), "order": _order}, ("file",), "--openings file=book.pgn plies=16"
)
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
    """Return the options of ``gmd match`` with the words of ``--each`` and ``--openings`` as options of their own.

    :raises click.UsageError: an option says a second time what another one has said.
    """
    settings = {name: value for name, value in given.items() if name not in ("each", "rounds", "openings")}
    settings |= {"movetime": None, "depth": None, "nodes": None, "margin": 0, "options": ()}
    openings = OPENINGS.read(given["openings"])
    settings |= {"openings": openings.get("file"), "plies": openings.get("plies")}
    settings["in_order"] = openings.get("order") == "sequential"
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
