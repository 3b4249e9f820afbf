"""Recorded games, from a daemon or from a file: ``gmd export``'s JSON lines and PGN, the record of ``gmd match``, any
other PGN of chess, and reconchess's GameHistory.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import chess
import chess.pgn
from chess import AmbiguousMoveError, Board, IllegalMoveError, InvalidMoveError, Move
from chess.variant import find_variant

from gm_client.blocking import HistoryReply
from gm_protocol.endings import ON, result_of
from gm_protocol.errors import BadPgn, GmError
from gm_protocol.messages import NewGame
from gm_recon import BadHistory, History, SavedGame, read_json
from gm_recon.pgn import VARIANT
from gm_recon.pgn_reading import read_pgn
from gmd.games.chess import CLASSICAL
from gmd.games.clock import Clock
from gmd.games.events import AnyEvent, Created, Loaded, Moved, Sensed
from gmd.games.notation import time_control
from gmd.games.pgn_text import PgnGame, PgnText, check_is_text, pgn_games
from gmd.games.replay import replay
from gmd.games.variants import named_in_pgn, resolve
from gmd.games.views import player_text

from ..boards import board_of
from ..endings import ending_words, reason_words

#: Largest file that is read, in bytes: some hundred thousand games of chess.
MAX_BYTES = 1 << 28

_T = TypeVar("_T")


class BadRecord(Exception):
    """There is no such game, or it cannot be read. The message says why."""


class Clocks(NamedTuple):
    """A side's clock in one of its turns, in seconds, to the millisecond."""

    at_sense: float
    at_move: float


@dataclass
class Recorded:
    """A recorded game.

    :ivar where: the game's name for people: a file, or a game of a daemon.
    :ivar ending: how it ended, in words for people or in the file's own words; empty while it is in progress.
    :ivar variant: as ``PROTOCOL`` names it.
    :ivar clock: as in PGN's TimeControl; empty where there is none, or it is not recorded.
    :ivar start: the start position, in games without hidden information.
    :ivar moves: the moves of such games, each with the comment after it.
    :ivar left: the seconds on the mover's clock after each of these moves; None where that is not recorded.
    :ivar history: the game, if it is reconnaissance blind chess; there are no moves then.
    :ivar clocks: the clocks of its turns in order, including the last one begun; None where they are not recorded.
    :ivar bad_move: the error of the move after the last one here; empty where the game is whole.
    """

    where: str
    white: str
    black: str
    result: str
    ending: str
    variant: str = "standard"
    clock: str = ""
    start: chess.Board = field(default_factory=chess.Board)
    moves: list[tuple[chess.Move, str]] = field(default_factory=list)
    left: list[float | None] = field(default_factory=list)
    history: History | None = None
    clocks: list[Clocks] | None = None
    bad_move: str = ""


def time_control_of(headers: Mapping[str, str]) -> str:
    """Return the clock of a PGN, as its TimeControl tag has it; empty where it has none."""
    return headers.get("TimeControl", "").strip("-?")


# --- Files -------------------------------------------------------------------------------------------------------


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
    headers = next(pgn_games([reply["pgn"]], 0)).read().headers
    return history_game(json.dumps(reply["history"]), where, headers)


def history_game(text: str, where: str, headers: Mapping[str, str] = MappingProxyType({})) -> Recorded:
    """Return the game of a reconchess ``GameHistory``.

    :param headers: the tags of its PGN, if there is one.
    :raises BadRecord: the text is not one.
    """
    try:
        return _blind(read_json(text), where, headers)
    except BadHistory as error:
        raise BadRecord(f"{where} is not a game: {error}") from None


def pgn_game(found: PgnGame, where: str) -> Recorded:
    """Return the game of a PGN: the main line up to its first illegal move, if any, with its comments.

    :raises BadRecord: it cannot be read.
    """
    try:
        pgn = found.read()
        if pgn.headers.get("Variant", "").lower() == VARIANT.lower():
            return _blind(read_pgn(found.text), where, pgn.headers)
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


