"""A game of reconnaissance blind chess as reconchess saves it, with its win reasons, made in steps.

:meth:`~gm_recon.history.History.to_json` makes the same in one go, for programs that may block.
"""

from __future__ import annotations

import json
from collections.abc import Generator

import msgspec
from chess import BLACK, WHITE, Color, Square

from gm_protocol.endings import Cause
from gm_recon import WinReason
from gm_recon.board import ReconBoard
from gm_recon.history import COLUMNS, TURNS_A_STEP, History, row, shown, window_of
from gm_recon.pgn_reading import REASONS
from gm_recon.tables import Cell

_encode = msgspec.json.Encoder().encode


def record_steps(history: History, white_name: str, black_name: str) -> Generator[None, None, bytes]:
    """Return the JSON of ``to_json`` without spaces; yield after every few turns.

    Each turn's values are encoded when it is replayed, so that no step encodes the whole game.
    """
    kept: dict[str, dict[bool, list[bytes]]] = {name: {WHITE: [], BLACK: []} for name in COLUMNS}
    for number, (color, turn, seen, before, after) in enumerate(history.replay(), 1):
        for name, value in zip(COLUMNS, row(turn, seen, before, after), strict=True):
            kept[name][color].append(_encode(value))
        if number % TURNS_A_STEP == 0:
            yield
    for color, square, seen in (yield from _unfinished(history)):
        kept["senses"][color].append(_encode(square))
        kept["sense_results"][color].append(_encode(shown(seen)))
    names = f'"white_name":{json.dumps(white_name)},"black_name":{json.dumps(black_name)}'
    parts = [f'{{"type":"GameHistory",{names}'.encode()]
    for name, sides in kept.items():
        parts.append(b'"%b":{"true":[%b]' % (name.encode(), b",".join(sides[WHITE])))
        yield
        parts.append(b'"false":[%b]}' % b",".join(sides[BLACK]))
        yield
    return b",".join([*parts, _encode(history.end())[1:]])


def _unfinished(history: History) -> Generator[None, None, list[tuple[Color, Square | None, list[Cell]]]]:
    """Return the senses of a turn without a move yet: side, square and result of each."""
    if not history.unfinished:
        return []
    board = ReconBoard(history.start_fen)
    for number, turn in enumerate(history.turns, 1):
        board.push(turn.taken, turn.capture_square)
        if number % TURNS_A_STEP == 0:
            yield
    return [(board.turn, square, window_of(board, square)) for square in history.unfinished]


def reason_of(cause: Cause) -> WinReason:
    """Return reconchess's win reason for the cause of a game's end.

    :raises ValueError: no game of rbc that has begun ends so.
    """
    word = cause.value.word
    if cause is Cause.CHECKMATE or word not in REASONS:
        raise ValueError(f"no game of rbc ends by {cause.name}")
    return REASONS[word]
