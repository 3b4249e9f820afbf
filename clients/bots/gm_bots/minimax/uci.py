"""The engine behind the Universal Chess Interface, on any two streams of text.

A search runs in a thread of its own: meanwhile commands are read, ``isready`` is answered and ``stop`` obeyed. A
command that cannot be understood is reported in an ``info string`` and changes nothing. The end of the input is a
``quit``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import chess

from .engine import Limit, Options, Result, search
from .features import Features
from .position import Position
from .scores import MAX_DEPTH
from .table import DEFAULT_MEBIBYTES

NAME = "gmd minimax"

#: Mebibytes of a transposition table, in Python objects; a search that fills more runs for hours.
MAX_MEBIBYTES = 65_536

#: Hundredths of a pawn: a margin of more than a piece would make play meaningless.
MAX_MARGIN = 300

#: The largest seed, which any GUI can show.
MAX_SEED = 2**31 - 1

#: The parameters of ``go`` with a number each. The times are in thousandths of a second.
_NUMBERS = {"depth", "nodes", "movetime", "wtime", "btime", "winc", "binc", "movestogo", "mate"}


class BadCommand(ValueError):
    """A command cannot be carried out. The text is a sentence."""


@dataclass(frozen=True)
class Spin:
    """An option with a number."""

    default: int
    least: int
    most: int

    def read(self, name: str, text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise BadCommand(f"{name}: {text!r} is not a number") from None
        if not self.least <= number <= self.most:
            raise BadCommand(f"{name}: {number} is not from {self.least} to {self.most}")
        return number

    def describe(self) -> str:
        """Return the text after ``type`` in the engine's declaration."""
        return f"spin default {self.default} min {self.least} max {self.most}"


@dataclass(frozen=True)
class Check:
    """An option that is on or off; as a number, 1 or 0."""

    default: int

    def read(self, name: str, text: str) -> int:
        if text.lower() not in ("true", "false"):
            raise BadCommand(f"{name}: {text!r} is neither true nor false")
        return int(text.lower() == "true")

    def describe(self) -> str:
        """Return the text after ``type`` in the engine's declaration."""
        return f"check default {'true' if self.default else 'false'}"


HASH = Spin(DEFAULT_MEBIBYTES, 1, MAX_MEBIBYTES)
SEED = Spin(0, 0, MAX_SEED)
MARGIN = Spin(20, 0, MAX_MARGIN)

OPTIONS: dict[str, Spin | Check] = {
    "Hash": HASH,
    "Seed": SEED,
    "Margin": MARGIN,
    "MaxDepth": Spin(MAX_DEPTH, 1, MAX_DEPTH),
    "CheckExtension": Check(1),
}


