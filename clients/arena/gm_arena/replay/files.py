"""Readers of game files: ``gmd export``'s JSON lines and PGN, any other PGN of chess, and reconchess's GameHistory."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import chess

from gm_client.blocking import HistoryReply
from gm_protocol.endings import ON, result_of
from gm_protocol.errors import BadPgn, GmError
from gm_recon import BadHistory, History, SavedGame, read_json
from gm_recon.pgn import VARIANT
from gm_recon.pgn_reading import read_pgn
from gmd.games.clock import Clock
from gmd.games.events import AnyEvent, Created, Loaded, Moved, Sensed
from gmd.games.notation import time_control
from gmd.games.pgn_text import PgnGame, check_is_text, pgn_games
from gmd.games.replay import replay
from gmd.games.views import player_text

from ..boards import board_of
from ..endings import ending_words, reason_words
from .main_line import read_main_line, start_of
from .match_files import is_match, match_game, match_lines
from .recorded import BadRecord, Clocks, Recorded, time_control_of

#: Largest file that is read, in bytes: some hundred thousand games of chess.
MAX_BYTES = 1 << 28

_T = TypeVar("_T")


def read_file(path: Path, wanted: int | None = None) -> Recorded:
    """Read a game from a file.

    :param wanted: the game to read, if there are several: the id of a game of JSON lines, the number of one of PGN.
    :raises BadRecord: there is no game, no such game, or there are several and ``wanted`` is None.
    """
    text = _text_of(path)
    if not text.lstrip().startswith("{"):
        return _one(path, dict(enumerate(_games_of(text), 1)), wanted, pgn_game)
    if is_match(text):
        return _one(path, dict(match_lines(text)), wanted, match_game)
    if (lines := dict(_lines(text))) and any(lines):
        return _one(path, lines, wanted, line_game)
    return history_game(text, str(path))


def blind_games(path: Path) -> list[SavedGame]:
    """Return all games of a PGN file of rbc.

    :raises BadRecord: there is none, one cannot be read, or one is of another variant.
    """
    games = [pgn_game(found, f"{path}, game {number}") for number, found in enumerate(_games_of(_text_of(path)), 1)]
    if not games:
        raise BadRecord(f"{path} holds no game")
    return [_saved(game) for game in games]


def _saved(game: Recorded) -> SavedGame:
    if game.history is None:
        raise BadRecord(f"{game.where} is a game of {game.variant}, and not of rbc")
    return SavedGame(game.history, game.white, game.black)


def _text_of(path: Path) -> str:
    """Return the text of a file.

    :raises BadRecord: it cannot be read, is too large, or is no text.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadRecord(f"{path} has more than {MAX_BYTES:,} bytes; export the game alone (gmd export --game ID)")
        content = path.read_bytes()
        check_is_text(content)
    except OSError as error:
        raise BadRecord(f"{path} cannot be read: {error.strerror}") from None
    except BadPgn as error:
        raise BadRecord(f"{path} cannot be read: {error}") from None
    return content.decode("utf-8-sig", "replace")


