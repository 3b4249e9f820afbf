"""Reads games that :mod:`.pgn` has written, with their senses and requested moves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import chess
from chess import BLACK, WHITE, Move, Square

from .board import ReconBoard
from .history import History, Turn, WinReason
from .pgn import ReconRules
from .reading import BadHistory, SavedGame

_HEADER = re.compile(r'\s*\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]')
#: Comments; parentheses; moves, and the numbers, assessments and results between them.
_TOKEN = re.compile(r"\{([^}]*)\}|([()])|(?:\$\d+)|([^\s{}()]+)")
_NUMBER = re.compile(r"^\d+\.+")
_RESULTS = frozenset({"1-0", "0-1", "1/2-1/2", "*"})
_LAST_SENSE = re.compile(r"\{[^}]*\[%last_sense ([^\]]*)\]")
#: reconchess's reasons by the server's terminations, which in games also name a side.
REASONS: Final[Mapping[str, WinReason]] = {
    "victory": WinReason.KING_CAPTURE,
    "timeout": WinReason.TIMEOUT,
    "resignation": WinReason.RESIGN,
    "draw_turn_limit": WinReason.TURN_LIMIT,
    "draw_move_limit": WinReason.TURN_LIMIT,
    "draw_fifty_moves": WinReason.MOVE_LIMIT,
}
_NOTE = re.compile(r"\[%(\w+) ([^\]]*)\]")


def read_pgn(text: str) -> SavedGame:
    """Read the game of a PGN that :mod:`.pgn` has written, perhaps with variations and assessments since.

    :raises BadHistory: the text is not such a PGN.
    """
    headers: dict[str, str] = {}
    at = 0
    while (found := _HEADER.match(text, at)) is not None:
        headers[found[1]], at = found[2], found.end()
    try:
        history = History(headers.get("FEN", chess.STARTING_FEN))
        board = ReconBoard(history.start_fen)
        for move, notes in _moves(text[at:], ReconRules(history.start_fen)):
            taken, capture = (None, None) if move is None else board.revise(move)
            requested = Move.from_uci(notes["request"]) if "request" in notes else taken
            history.turns.append(Turn(_square(notes.get("sense")), requested, taken, capture))
            board.push(taken, capture)
        if (last := _LAST_SENSE.search(text)) is not None:
            history.unfinished.append(_square(last[1]))
    except ValueError as error:
        raise BadHistory(str(error)) from None
    history.winner = {"1-0": WHITE, "0-1": BLACK}.get(headers.get("Result", "*"))
    termination = headers.get("GmdTermination", headers.get("Termination", ""))
    history.win_reason = REASONS.get(termination.removesuffix("_white").removesuffix("_black"))
    return SavedGame(history, headers.get("White"), headers.get("Black"))


def _moves(text: str, board: ReconRules) -> Iterator[tuple[Move | None, dict[str, str]]]:
    """Yield the moves made, None for a turn without one, each with the notes after it."""
    made: list[Move | None] = []
    notes: dict[str, str] = {}
    depth = 0
    for comment, parenthesis, word in _TOKEN.findall(text):
        if parenthesis or depth:
            depth += {"(": 1, ")": -1}.get(parenthesis, 0)
        elif comment:
            notes |= dict(_NOTE.findall(comment))
        elif (san := _NUMBER.sub("", word)) and san not in _RESULTS:
            if made:
                yield made.pop(), notes
            notes = {}
            made.append(board.push_san(san) or None)
    if depth:
        raise BadHistory("pgn: a variation is not closed, or closed twice")
    if made:
        yield made.pop(), notes


def _square(name: str | None) -> Square | None:
    return None if name is None else chess.parse_square(name)
