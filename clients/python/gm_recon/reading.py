"""Reads games that :mod:`.history` or reconchess itself has saved as JSON."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import chess
from chess import BLACK, WHITE, Color, Move

from .history import History, Turn, WinReason


class BadHistory(ValueError):
    """Raised for data that is not a possible game of reconnaissance blind chess; the message says why."""


class SavedGame(NamedTuple):
    """A saved game, with the players' names, or None for those missing."""

    history: History
    white: str | None
    black: str | None


def read_json(text: str) -> SavedGame:
    """Read the game of a ``reconchess.GameHistory``, also in the wrapper ``{"game_history": ...}`` of its server.

    The game is replayed, and its results must match the saved ones.

    :raises BadHistory: the text is not a GameHistory, or does not match.
    """
    try:
        saved = json.loads(text)
        if isinstance(saved, dict):
            saved = saved.get("game_history", saved)
        if not isinstance(saved, dict) or saved.get("type") != "GameHistory":
            raise BadHistory('it is not a JSON object of type "GameHistory"')
        history = _history_of(saved)
    except (KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise BadHistory(f"a field is missing or has a wrong value: {error!r}") from None
    except BadHistory:
        raise
    except ValueError as error:
        raise BadHistory(str(error)) from None
    _check(history, saved)
    return SavedGame(history, saved.get("white_name"), saved.get("black_name"))


def _history_of(saved: dict[str, Any]) -> History:
    sides: dict[Color, list[Turn]] = {color: _turns_of(saved, color) for color in chess.COLORS}
    first = _first(saved)
    start = saved["fens_before_move"][_key(first)]
    history = History(start[0] if start else chess.STARTING_FEN)
    color, done = first, {WHITE: 0, BLACK: 0}
    while done[color] < len(sides[color]):
        history.turns.append(sides[color][done[color]])
        done[color] += 1
        color = not color
    left = saved["senses"][_key(color)][done[color] :]
    if any(done[side] != len(sides[side]) for side in chess.COLORS) or len(left) > 1:
        raise BadHistory("the turns of both sides do not alternate")
    history.unfinished.extend(left)
    history.winner = saved["winner_color"]
    reason = saved["win_reason"]
    history.win_reason = None if reason is None else WinReason[reason["value"]]
    return history


def _key(color: Color) -> str:
    return "true" if color else "false"


def _turns_of(saved: dict[str, Any], color: Color) -> list[Turn]:
    """Return the turns that a side has ended with a move."""
    names = ("senses", "requested_moves", "taken_moves", "capture_squares")
    columns = [saved[name][_key(color)] for name in names]
    return [
        Turn(sense, _move(requested), _move(taken), capture)
        for sense, requested, taken, capture in zip(*columns, strict=False)  # a sense may have no move
    ]


def _move(saved: dict[str, str] | None) -> Move | None:
    return None if saved is None else Move.from_uci(saved["value"])


def _first(saved: dict[str, Any]) -> Color:
    """Return the side that began, from the move numbers in the FENs: reconchess does not store it."""
    fens = {color: saved["fens_before_move"][_key(color)] for color in chess.COLORS}
    if not fens[BLACK] or not fens[WHITE]:
        return WHITE if fens[WHITE] or not fens[BLACK] else BLACK
    numbers = {color: int(fens[color][0].split()[5]) for color in chess.COLORS}
    return WHITE if numbers[WHITE] <= numbers[BLACK] else BLACK


def _check(history: History, saved: dict[str, Any]) -> None:
    """Compare the saved positions and sense results with those of the replayed game."""
    count = {WHITE: 0, BLACK: 0}
    try:
        for color, _, seen, _, after in history.replay():
            number = count[color]
            count[color] += 1
            name = f"{'White' if color else 'Black'}'s turn {number + 1}"
            if _pieces(after) != _pieces(saved["fens_after_move"][_key(color)][number]):
                raise BadHistory(f"{name}: its fens_after_move does not follow from the move")
            if [[square, piece and piece.symbol()] for square, piece in seen] != _shown(saved, color, number):
                raise BadHistory(f"{name}: its sense_results does not match the position")
    except BadHistory:
        raise
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise BadHistory(f"it cannot be replayed: {error!r}") from None


def _shown(saved: dict[str, Any], color: Color, number: int) -> list[list[Any]]:
    result = saved["sense_results"][_key(color)][number]
    return [[square, piece and piece["value"]] for square, piece in result]


def _pieces(fen: str) -> str:
    return fen.split()[0]