def _blind(saved: SavedGame, where: str, headers: Mapping[str, str]) -> Recorded:
    """Return a game of blind chess.

    :param headers: the tags of its PGN, if it has one: they say how it ended where reconchess has one reason for two
        causes.
    """
    history = saved.history
    result = {None: "1/2-1/2", chess.WHITE: "1-0", chess.BLACK: "0-1"}[history.winner]
    reason = "" if history.win_reason is None else reason_words(history.win_reason)
    termination = headers.get("GmdTermination", "")
    ending = ending_words(termination, "rbc") if reason and termination else reason
    white, black = saved.white or "?", saved.black or "?"
    clock = time_control_of(headers)
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
    ending = "" if game.now.ending is None else game.now.ending.words
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


# --- The main line of a PGN, up to its first illegal move --------------------------------------------------------


def start_of(headers: dict[str, str]) -> tuple[str, Board]:
    """Return the variant of a game by its tags, as ``PROTOCOL`` names it if gmd plays it, and its start position.

    :raises ValueError: the position is not possible, or nobody knows the variant.
    :raises GmError: gmd plays the variant, and the position is not possible in it.
    """
    tag, fen = headers.get("Variant", ""), headers.get("FEN")
    known = named_in_pgn(tag)
    if known is not None and not known.loads_moves:
        return known.name, known.board(chess.STARTING_FEN if fen is None else fen)
    if known is None and tag.strip("?-"):
        board_type = find_variant(tag)
        return tag.lower(), board_type() if fen is None else board_type(fen)
    options = resolve(NewGame(player_white=None, player_black=None, pgn=""), headers, CLASSICAL, strict=False)
    return options.variant, board_of(options.variant, options.fen)


def read_main_line(pgn: PgnText, start: Board) -> tuple[list[chess.pgn.ChildNode], str]:
    """Return the moves of a game with their comments, up to the first one that is not legal. Null moves are.

    :param start: the start position.
    :returns: the moves, and what is wrong with the move after them (``1... Ke5 is illegal``); empty if nothing is.
    :raises ValueError: one of them is no move in any position.
    """
    board = start.copy()
    node: chess.pgn.GameNode = chess.pgn.Game()
    nodes: list[chess.pgn.ChildNode] = []
    for ply, text in enumerate(pgn.moves, 1):
        number = f"{board.fullmove_number}{'.' if board.turn else '...'}"
        try:
            move = _move_of(board, text)
        except AmbiguousMoveError:
            return nodes, f"{number} {text} is ambiguous"
        except IllegalMoveError:
            return nodes, f"{number} {text} is illegal"
        except InvalidMoveError:
            raise ValueError(f"{number} {text} is not a move: it is neither SAN (Nf3) nor UCI (g1f3)") from None
        node = node.add_main_variation(move, comment=pgn.comments.get(ply, ""))
        nodes.append(node)
        board.push(move)
    return nodes, ""


def _move_of(board: Board, text: str) -> Move:
    """Return the move of a text, as the server reads it."""
    try:
        return board.parse_uci(text)
    except InvalidMoveError:
        return board.parse_san(text)


# --- The record of a match ---------------------------------------------------------------------------------------


def is_match(text: str) -> bool:
    """Return whether a text begins as such a file does."""
    header = _object_of(text.lstrip().partition("\n")[0])
    return "match" in header and "arguments" in header


def match_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each game's number, from 1, and line. A line that was cut short is left out."""
    for line in text.splitlines():
        number = _object_of(line).get("game")
        if isinstance(number, int):
            yield number, line


def match_game(text: str, where: str) -> Recorded:
    """Return the game of a line.

    :raises BadRecord: the line is not a game.
    """
    record = _object_of(text)
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


def _object_of(line: str) -> dict[str, Any]:
    """Return a JSON object; an empty one for a text that is not one."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
