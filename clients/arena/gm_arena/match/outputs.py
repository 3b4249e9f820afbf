"""The files of a match other than its record: PGN, and every move as CSV.

They are written again from the record when a match is resumed, so that they always agree with it. The comments in a
PGN are python-chess's and Lichess's: ``[%eval 0.35,12]`` is a score in pawns for White and a depth, and
``[%emt 0:00:01.5]`` the time that the bot thought. A game that a bot's fault decided ends as PGN has it (9.8.1). The
static value of a position, without looking ahead, is that of the first entry point of the group ``gmd.evaluations``: a
function that takes a ``chess.Board`` and returns its value to White, in hundredths of a pawn.
"""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

import chess
import chess.pgn

from gm_protocol.state import side_of
from gm_recon import read_json

from .record import Record, RecordUnusable

COLUMNS = (
    "game", "ply", "color", "bot", "move", "score", "pawns", "thought", "charged", "left", "result", "ending",
    "static",
)  # fmt: skip

#: The score of a mate, in pawns: beyond any won position.
MATE_PAWNS = 15.0


class Outputs(ExitStack):
    """The files that the options ask for."""

    def __init__(self, pgn: Path | None, moves: Path | None, records: Sequence[Record]) -> None:
        """Create the files, with the games played so far. If one cannot be written, the others are closed again.

        :raises RecordUnusable: a file cannot be written.
        """
        super().__init__()
        with ExitStack() as opened:
            self._pgn, self._moves = (_opened(path, opened) for path in (pgn, moves))
            if self._moves is not None:
                _append(self._moves, csv_text([COLUMNS]))
            for record in records:
                self.add(record)
            self.push(opened.pop_all())

    def add(self, record: Record) -> None:
        """Append a game.

        :raises RecordUnusable: a file cannot be written.
        """
        if self._pgn is not None:
            _append(self._pgn, pgn_of(record) + "\n")
        if self._moves is not None:
            _append(self._moves, csv_text(judged_rows_of(record)))


def _opened(path: Path | None, closing: ExitStack) -> IO[str] | None:
    """Create a file, which ``closing`` closes."""
    if path is None:
        return None
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise RecordUnusable(f"{path} cannot be written: {error.strerror}") from None
    closing.callback(_close, file)
    return file


def _append(file: IO[str], text: str) -> None:
    try:
        file.write(text)
        file.flush()
    except OSError as error:
        raise RecordUnusable(f"{file.name} cannot be written: {error.strerror}") from None


def _close(file: IO[str]) -> None:
    with suppress(OSError):  # the error was reported when writing
        file.close()


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as comma-separated values."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def rows_of(record: Record) -> Iterator[list[Any]]:
    """Yield a row of all :data:`COLUMNS` but the last for each move of a local bot, in the order of the game.

    Times are in seconds.
    """
    timed = [(times, color) for color in record["times"] for times in record["times"][color]]
    for row, color in sorted(timed, key=lambda item: item[0][0]):
        ply, thought, charged, left, score, *_ = row
        move = record["moves"][ply] if ply < len(record["moves"]) else None
        pawns = None if score is None else pawns_of(score)
        who = [record["game"], ply, color, record[color], move]
        yield [*who, score, pawns, thought, charged, left, record["result"], record["ending"]]


def judged_rows_of(record: Record) -> Iterator[list[Any]]:
    """Yield the same rows with the value of the position after the move, in pawns, to the player who moved.

    Every move has this score, including those of bots that give none.
    """
    to_white = static_scores(record)
    for row in rows_of(record):
        ply, color = row[1], row[2]
        static = to_white[ply] if ply < len(to_white) else None
        yield [*row, static if static is None or side_of(color) else 0.0 - static]


def pawns_of(score: str) -> float:
    """Return a score in pawns, limited to the score of a mate."""
    if score.startswith("#"):
        return -MATE_PAWNS if score[1:].startswith("-") else MATE_PAWNS
    return max(-MATE_PAWNS, min(MATE_PAWNS, int(score) / 100.0))


# --- A game as PGN -----------------------------------------------------------------------------------------------


#: PGN's ``Termination`` of games that a bot's fault, or its score, ended; other games have the server's.
TERMINATIONS = {
    "crash": "abandoned",
    "stall": "time forfeit",
    "time": "time forfeit",
    "illegal move": "rules infraction",
    "protocol": "rules infraction",
    "flood": "rules infraction",
    "adjudication": "adjudication",
}

#: The width of a line of moves, as in PGN's export format.
WIDTH = 79

_HEADER = re.compile(r'^\[(?P<name>\w+) ".*"\]$', re.MULTILINE)
_COMMAND = re.compile(r"\[%[^\]]*\]")
_TOKEN = re.compile(r"\{(?P<comment>[^}]*)\}|(?P<number>\d+\.+)|(?P<result>(?:1-0|0-1|1/2-1/2|\*)(?!\S))|(?P<move>\S+)")