class Uci:
    """One UCI session.

    :param write: takes a line of the engine's output, from either thread.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write, self._writing = write, threading.Lock()
        self._board = chess.Board()
        self._values = {name: option.default for name, option in OPTIONS.items()}
        self._stop, self._ponderhit = threading.Event(), threading.Event()
        self._search: threading.Thread | None = None

    def run(self, lines: Iterable[str]) -> None:
        """Handle the lines until they end, or one is ``quit``."""
        try:
            for line in lines:
                if line.split()[:1] == ["quit"]:
                    break
                try:
                    self._obey(line.split())
                except BadCommand as error:
                    self._say(f"info string {error}")
        finally:
            self._end_search()

    def _obey(self, words: list[str]) -> None:
        match words:
            case ["uci", *_]:
                self._introduce()
            case ["isready", *_]:
                self._say("readyok")
            case ["setoption", *rest]:
                self._set_option(" ".join(rest))
            case ["ucinewgame", *_]:
                self._end_search()
            case ["position", *rest]:
                self._end_search()
                self._board = read_position(rest)
            case ["go", *rest]:
                self._end_search()
                self._go(rest)
            case ["stop", *_]:
                self._end_search()
            case ["ponderhit", *_]:
                self._ponderhit.set()
            case [] | ["debug" | "register", *_]:
                pass  # a blank line, and commands without effect here
            case [unknown, *rest]:  # UCI requires the rest of the line to be obeyed
                self._say(f"info string {unknown!r} is not a known UCI command")
                self._obey(rest)
            case _:
                pass  # mypy: a list is one of these

    def _introduce(self) -> None:
        self._say(f"id name {NAME}")
        self._say("id author the authors of gmd")
        for name, option in OPTIONS.items():
            self._say(f"option name {name} type {option.describe()}")
        self._say("option name Clear Hash type button")
        self._say("uciok")

    def _set_option(self, text: str) -> None:
        name, _, value = text.removeprefix("name ").partition(" value ")
        known = {known.lower(): known for known in OPTIONS}
        if name.lower() == "clear hash":
            return  # every search begins with an empty table
        if name.lower() not in known:
            raise BadCommand(f"{name!r} is not an option: known are {', '.join(OPTIONS)} and Clear Hash")
        name = known[name.lower()]
        self._values[name] = OPTIONS[name].read(name, value)

    def _go(self, words: list[str]) -> None:
        limit, moves = read_limit(words, self._board.turn), read_moves(words, self._board)
        try:
            Position(self._board)
        except ValueError as error:
            self._say(f"info string {error}")
            self._say("bestmove (none)")
            return
        limit = replace(limit, depth=min(limit.max_depth, self._values["MaxDepth"]))
        features = Features(check_extension=bool(self._values["CheckExtension"]))
        options = Options(self._values["Seed"] or None, self._values["Margin"], self._values["Hash"], features)
        self._stop.clear()
        self._ponderhit.clear()
        until = self._stop if "infinite" in words else self._ponderhit if "ponder" in words else None
        thinking = (self._board.copy(), limit, moves, options, until)
        self._search = threading.Thread(target=self._think, args=thinking, name="search", daemon=True)
        self._search.start()

    def _think(
        self,
        board: chess.Board,
        limit: Limit,
        moves: list[chess.Move] | None,
        options: Options,
        until: threading.Event | None,
    ) -> None:
        """Search, in its thread, and report the best move, but not before an event if there is one.

        A search of ``go ponder`` has its limit from the beginning: what it took of the opponent's time is saved.
        """
        reported: list[Result] = []

        def report(result: Result) -> None:
            reported.append(result)
            self._say(describe(result))

        result = search(board, limit, options, moves=moves, stopped=self._stop.is_set, found=report)
        if not reported or reported[-1].pv != result.pv:
            self._say(describe(result))
        if until is not None:
            until.wait()
        self._say(f"bestmove {result.move.uci() if result.move else '(none)'}")

    def _end_search(self) -> None:
        """End the running search, if any, and wait until it has written its best move."""
        if self._search is not None:
            self._stop.set()
            self._ponderhit.set()
            self._search.join()
            self._search = None

    def _say(self, line: str) -> None:
        with self._writing:
            self._write(line)


def describe(result: Result) -> str:
    """Return an ``info`` line."""
    mate = result.mate
    score = f"cp {result.score}" if mate is None else f"mate {mate}"
    speed = round(result.nodes / max(result.seconds, 1e-6))
    pv = f" pv {' '.join(move.uci() for move in result.pv)}" if result.pv else ""
    return (
        f"info depth {result.depth} seldepth {result.seldepth} score {score} nodes {result.nodes} nps {speed} "
        f"time {round(result.seconds * 1000)}{pv}"
    )


def read_position(words: list[str]) -> chess.Board:
    """Parse the words after ``position``.

    :raises BadCommand: they are not a position, or a move is not legal.
    """
    split = words.index("moves") if "moves" in words else len(words)
    start, moves = words[:split], words[split + 1 :]
    if start[:1] not in (["startpos"], ["fen"]):
        raise BadCommand("position: needs startpos, or fen and a FEN")
    try:
        board = chess.Board(" ".join(start[1:]) if start[0] == "fen" else chess.STARTING_FEN)
        for move in moves:
            board.push_uci(move)
    except ValueError as error:
        raise BadCommand(f"position: {error}") from None
    return board


def read_moves(words: list[str], board: chess.Board) -> list[chess.Move] | None:
    """Parse the moves of ``go searchmoves``; None without any, to search all moves.

    :raises BadCommand: no move follows, or one is not legal.
    """
    if "searchmoves" not in words:
        return None
    moves = list[chess.Move]()
    for word in words[words.index("searchmoves") + 1 :]:
        if word in _NUMBERS or word in ("infinite", "ponder"):
            break
        try:
            moves.append(board.parse_uci(word))
        except ValueError:
            raise BadCommand(f"go: searchmoves: {word} is not legal here") from None
    if not moves:
        raise BadCommand("go: searchmoves needs moves")
    return moves


def read_limit(words: list[str], turn: chess.Color) -> Limit:
    """Parse the words after ``go``.

    :raises BadCommand: a number is missing.
    """
    given: dict[str, int] = {}
    for name, text in zip(words, [*words[1:], ""], strict=True):
        if name in _NUMBERS:
            try:
                given[name] = int(text)
            except ValueError:
                raise BadCommand(f"go: {name} needs a number") from None
    side = "w" if turn else "b"
    seconds = {name: value / 1000 for name, value in given.items()}
    depth = given.get("depth")
    if "mate" in given:
        depth = min(2 * given["mate"] - 1, depth or MAX_DEPTH)
    return Limit(
        depth=depth,
        nodes=given.get("nodes"),
        seconds=seconds.get("movetime"),
        clock=max(0.0, seconds[f"{side}time"]) if f"{side}time" in given else None,
        increment=seconds.get(f"{side}inc", 0.0),
        moves_to_go=given.get("movestogo") or None,
    )