def _games_of(text: str) -> Iterator[PgnGame]:
    return pgn_games(io.StringIO(text), sys.maxsize)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a JSON lines file, with the ids of their games; 0 for a line that is not a game."""
    for line in filter(str.strip, text.splitlines()):
        try:
            game = json.loads(line)
            yield (int(game["game_id"]) if "events" in game else 0), line
        except (ValueError, KeyError, TypeError):
            yield 0, line


def _one(path: Path, texts: dict[int, _T], wanted: int | None, read: Callable[[_T, str], Recorded]) -> Recorded:
    """Return the wanted game."""
    if not texts:
        raise BadRecord(f"{path} holds no game")
    if wanted is None and len(texts) > 1:
        names = ", ".join(map(str, list(texts)[:10])) + (", ..." if len(texts) > 10 else "")
        raise BadRecord(f"{path} holds {len(texts)} games: choose one with --game ({names})")
    number = next(iter(texts)) if wanted is None else wanted
    if number not in texts:
        raise BadRecord(f"{path} holds no game {number}")
    return read(texts[number], f"{path}, game {number}" if len(texts) > 1 else str(path))


def served_game(reply: HistoryReply, where: str) -> Recorded:
    """Return the game of a reply to ``history``.

    :raises BadRecord: it cannot be read.
    """
    if reply["history"] is None:
        return pgn_game(next(pgn_games([reply["pgn"]], sys.maxsize)), where)
    recorded = history_game(json.dumps(reply["history"]), where)
    recorded.clock = time_control_of(next(pgn_games([reply["pgn"]], 0)).read().headers)
    return recorded


def history_game(text: str, where: str) -> Recorded:
    """Return the game of a reconchess ``GameHistory``.

    :raises BadRecord: the text is not one.
    """
    try:
        return _blind(read_json(text), where)
    except BadHistory as error:
        raise BadRecord(f"{where} is not a game: {error}") from None


def pgn_game(found: PgnGame, where: str) -> Recorded:
    """Return the game of a PGN: the main line up to its first illegal move, if any, with its comments.

    :raises BadRecord: it cannot be read.
    """
    try:
        pgn = found.read()
        if pgn.headers.get("Variant", "").lower() == VARIANT.lower():
            return _blind(read_pgn(found.text), where, clock=time_control_of(pgn.headers))
        variant, start = start_of(pgn.headers)
        nodes, bad_move = read_main_line(pgn, start)
    except (BadHistory, GmError, ValueError) as error:
        raise BadRecord(f"{where} is not a game: {error}") from None
    headers = pgn.headers
    if not nodes and not headers:
        raise BadRecord(f"{where} holds no game: it has neither a legal move nor a PGN tag ({bad_move or 'no move'})")
    ending = headers.get("GmdTermination", headers.get("Termination", ""))
    return Recorded(
        where,
        headers.get("White", "?"),
        headers.get("Black", "?"),
        pgn.result or "*",
        "" if ending in (ON, "unterminated") else ending_words(ending, variant),
        variant,
        time_control_of(headers),
        start,
        [(node.move, node.comment) for node in nodes],
        [node.clock() for node in nodes],
        bad_move=bad_move,
    )


def _blind(saved: SavedGame, where: str, *, clock: str = "") -> Recorded:
    history = saved.history
    result = {None: "1/2-1/2", chess.WHITE: "1-0", chess.BLACK: "0-1"}[history.winner]
    ending = "" if history.win_reason is None else reason_words(history.win_reason)
    white, black = saved.white or "?", saved.black or "?"
    return Recorded(where, white, black, result if ending else "*", ending, "rbc", clock, history=history)


def line_game(text: str, where: str) -> Recorded:
    """Return the game of a line of JSON.

    :raises BadRecord: the line is not a game.
    """
    from gmd.archive.files import read_line  # with which comes what databases need, a quarter of a second
    from gmd.archive.games import BadGame

    try:
        stored = read_line(text.encode())
    except BadGame as error:
        raise BadRecord(f"{where}: {error}") from None
    events = stored.append.events
    game = replay(stored.append.game_id, events)
    names = json.loads(text)
    white, black = (
        game.created.tags.get(side.capitalize())
        or names.get(f"{side}_name")
        or player_text(game.named[side == "white"])
        for side in ("white", "black")
    )
    ending = "" if game.now.ending is None else game.now.ending.cause.value.words
    recorded = Recorded(where, white, black, result_of(game.now.ending), ending, game.options.variant)
    recorded.clock = "" if game.options.clock is None else time_control(game.options.clock)
    if (history := game.recon_history()) is not None:
        recorded.history = history
        recorded.clocks = _clocks(events, recorded.history)
    else:
        recorded.start = board_of(game.options.variant, game.options.fen)
        board = recorded.start.copy()
        for uci in game.moves:
            recorded.moves.append((board.push_uci(uci), ""))
        recorded.left = _left(events, recorded.start.turn)
    return recorded


def _left(events: Sequence[AnyEvent], color: chess.Color) -> list[float | None]:
    """Return the seconds on the mover's clock after each move.

    :param color: the side to move at the start.
    """
    created = events[0]
    assert isinstance(created, Created)
    clock = None if created.options.clock is None else Clock(created.options.clock)
    left: list[float | None] = []
    for event in events:
        if isinstance(event, Loaded):
            left += [None] * len(event.moves)
            color ^= bool(len(event.moves) & 1)
        elif isinstance(event, Moved):
            if clock is not None:
                clock.charge(color, event.seconds)
                clock.press(color)
            left.append(None if clock is None else _read(clock, color))
            color = not color
    return left


def _clocks(events: Sequence[AnyEvent], history: History) -> list[Clocks] | None:
    """Return the clock readings of the side to move in each turn, from the seconds that the events have charged."""
    created = events[0]
    assert isinstance(created, Created)
    if (option := created.options.clock) is None:
        return None
    clock, color = Clock(option), chess.Board(history.start_fen).turn
    clocks, at_sense = [], _read(clock, color)
    for event in events:
        if isinstance(event, Sensed):
            clock.charge(color, event.seconds)
        elif isinstance(event, Moved):
            clocks.append(Clocks(at_sense, _read(clock, color)))
            clock.charge(color, event.seconds)
            clock.press(color)
            color = not color
            at_sense = _read(clock, color)
    return [*clocks, Clocks(at_sense, _read(clock, color))]


def _read(clock: Clock, color: chess.Color) -> float:
    shown = clock.show(color, 0.0)
    seconds = shown.white if color else shown.black
    assert seconds is not None  # None is what is hidden from an opponent
    return seconds
