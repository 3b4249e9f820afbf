"""The games of a file of either format, read one after another, in little memory even for a large file."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, ParamSpec

import msgspec
from msgspec import Struct

from gmd.games.pgn_file import split_pgn

from .games import BadGame, Taken
from .lines import read_line
from .pgn import Seats, read_pgn_game
from .recon import read_recon_game

_P = ParamSpec("_P")

Format = Literal["pgn", "jsonl", "reconchess"]

#: Longest line, in bytes: many times that of the longest game.
MAX_LINE = 16 * 2**20


class Found(NamedTuple):
    """A game of a file, or its error; ``where`` is for people."""

    where: str
    game: Taken | BadGame


def format_of(file: Path) -> Format | None:
    """Return the format of a file by its name's ending; None if it is unknown."""
    return {".pgn": "pgn", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "reconchess"}.get(file.suffix.lower())  # type: ignore[return-value]


def read_games(file: Path, written: Format, seats: Seats, advance: Callable[[int], None]) -> Iterator[Found]:
    """Yield the games of a file.

    :param advance: called with the number of bytes read since the last call.
    :raises OSError: the file cannot be read.
    """
    with file.open("rb") as opened:
        if written == "jsonl":
            for number, line in enumerate(_lines(opened, advance), 1):
                if line is None or line.strip():
                    yield Found(f"{file}, line {number}", _tried(_read_line, line))
        elif written == "reconchess":
            content = opened.read(MAX_LINE + 1)
            advance(len(content))
            yield Found(str(file), _tried(_read_record, content, seats))
        else:
            for number, text in enumerate(split_pgn(_decoded(opened, advance)), 1):
                yield Found(f"{file}, game {number}", _tried(read_pgn_game, text, seats))


class _Numbered(Struct):
    game_id: int


def highest_id(file: Path) -> int:
    """Return the highest id of a game in a file of JSON lines; 0 if there is none."""
    decoder = msgspec.json.Decoder(_Numbered)
    highest = 0
    with file.open("rb") as opened:
        for line in _lines(opened, lambda _: None):
            with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):  # reported later, by read_games
                highest = max(highest, decoder.decode(line or b"").game_id)
    return highest


def _tried(read: Callable[_P, Taken], *arguments: _P.args, **named: _P.kwargs) -> Taken | BadGame:
    try:
        return read(*arguments, **named)
    except BadGame as error:
        return error


def _read_line(line: bytes | None) -> Taken:
    if line is None:
        raise BadGame(f"this is not a game: the line is longer than {MAX_LINE} bytes")
    return Taken(read_line(line))


def _read_record(content: bytes, seats: Seats) -> Taken:
    if len(content) > MAX_LINE:
        raise BadGame(f"it is longer than {MAX_LINE} bytes")
    return read_recon_game(content.decode("utf-8", "replace"), seats)


def _lines(file: BinaryIO, advance: Callable[[int], None]) -> Iterator[bytes | None]:
    """Yield lines; None for a line that is too long."""
    while line := file.readline(MAX_LINE):
        advance(len(line))
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            advance(len(rest))
        advance(len(rest))
        yield None


def _decoded(file: BinaryIO, advance: Callable[[int], None]) -> Iterator[str]:
    """Yield lines of text. Bytes that are not UTF-8 can only be in names and comments, which are not stored."""
    done = 0
    with io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace") as text:
        while line := text.readline(MAX_LINE):
            at = file.tell()  # somewhat ahead of the line
            advance(at - done)
            done = at
            yield line
