"""Games from the file that ``gmd match --json-out`` writes: a line of JSON for each, in the match's order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gm_protocol.errors import GmError
from gm_recon import BadHistory, read_json
from gmd.games.pgn_text import pgn_games

from .main_line import start_of
from .recorded import BadRecord, Recorded, time_control_of


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
        pgn = next(pgn_games([record["pgn"]], 0)).read()
        recorded.clock = time_control_of(pgn.headers)
        if record.get("history") is not None:
            recorded.history = read_json(json.dumps(record["history"])).history
        else:
            _add_moves(recorded, pgn.headers, record["moves"])
    except KeyError as error:
        raise BadRecord(f"{where} is not a game: it has no {error}") from None
    except StopIteration:
        raise BadRecord(f"{where} is not a game: its pgn is empty") from None
    except (BadHistory, GmError, ValueError, TypeError) as error:
        raise BadRecord(f"{where} is not a game: {error}") from None
    return recorded


def _add_moves(recorded: Recorded, headers: dict[str, str], moves: list[str]) -> None:
    """Add the start position from the PGN's tags, and the moves from the record."""
    _, recorded.start = start_of(headers)
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
