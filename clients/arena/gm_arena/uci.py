"""UCI, without I/O: what is written to an engine, and how what it writes is read.

Source: R. Huber and S. Meyer-Kahlen, "Description of the universal chess interface", 2006; for Chess960 and variants
the options ``UCI_Chess960`` and ``UCI_Variant``, as Stockfish and Fairy-Stockfish have them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import chess
from chess.engine import Cp, Mate, Score

#: What belongs to an option behind its name, each up to the next of them.
_OPTION_WORDS = ("name", "type", "default", "min", "max", "var")

#: Options that follow from the game that is played.
MANAGED = frozenset({"uci_chess960", "uci_variant"})


class BadOption(Exception):
    """An engine has no such option, or it cannot be set to that. The message says which."""


@dataclass(frozen=True)
class Option:
    """An option that an engine says it has."""

    name: str
    type: str
    min: int | None = None
    max: int | None = None
    values: tuple[str, ...] = ()

    def check(self, value: str) -> str:
        """A value as it is set.

        :raises BadOption: it is none of this option's.
        """
        match self.type:
            case "check" if value.lower() not in ("true", "false"):
                raise BadOption(f"{self.name}: {value!r} is neither true nor false")
            case "check":
                return value.lower()
            case "spin":
                self._check_number(value)
            case "combo" if value not in self.values:
                raise BadOption(f"{self.name}: {value!r} is none of {', '.join(self.values)}")
        return value

    def _check_number(self, value: str) -> None:
        try:
            number = int(value)
        except ValueError:
            raise BadOption(f"{self.name}: {value!r} is no whole number") from None
        if (self.min is not None and number < self.min) or (self.max is not None and number > self.max):
            raise BadOption(f"{self.name}: {number} is not from {self.min} to {self.max}")


def opponent(name: str) -> str:
    """Return the value of ``UCI_Opponent``: title, rating, kind and name. All opponents are taken for programs."""
    return f"none none computer {' '.join(name.split())}"


@dataclass
class Identity:
    """What an engine says of itself until ``uciok``.

    :ivar options: by their names in lower case, as UCI compares them.
    """

    name: str | None = None
    options: dict[str, Option] = field(default_factory=dict)

    def hear(self, line: str) -> None:
        """Take in a line."""
        words = line.split()
        match words[:2]:
            case ["id", "name"]:
                self.name = " ".join(words[2:])
            case ["option", _]:
                option = read_option(words[1:])
                self.options[option.name.lower()] = option

    @property
    def variants(self) -> frozenset[str]:
        """What it plays."""
        variants = {"standard"}
        if "uci_chess960" in self.options:
            variants.add("chess960")
        variant = self.options.get("uci_variant")
        if variant is not None and "crazyhouse" in variant.values:
            variants.add("crazyhouse")
        return frozenset(variants)

    def setting(self, name: str, value: str) -> str:
        """The line that sets an option.

        :raises BadOption: it cannot be set.
        """
        option = self.options.get(name.lower())
        if name.lower() in MANAGED:
            raise BadOption(f"{name} is set by the game that is played")
        if option is None:
            known = ", ".join(sorted(option.name for option in self.options.values())) or "none"
            raise BadOption(f"engine does not support option {name} (it has: {known})")
        return set_option(option.name, option.check(value))


def read_option(words: list[str]) -> Option:
    """An option, out of the words behind ``option``."""
    found: dict[str, list[list[str]]] = {}
    for word in words:
        if word in _OPTION_WORDS and not (word == "name" and "name" in found):
            found.setdefault(word, []).append([])
            current = found[word][-1]
        elif found:
            current.append(word)
    texts = {word: [" ".join(part) for part in parts] for word, parts in found.items()}

    def text(word: str) -> str:
        return texts.get(word, [""])[0]

    return Option(text("name"), text("type"), _number(text("min")), _number(text("max")), tuple(texts.get("var", ())))


def set_option(name: str, value: str) -> str:
    """The line that sets an option."""
    return f"setoption name {name} value {value}"


def position(board: chess.Board, *, variant: str) -> str:
    """The line that tells an engine of a game: its start position, and all moves since."""
    start = board.root().fen(shredder=board.chess960, en_passant="fen")
    where = "startpos" if start == chess.STARTING_FEN and variant != "crazyhouse" else f"fen {start}"
    moves = " ".join(move.uci() for move in board.move_stack)
    return f"position {where} moves {moves}" if moves else f"position {where}"


@dataclass(frozen=True)
class Clocks:
    """What an engine is told of time, in seconds. ``moves_to_go`` is None where the time is for the whole game."""

    white: float
    black: float
    increment: float = 0.0
    moves_to_go: int | None = None


def go(
    clocks: Clocks | None = None, *, depth: int | None = None, nodes: int | None = None, seconds: float | None = None
) -> str:
    """The line that has an engine think."""
    words: list[object] = ["go"]
    if clocks is not None:
        words += ["wtime", _milliseconds(clocks.white), "btime", _milliseconds(clocks.black)]
        if clocks.moves_to_go is None:
            words += ["winc", round(clocks.increment * 1000), "binc", round(clocks.increment * 1000)]
        else:
            words += ["movestogo", clocks.moves_to_go]
    limits: Mapping[str, int | None] = {
        "depth": depth,
        "nodes": nodes,
        "movetime": None if seconds is None else _milliseconds(seconds),
    }
    for word, limit in limits.items():
        words += [] if limit is None else [word, limit]
    return " ".join(map(str, words))


@dataclass(frozen=True)
class Info:
    """What an ``info`` line says of the best line; None where it says nothing of that.

    :ivar score: for the side to move: centipawns (``+35``), or moves to mate (``#3``, ``#-2``).
    """

    score: str | None = None
    depth: int | None = None
    nodes: int | None = None
    pv: tuple[str, ...] = ()


def read_info(line: str) -> Info | None:
    """The meaning of an ``info`` line; None if it is of another line than the best."""
    words = line.split()
    words = words[: words.index("string")] if "string" in words else words
    if "multipv" in words and _word_after(words, "multipv") != "1":
        return None
    pv = tuple(words[words.index("pv") + 1 :]) if "pv" in words else ()
    return Info(_read_score(words), _number(_word_after(words, "depth")), _number(_word_after(words, "nodes")), pv)


def parsed_score(score: str) -> Score:
    """A score of :class:`Info` as python-chess has them."""
    return Mate(int(score[1:])) if score.startswith("#") else Cp(int(score))


def _read_score(words: list[str]) -> str | None:
    centipawns, mate = _number(_word_after(words, "cp")), _number(_word_after(words, "mate"))
    if centipawns is not None:
        return f"{centipawns:+d}"
    return None if mate is None else f"#{mate}"


def _word_after(words: list[str], word: str) -> str:
    index = words.index(word) + 1 if word in words else len(words)
    return words[index] if index < len(words) else ""


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _milliseconds(seconds: float) -> int:
    """At least one: engines take 0 for no limit."""
    return max(1, round(seconds * 1000))
