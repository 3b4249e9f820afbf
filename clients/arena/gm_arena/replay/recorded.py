"""Recorded games, from a daemon or from a file: ``gmd export``'s JSON lines and PGN, the record of ``gmd match``, any
other PGN of chess, and reconchess's GameHistory.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import chess
import chess.pgn
from chess import AmbiguousMoveError, Board, IllegalMoveError, InvalidMoveError, Move
from chess.variant import find_variant

from gm_client.blocking import GameState, HistoryReply
from gm_protocol.endings import ON
from gm_protocol.errors import BadPgn, GmError
from gm_protocol.messages import NewGame
from gm_recon import BadHistory, History, SavedGame, read_json
from gm_recon.pgn import VARIANT
from gm_recon.pgn_reading import read_pgn
from gmd.games.chess import CLASSICAL
from gmd.games.events import AnyEvent, Moved, Sensed
from gmd.games.pgn_text import PgnGame, PgnText, check_is_text, pgn_games
from gmd.games.replay import replay
from gmd.games.variants import named_in_pgn, resolve
from gmd.games.views import full_pgn

from ..boards import board_of
from ..endings import ending_words, reason_words

#: Largest file that is read, in bytes: some hundred thousand games of chess.
MAX_BYTES = 1 << 28

#: The time that a move took, in a comment.
_TIME = re.compile(r"\[%emt (?P<hours>\d+):(?P<minutes>\d+):(?P<seconds>[\d.]+)\]")

_T = TypeVar("_T")


class BadRecord(Exception):
    """There is no such game, or it cannot be read. The message says why."""


@dataclass
class Recorded:
    """A recorded game.

    :ivar where: the game's name for people: a file, or a game of a daemon.
    :ivar ending: how it ended, in words for people or in the file's own words; empty while it is in progress.
    :ivar variant: as ``PROTOCOL`` names it.
    :ivar clock: as in PGN's TimeControl; empty where there is none, or it is not recorded.
    :ivar start: the start position, in games without hidden information.
    :ivar moves: the moves of such games, with their comments.
    :ivar history: the game, if it is reconnaissance blind chess; there are no moves then.
    :ivar seconds: what turns of blind chess took, by their places in the game from 0, as far as it is recorded.
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
    moves: list[chess.pgn.ChildNode] = field(default_factory=list)
    history: History | None = None
    seconds: dict[int, float] = field(default_factory=dict)
    bad_move: str = ""


# --- Files -------------------------------------------------------------------------------------------------------


def read_file(path: Path, wanted: int | None = None) -> Recorded:
    """Read a game from a file.

    :param wanted: the game to read, if there are several: the id of a game of JSON lines, the number of one of PGN or
        of a match.
    :raises BadRecord: there is no game, no such game, or there are several and ``wanted`` is None.
    """
    text = _text_of(path)
    if not text.lstrip().startswith("{"):
        return _one(path, dict(enumerate(_games_of(text), 1)), wanted, pgn_game)
    if lines := dict(_lines(text)):
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
    """Yield the games of JSON lines, with the ids of gmd's and the numbers of a match's; cut lines are left out."""
    for line in filter(str.strip, text.splitlines()):
        try:
            game = json.loads(line)
            number = game.get("game_id" if "events" in game else "game")
        except (ValueError, AttributeError):
            continue
        if isinstance(number, int):
            yield number, line


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
    return _text_game(reply["pgn"], where)


def live_game(state: GameState) -> Recorded:
    """Return the moves that a state of a game shows, without the players and a result."""
    start, moves = board_of(state["variant"], state["start_fen"]), state.get("pgn") or "*"
    nodes, _ = read_main_line(next(pgn_games([moves], sys.maxsize)).read(), start)
    return Recorded(f"game {state['game_id']}", "", "", "*", "", state["variant"], start=start, moves=nodes)


def _text_game(pgn: str, where: str) -> Recorded:
    for found in pgn_games([pgn], sys.maxsize):
        return pgn_game(found, where)
    raise BadRecord(f"{where} is not a game: its pgn is empty")


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
            blind = _blind(read_pgn(found.text), where, pgn.headers)
            blind.seconds = _seconds_in(pgn.comments)
            return blind
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
        _clock_of(headers),
        start,
        nodes,
        bad_move=bad_move,
    )


def _seconds_in(comments: Mapping[int, str]) -> dict[int, float]:
    """Return the times in a PGN's comments, by turns from 0."""
    found = ((ply - 1, _TIME.search(said)) for ply, said in comments.items())
    return {
        turn: 3600 * int(time["hours"]) + 60 * int(time["minutes"]) + float(time["seconds"])
        for turn, time in found
        if time is not None
    }


def _clock_of(headers: Mapping[str, str]) -> str:
    return headers.get("TimeControl", "").strip("-?")


def _blind(saved: SavedGame, where: str, headers: Mapping[str, str] = MappingProxyType({})) -> Recorded:
    """Return a game of blind chess.

    :param headers: the tags of its PGN, if it has one: they say how it ended where reconchess has one reason for two
        causes.
    """
    history, termination = saved.history, headers.get("GmdTermination", "")
    reason = "" if history.win_reason is None else reason_words(history.win_reason)
    ending = ending_words(termination, "rbc") if reason and termination else reason
    white, black = saved.white or "?", saved.black or "?"
    return Recorded(where, white, black, history.result, ending, "rbc", _clock_of(headers), history=history)


def line_game(text: str, where: str) -> Recorded:
    """Return the game of a line of JSON, of ``gmd export`` or of the record of a match.

    :raises BadRecord: the line is not a game.
    """
    line = json.loads(text)
    if "events" in line:
        return _stored_game(text, line, where)
    try:
        recorded = _text_game(line["pgn"], where)
        recorded.white, recorded.black = line["white"], line["black"]
        recorded.result, recorded.ending = line["result"], line["ending"]
        recorded.seconds = {time[0]: time[1] for times in line["times"].values() for time in times}
    except KeyError as error:
        raise BadRecord(f"{where} is not a game: it has no {error}") from None
    return recorded


def _stored_game(text: str, line: dict[str, Any], where: str) -> Recorded:
    from gmd.archive.files import read_line  # with which comes what databases need, a quarter of a second
    from gmd.archive.games import BadGame

    try:
        stored = read_line(text.encode()).append
    except BadGame as error:
        raise BadRecord(f"{where}: {error}") from None
    game = replay(stored.game_id, stored.events)
    names = {game.named[side == "white"]: line.get(f"{side}_name") for side in ("white", "black")}
    recorded = _text_game(full_pgn(game, names.get), where)
    if recorded.history is not None and game.options.clock is not None:  # without a clock nothing is charged
        recorded.seconds = _charged(stored.events)
    return recorded


def _charged(events: Iterable[AnyEvent]) -> dict[int, float]:
    """Return the seconds that the clock charged for each turn, its sense and its move, by turns from 0."""
    turns: dict[int, float] = {}
    sensing = 0.0
    for event in events:
        if isinstance(event, Sensed):
            sensing = event.seconds
        elif isinstance(event, Moved):
            turns[len(turns)] = sensing + event.seconds
            sensing = 0.0
    return turns


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
