"""Options of several words, as cutechess and fastchess have them: ``--sprt elo0=0 elo1=10``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

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
