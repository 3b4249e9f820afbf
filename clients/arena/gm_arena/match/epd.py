"""A line of EPD or FEN: a position, its counters, and its name.

Source: the PGN standard, section 16.2. Of EPD's operations only ``id``, ``hmvc`` and ``fmvn`` are read: others, such as
the best move, are for other uses, and whether they are right does not matter here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: One operation: a name and operands, which are words or texts in quotes, up to a semicolon or the end of the line.
_OPERATION = re.compile(r'\s*(?P<name>[A-Za-z]\w*)(?P<operands>(?:\s+(?:"[^"]*"|[^\s;"]+))*)\s*(?:;|$)')
_COUNTERS = re.compile(r"\s*(?P<halfmoves>\d+)\s+(?P<fullmoves>\d+)(?=\s|;|$)[\s;]*")
_FIELDS = re.compile(r"\s*(?P<position>\S+\s+\S+\s+\S+\s+\S+)")


class Line(NamedTuple):
    """A position and its name, which may be empty."""

    fen: str
    name: str


def is_comment(text: str) -> bool:
    """Return whether a line has no position: it is empty, or begins with ``#``."""
    return not text.strip() or text.lstrip().startswith("#")


def read_line(text: str) -> Line:
    """Return the position of a line.

    After the position's four fields come two counters, operations, or both; after these a comment.

    :raises ValueError: the line is neither EPD nor FEN.
    """
    fields = _FIELDS.match(text)
    if fields is None:
        raise ValueError(f"{text.strip()!r} is no position: write FEN or EPD, one a line")
    rest, operations = text[fields.end() :], {"hmvc": "0", "fmvn": "1"}
    if (counters := _COUNTERS.match(rest)) is not None:
        operations |= {"hmvc": counters["halfmoves"], "fmvn": counters["fullmoves"]}
        rest = rest[counters.end() :]
    operations |= _operations(rest)
    for name in ("hmvc", "fmvn"):
        if not re.fullmatch(r"\d{1,9}", operations[name]):
            raise ValueError(f"{name}: {operations[name]!r} is not a whole number")
    position = " ".join(fields["position"].split())
    return Line(f"{position} {operations['hmvc']} {operations['fmvn']}", operations.get("id", ""))


def _operations(text: str) -> dict[str, str]:
    """Return the operations by their names, each with its operands as one text."""
    found: dict[str, str] = {}
    at = 0
    while (rest := text[at:].strip()) and not rest.startswith("#"):
        operation = _OPERATION.match(text, at)
        if operation is None:
            raise ValueError(f"{rest!r} is no EPD operation: write a name, operands and a semicolon")
        found[operation["name"]] = operation["operands"].strip().strip('"')
        at = operation.end()
    return found
