"""UCI, without I/O: the lines written to an engine, and the parsing of its output.

Source: R. Huber and S. Meyer-Kahlen, "Description of the universal chess interface", 2006; for Chess960 and variants
the options ``UCI_Chess960`` and ``UCI_Variant``, as in Stockfish and Fairy-Stockfish.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import chess
from chess.engine import Cp, Mate, Score

#: The words that begin what an engine writes.
ENGINE_WORDS = frozenset({"id", "uciok", "readyok", "bestmove", "copyprotection", "registration", "info", "option"})

#: What engines write where they have no move.
NO_MOVE = frozenset({"(none)", "0000"})

#: The keywords of an option; each value ends at the next keyword.
_OPTION_WORDS = ("name", "type", "default", "min", "max", "var")

#: Options that follow from the game being played.
MANAGED = frozenset({"uci_chess960", "uci_variant"})


class BadOption(Exception):
    """An engine has no such option, or does not allow that value. The message says which."""


@dataclass(frozen=True)
class Option:
    """An option that an engine declares."""

    name: str
    type: str
    min: int | None = None
    max: int | None = None
    values: tuple[str, ...] = ()

    def setting(self, value: str) -> str:
        """Return the line that sets the option; that of a button presses it, and has no value.

        :raises BadOption: the option does not allow the value.
        """
        return set_option(self.name, self._form_to_send(value))

    def _form_to_send(self, value: str) -> str | None:
        match self.type:
            case "button":
                self._check_absent(value)
                return None
            case "check":
                return self._one_of(("true", "false"), value, "neither true nor false")
            case "spin":
                self._check_number(value)
                return value
            case "combo":
                return self._one_of(self.values, value, f"none of {', '.join(self.values)}")
            case _:
                return value or "<empty>"

    def _check_absent(self, value: str) -> None:
        if value.lower() not in ("", "true"):
            raise BadOption(f"{self.name}: a button has no value, and {value!r} is one; write '{self.name}='")

    def _one_of(self, allowed: tuple[str, ...], value: str, otherwise: str) -> str:
        """Return the allowed value that this one is, apart from upper and lower case."""
        if value in allowed:
            return value
        for each in allowed:
            if each.lower() == value.lower():
                return each
        raise BadOption(f"{self.name}: {value!r} is {otherwise}")

    def _check_number(self, value: str) -> None:
        try:
            number = int(value)
        except ValueError:
            raise BadOption(f"{self.name}: {value!r} is not a whole number") from None
        if (self.min is not None and number < self.min) or (self.max is not None and number > self.max):
            raise BadOption(f"{self.name}: {number} is not from {self.min} to {self.max}")


def read_words(line: str) -> list[str]:
    """Return the words of an engine's line from the first known one; UCI requires both sides to skip unknown ones."""
    words = line.split()
    start = next((index for index, word in enumerate(words) if word in ENGINE_WORDS), len(words))
    return words[start:]


def read_best_move(line: str) -> str | None:
    """Return the move of a ``bestmove`` line as it is written: "" where none follows, or one of :data:`NO_MOVE`.

    Return None for another line. After unknown words only a move counts: they may be a sentence about the best move.
    """
    match read_words(line):
        case ["bestmove", *rest]:
            move = " ".join(rest[:1])
            return move if line.split()[0] == "bestmove" or _is_move(move) else None
        case _:
            return None


def _is_move(text: str) -> bool:
    try:
        chess.Move.from_uci(text.lower())
    except chess.InvalidMoveError:
        return text in NO_MOVE
    return True


def opponent(name: str) -> str:
    """Return the value of ``UCI_Opponent``: title, rating, kind and name. All opponents are declared as programs."""
    return f"none none computer {' '.join(name.split())}"


@dataclass
class Identity:
    """An engine's declarations, up to ``uciok``.

    :ivar options: by their names in lower case, as UCI compares them.
    """

    name: str | None = None
    options: dict[str, Option] = field(default_factory=dict)

    def read_line(self, line: str) -> None:
        """Record a line."""
        match read_words(line):
            case ["id", "name", *name]:
                self.name = " ".join(name)
            case ["option", "name", *_] as words:
                option = read_option(words[1:])
                self.options[option.name.lower()] = option
            case _:
                pass  # of no use here

    @property
    def variants(self) -> frozenset[str]:
        """The variants that the engine plays."""
        variants = {"standard"}
        if "uci_chess960" in self.options:
            variants.add("chess960")
        variant = self.options.get("uci_variant")
        if variant is not None and "crazyhouse" in map(str.lower, variant.values):
            variants.add("crazyhouse")
        return frozenset(variants)

    def setting(self, name: str, value: str) -> str:
        """Return the line that sets an option.

        :raises BadOption: the option cannot be set.
        """
        option = self.options.get(name.lower())
        if name.lower() in MANAGED:
            raise BadOption(f"{name} is set by gmd, from the game being played")
        if option is None:
            known = ", ".join(sorted(option.name for option in self.options.values())) or "none"
            raise BadOption(f"engine does not support option {name} (it has: {known})")
        return option.setting(value)

    def game_settings(self, variant: str, *, chess960: bool) -> list[str]:
        """Return the lines that set the managed options for a game of one of the engine's variants."""
        values = {"uci_chess960": "true"} if chess960 else {}
        if variant == "crazyhouse":
            values["uci_variant"] = "crazyhouse"
        return [self.options[name].setting(value) for name, value in values.items() if name in self.options]


def read_option(words: list[str]) -> Option:
    """Parse an option from the words after ``option``."""
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


def set_option(name: str, value: str | None) -> str:
    """Return the line that sets an option; without a value, that presses a button."""
    return f"setoption name {name}" if value is None else f"setoption name {name} value {value}"


def position(board: chess.Board, *, variant: str) -> str:
    """Return the line that gives an engine the game: its start position, and all moves since."""
    start = board.root().fen(shredder=board.chess960, en_passant="fen")
    where = "startpos" if start == chess.STARTING_FEN and variant != "crazyhouse" else f"fen {start}"
    moves = " ".join(move.uci() for move in board.move_stack)
    return f"position {where} moves {moves}" if moves else f"position {where}"


@dataclass(frozen=True)
class Clocks:
    """An engine's clocks, in seconds. ``moves_to_go`` is None where the time is for the whole game."""

    white: float
    black: float
    increment: float = 0.0
    moves_to_go: int | None = None


def go(
    clocks: Clocks | None = None, *, depth: int | None = None, nodes: int | None = None, seconds: float | None = None
) -> str:
    """Return the line that starts an engine's search."""
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
    """The contents of an ``info`` line about the best line; None where it has no such field.

    :ivar score: for the side to move: centipawns (``+35``), or moves to mate (``#3``, ``#-2``).
    """

    score: str | None = None
    depth: int | None = None
    nodes: int | None = None
    pv: tuple[str, ...] = ()


def read_info(words: list[str]) -> Info | None:
    """Parse the words of an ``info`` line; return None if it is about another line than the best."""
    words = words[: words.index("string")] if "string" in words else words
    if "multipv" in words and _word_after(words, "multipv") != "1":
        return None
    pv = tuple(map(str.lower, words[words.index("pv") + 1 :])) if "pv" in words else ()
    return Info(_read_score(words), _number(_word_after(words, "depth")), _number(_word_after(words, "nodes")), pv)


def parsed_score(score: str) -> Score:
    """Return a score of :class:`Info` as a python-chess score."""
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
    """Return milliseconds, at least one: engines take 0 for no limit."""
    return max(1, round(seconds * 1000))
