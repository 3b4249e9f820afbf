"""A game of a match as PGN, with the bots' names, and each move's score, depth and time as comments.

The comments are python-chess's and Lichess's: ``[%eval 0.35,12]`` is a score in pawns for White and a depth,
``[%emt 0:00:01.5]`` the time that the bot thought. A game that a bot's fault decided ends as PGN has it (9.8.1).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from .record import Record

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


def pgn_of(record: Record, *, comments: bool = True) -> str:
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
    if comments:
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
    said = {row[0]: _comment(row, color) for color, rows in record["times"].items() for row in rows}
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


def _comment(row: list[Any], color: str) -> str:
    """Return the comment of a move, from its row of ``times``."""
    score, depth = row[4], row[6] if len(row) > 6 else None  # older records have no depth
    emt = f"[%emt {_clock_time(row[1])}]"
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