def pgn_of(record: Record) -> str:
    """Return a game as PGN; facts without a standard PGN header get a header of ours."""
    headers = {"Event": "gmd match", "Round": str(record["game"]), "White": record["white"], "Black": record["black"]}
    if record["ending"] in TERMINATIONS:
        headers["Termination"] = TERMINATIONS[record["ending"]]

    def header(match: re.Match[str]) -> str:
        name = match["name"]
        return _tag(name, headers[name]) if name in headers else match[0]

    text: str = record["pgn"].strip("\n")
    top, separator, moves = text.partition("\n\n")
    own = [_tag("Opening", record["opening"]), _tag("Ending", record["ending"])]
    if record["clock"] and record["clock"].get("margin"):
        own.append(_tag("TimeMargin", f"{record['clock']['margin']:g}"))
    own += [_tag(f"{color.capitalize()}Fault", fault["reason"]) for color, fault in record["faults"].items()]
    moves = _wrapped(" ".join(_commented(moves, record)))
    return "\n".join([_HEADER.sub(header, top), *own]) + separator + moves + "\n"


def _wrapped(moves: str) -> str:
    """Return moves in lines, without a break inside ``[%eval 0.35,12]``: some readers want its space."""
    joined = _COMMAND.sub(lambda command: command[0].replace(" ", "\0"), moves)
    return textwrap.fill(joined, WIDTH, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def _tag(name: str, value: str) -> str:
    value = " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{value}"]'


def _commented(moves: str, record: Record) -> Iterator[str]:
    """Yield the tokens of a game's moves, and after each move its comment; after that Black's move has its number."""
    own = record.get("comments", {})  # CodinGame's bots comment on their moves
    said = {row[0]: _comment(row, color, own) for color, rows in record["times"].items() for row in rows}
    number, pending, ply = "", "", 0
    needs_number = False
    for token in _TOKEN.finditer(moves):
        if token["comment"] is not None:
            yield f"{{{' '.join(filter(None, [token['comment'].strip(), pending]))}}}"
            pending, needs_number = "", True
            continue
        if pending:
            yield f"{{{pending}}}"
            pending, needs_number = "", True
        if token["number"]:
            number, needs_number = token["number"].rstrip("."), False
        elif token["move"]:
            if needs_number:
                yield f"{number}..."
            pending, ply, needs_number = said.get(ply, ""), ply + 1, False
        yield token[0]


def _comment(row: list[Any], color: str, own: Mapping[str, str]) -> str:
    """Return the comment of a move, from its row of ``times`` and what the bot says itself, by ply."""
    score, depth = row[4:6]
    emt = f"[%emt {_clock_time(row[1])}] {own.get(str(row[0]), '').replace('}', ')')}".rstrip()
    return emt if score is None else f"[%eval {_to_white(score, color)}{f',{depth}' if depth else ''}] {emt}"


def _to_white(score: str, color: str) -> str:
    """Return a bot's score of its own move as one for White, in pawns."""
    sign = 1 if color == "white" else -1
    if score.startswith("#"):
        return f"#{sign * int(score[1:])}"
    return f"{sign * int(score) / 100:z.2f}"


def _clock_time(seconds: float) -> str:
    """Return a duration as ``h:mm:ss``, with up to three decimals."""
    milliseconds = round(1000 * seconds)
    whole, rest = divmod(milliseconds, 1000)
    minutes, second = divmod(whole, 60)
    decimals = f".{rest:03}".rstrip("0") if rest else ""
    return f"{minutes // 60}:{minutes % 60:02}:{second:02}{decimals}"


# --- Static values of positions ----------------------------------------------------------------------------------


#: The group of entry points of installed evaluations.
GROUP = "gmd.evaluations"

Evaluation = Callable[[chess.Board], int]


@cache
def evaluation() -> Evaluation | None:
    """Return the installed evaluation; None without one."""
    from importlib.metadata import entry_points  # slow to import, and only scored positions need it

    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return found[0].load() if found else None


def static_scores(record: Record) -> list[float]:
    """Return the value to White of the position after each ply of a game, in pawns; empty without an evaluation.

    In blind chess it is the true position. Pieces in hand do not count.
    """
    evaluate = evaluation()
    return [] if evaluate is None else [evaluate(board) / 100.0 for board in _positions(record)]


def _positions(record: Record) -> Iterator[chess.Board]:
    """Yield the position after each ply; the board may be the same object, changed."""
    if "history" in record:
        for turn in read_json(json.dumps(record["history"])).history.replay():
            yield chess.Board(turn.fen_after)
        return
    game = chess.pgn.read_game(io.StringIO(record["pgn"]))
    assert game is not None
    board = game.board()
    for move in game.mainline_moves():
        board.push(move)
        yield board
