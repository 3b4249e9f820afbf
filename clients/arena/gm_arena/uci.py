"""UCI, without I/O: the lines written to an engine, and the parsing of its output.

``chess.engine`` speaks UCI as well, but runs the engine itself: without limits on its memory, on what it writes and on
how long it is silent, which bots of others need.

Source: R. Huber and S. Meyer-Kahlen, "Description of the universal chess interface", 2006; for Chess960 and variants
the options ``UCI_Chess960`` and ``UCI_Variant``, as in Stockfish and Fairy-Stockfish.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import chess
from chess.engine import Cp, EngineError, Mate, Option, Score

#: The words that begin what an engine writes.
ENGINE_WORDS = frozenset({"id", "uciok", "readyok", "bestmove", "copyprotection", "registration", "info", "option"})

#: What engines write where they have no move.
NO_MOVE = frozenset({"(none)", "0000"})

#: Options that follow from the game being played.
MANAGED = frozenset({"uci_chess960", "uci_variant"})

_OPTION = re.compile(r"option name (?P<name>.*?) type (?P<type>\S+)(?P<rest>.*)")
_DETAIL = re.compile(r"\s(default|min|max|var)\b\s*(.*?)(?=\s(?:default|min|max|var)\b|$)")


class BadOption(Exception):
    """An engine has no such option, or does not allow that value. The message says which."""


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
            case ["option", *_] as words if (found := _OPTION.fullmatch(" ".join(words))) is not None:
                details = _DETAIL.findall(found["rest"])
                values = [value for word, value in details if word == "var"]
                only = dict(details)
                least, most = _number(only.get("min", "")), _number(only.get("max", ""))
                option = Option(found["name"], found["type"], only.get("default", ""), least, most, values)
                self.options[option.name.lower()] = option
            case _:
                pass  # of no use here

    @property
    def variants(self) -> frozenset[str]:
        """The variants that the engine plays."""
        variants = {"standard"}
        if "uci_chess960" in self.options:
            variants.add("chess960")
        if (variant := self.options.get("uci_variant")) and "crazyhouse" in map(str.lower, variant.var or ()):
            variants.add("crazyhouse")
        return frozenset(variants)

    def setting(self, name: str, value: str) -> str:
        """Return the line that sets an option, or presses a button, whose value is empty.

        :raises BadOption: the engine has no such option, it does not allow the value, or gmd sets it.
        """
        if name.lower() in MANAGED:
            raise BadOption(f"{name} is set by gmd, from the game being played")
        if (option := self.options.get(name.lower())) is None:
            known = ", ".join(sorted(option.name for option in self.options.values())) or "none"
            raise BadOption(f"engine does not support option {name} (it has: {known})")
        return _setting(option, value)

    def game_settings(self, variant: str, *, chess960: bool) -> list[str]:
        """Return the lines that set the managed options for a game of one of the engine's variants."""
        values = {"uci_chess960": "true"} if chess960 else {}
        if variant == "crazyhouse":
            values["uci_variant"] = "crazyhouse"
        return [_setting(self.options[name], value) for name, value in values.items() if name in self.options]


def _setting(option: Option, value: str) -> str:
    if option.type == "button":
        if value.lower() not in ("", "true"):
            raise BadOption(f"{option.name}: a button has no value, and {value!r} is one; write '{option.name}='")
        return set_option(option.name, None)
    choices = {"check": ["true", "false"], "combo": option.var or []}.get(option.type)
    if choices is not None:
        meant = [value] if value in choices else [each for each in choices if each.lower() == value.lower()]
        if not meant:
            raise BadOption(f"{option.name}: {value!r} is none of {', '.join(choices)}")
        value = meant[0]
    try:
        option.parse(value)
    except EngineError as error:
        raise BadOption(str(error)) from None
    return set_option(option.name, value or "<empty>")


def set_option(name: str, value: str | None) -> str:
    """Return the line that sets an option; without a value, that presses a button."""
    return f"setoption name {name}" if value is None else f"setoption name {name} value {value}"


def position(board: chess.Board, *, variant: str) -> str:
    """Return the line that gives an engine the game: its start position, and all moves since."""
    start = board.root().fen(shredder=board.chess960, en_passant="fen")
    where = "startpos" if start == chess.STARTING_FEN and variant != "crazyhouse" else f"fen {start}"
    moves = " ".join(move.uci() for move in board.move_stack)
    return f"position {where} moves {moves}" if moves else f"position {where}"


def go(**limits: int | None) -> str:
    """Return the line that starts an engine's search, with these limits, as ``depth=4``, in their order."""
    return " ".join(["go", *(f"{name} {limit}" for name, limit in limits.items() if limit is not None)])


def milliseconds(seconds: float) -> int:
    """Return milliseconds, at least one: engines take 0 for no limit."""
    return max(1, round(seconds * 1000))


def read_info(words: list[str]) -> tuple[str | None, int | None] | None:
    """Return the score and the depth in the words of an ``info`` line; None if it is not about the best line.

    The score is for the side to move: centipawns (``+35``), or moves to mate (``#3``, ``#-2``).
    """
    words = words[: words.index("string")] if "string" in words else words
    if words[:1] != ["info"] or ("multipv" in words and _word_after(words, "multipv") != "1"):
        return None
    centipawns, mate = _number(_word_after(words, "cp")), _number(_word_after(words, "mate"))
    score = f"{centipawns:+d}" if centipawns is not None else None if mate is None else f"#{mate}"
    return score, _number(_word_after(words, "depth"))


def parsed_score(score: str) -> Score:
    """Return a score of :func:`read_info` as a python-chess score."""
    return Mate(int(score[1:])) if score.startswith("#") else Cp(int(score))


def _word_after(words: list[str], word: str) -> str:
    index = words.index(word) + 1 if word in words else len(words)
    return words[index] if index < len(words) else ""


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
