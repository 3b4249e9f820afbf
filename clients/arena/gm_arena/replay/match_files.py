"""Games from the file that ``gmd match --json-out`` writes: a line of JSON for each, in the match's order."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import chess
import chess.pgn

from gm_recon import BadHistory, read_json

from .recorded import BadRecord, Recorded, time_control_of
from .variant_headers import VariantHeaders


def is_match(text: str) -> bool:
    """Return whether a text begins as such a file does."""
    header = _read(text.lstrip().partition("\n")[0])
    return "match" in header and "arguments" in header


def match_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each game's number, from 1, and line. A line that was cut short is left out."""
    for line in text.splitlines():
        number = _read(line).get("game")
        if isinstance(number, int):
            yield number, line


def match_game(text: str, where: str) -> Recorded:
    """Return the game of a line.

    :raises BadRecord: the line is not a game.
    """
    record = _read(text)
    try:
        recorded = Recorded(where, record["white"], record["black"], record["result"], record["ending"])
        recorded.clock = time_control_of(record["pgn"])
        if record.get("history") is not None:
            recorded.history = read_json(json.dumps(record["history"])).history
        else:
            _add_moves(recorded, record["pgn"], record["moves"])
    except KeyError as error:
        raise BadRecord(f"{where} is not a game: it has no {error}") from None
    except (BadHistory, ValueError, TypeError) as error:
        raise BadRecord(f"{where} is not a game: {error}") from None
    return recorded


def _add_moves(recorded: Recorded, pgn: str, moves: list[str]) -> None:
    """Add the start position from the PGN, and the moves from the record."""
    headers = chess.pgn.read_headers(io.StringIO(pgn))
    if headers is None:
        raise ValueError("its pgn has no headers")
    recorded.start = VariantHeaders(headers).board()
    board = recorded.start.copy()
    for uci in moves:
        recorded.moves.append((board.push_uci(uci), ""))


def _read(line: str) -> dict[str, Any]:
    """Return a JSON object; an empty one for a text that is not one."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
