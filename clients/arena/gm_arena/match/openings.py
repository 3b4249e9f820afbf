"""Start positions of a match's games: from files of PGN, EPD or FEN, or Chess960's; the server's rules judge them.

Source of EPD: the PGN standard, section 16.2. Of its operations only ``id``, ``hmvc`` and ``fmvn`` are read: others,
such as the best move, are for other uses, and whether they are right does not matter here.
"""

from __future__ import annotations

import io
import json
import random
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import chess

from gm_protocol.codec import InvalidRequest, decode_request
from gm_protocol.errors import BadPgn, GmError
from gm_protocol.messages import NewGame, Variant
from gmd.games.chess import CLASSICAL
from gmd.games.events import Created
from gmd.games.notation import run_through
from gmd.games.pgn_text import PgnGame, check_is_text, pgn_games, read_pgn
from gmd.games.variants import VARIANTS, make_game, resolve

from ..boards import board_of


class OpeningsUnusable(Exception):
    """A file of openings cannot be read, or has none. The message names the line or the game."""


#: The name of the start position of games without openings.
START = "start"


@dataclass(frozen=True)
class Opening:
    """The beginning of a game.

    :ivar name: a name for people: a number in the file or of a start position, and the file's own name of it.
    :ivar fen: the position; None for the variant's own.
    :ivar moves: moves from there, in UCI, which no clock is charged for.
    :ivar position: Chess960's number, in place of the others.
    """

    name: str
    fen: str | None = None
    moves: tuple[str, ...] = ()
    position: int | None = None

    def fields(self) -> dict[str, Any]:
        """Return the fields of ``new_game``."""
        return {**self.start(), "pgn": " ".join(self.moves)} if self.moves else self.start()

    def start(self) -> dict[str, Any]:
        """Return the fields of ``new_game`` for the position before the moves."""
        if self.position is not None:
            return {"position": self.position}
        return {} if self.fen is None else {"fen": self.fen}


def starting_fen(variant: str) -> str:
    """Return the default start position of a variant."""
    return f"{chess.STARTING_BOARD_FEN}[] w KQkq - 0 1" if variant == "crazyhouse" else chess.STARTING_FEN


def openings_for(
    variant: str,
    file: Path | None,
    *,
    plies: int | None,
    seed: int,
    in_order: bool,
    most: int | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> list[Opening]:
    """Return the openings of a match, in playing order; after the last one the first is played again.

    Of a file only the openings that are played are checked, as the server judges them: some books have hundreds of
    thousands.

    :param file: PGN, or EPD or FEN, one a line; None for the variant's start position, or all 960 in Chess960.
    :param plies: the most plies of each game of a PGN.
    :param in_order: whether to keep the file's order, instead of a random one by the seed.
    :param most: the most openings that are played; None for all.
    :param options: the fields of ``new_game`` that all games share.
    :raises OpeningsUnusable: the file has no openings, or one that no game can begin with.
    """
    made: Sequence[Callable[[], Opening]]
    if file is not None:
        made = _in_file(variant, options, file, plies)
    elif variant == "chess960":
        made = [partial(Opening, f"position {number}", position=number) for number in range(960)]
    else:
        made = [partial(Opening, START)]
    if not made:
        raise OpeningsUnusable(f"openings: {file} has no openings")
    order = list(range(len(made)))
    if not in_order:
        random.Random(f"openings {seed}").shuffle(order)
    return [made[number]() for number in order[:most]]


def _in_file(variant: str, options: Mapping[str, Any], file: Path, plies: int | None) -> list[Callable[[], Opening]]:
    """Return a function for each opening of a file that reads it."""
    try:
        content = file.read_bytes()
        check_is_text(content)
        text = content.decode("utf-8-sig", "replace")  # old PGN files are in Latin-1, which affects only names
    except OSError as error:
        raise OpeningsUnusable(f"openings: {file}: {error.strerror}") from None
    except BadPgn as error:
        raise OpeningsUnusable(f"openings: {file}: {error}") from None
    if file.suffix.lower() == ".pgn":
        return [
            partial(_checked, f"{file}, game {number}", variant, options, _opening_of, number, _small(game), plies)
            for number, game in enumerate(pgn_games(io.StringIO(text), 0), 1)
        ]
    lines = ((number, line) for number, line in enumerate(text.splitlines(), 1) if not is_comment(line))
    return [
        partial(_checked, f"{file}, line {number}", variant, options, _position, number, line) for number, line in lines
    ]


def _checked(
    where: str, variant: str, options: Mapping[str, Any], read: Callable[..., Opening], *arguments: Any
) -> Opening:
    """Return an opening, after checking that a game can begin with it.

    :raises OpeningsUnusable: no game can begin with it.
    """
    try:
        opening = read(variant, *arguments)
        check_opening(variant, {**options, **opening.start()}, opening.moves)
    except (GmError, ValueError) as error:
        raise OpeningsUnusable(f"openings: {where}: {error}") from None
    return opening


def _position(variant: str, number: int, line: str) -> Opening:
    """Return the opening that a line of EPD or FEN is."""
    fen, name = read_line(line)
    return Opening(f"{number}: {name}" if name else str(number), fen)


def _small(game: PgnGame) -> str | BadPgn:
    """Return what to keep of a game that may never be played: its text, or why it cannot be read."""
    return game.reading if isinstance(game.reading, BadPgn) else game.text


def _opening_of(variant: str, number: int, game: str | BadPgn, plies: int | None) -> Opening:
    """Return the opening of a game of a PGN, which is read as the server reads it."""
    if isinstance(game, BadPgn):
        raise game
    pgn = run_through(read_pgn(game, sys.maxsize if plies is None else plies))
    loads_moves = VARIANTS[variant].loads_moves
    asked = cast(Variant, variant) if loads_moves else None
    request = NewGame(player_white=None, player_black=None, variant=asked, pgn="")
    options = resolve(request, pgn.headers, CLASSICAL, strict=False)
    played = make_game(Created(None, None, options, ""))
    run_through(played.load(pgn.moves))
    name = pgn.headers.get("Opening") or pgn.headers.get("ECO")
    name = f"{number}: {name}" if name else str(number)
    if not loads_moves:
        board = board_of(options.variant, options.fen)
        for uci in played.moves:
            board.push_uci(uci)
        return Opening(name, board.fen())
    return Opening(name, None if options.fen == starting_fen(variant) else options.fen, tuple(played.moves))


# --- A line of EPD or FEN ----------------------------------------------------------------------------------------


#: An operation that counts; of others, such as the best move, nothing is read.
_OPERATION = re.compile(r'(?:^|[\s;])(?P<name>hmvc|fmvn|id)\s+(?:"(?P<text>[^"]*)"|(?P<word>[^\s;]+))')
_COUNTERS = re.compile(r"\s*(?P<halfmoves>\d+)\s+(?P<fullmoves>\d+)(?=\s|;|$)")
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
    for operation in _OPERATION.finditer(rest):
        operations[operation["name"]] = operation["text"] or operation["word"] or ""
    for name in ("hmvc", "fmvn"):
        if not re.fullmatch(r"\d{1,9}", operations[name]):
            raise ValueError(f"{name}: {operations[name]!r} is not a whole number")
    position = " ".join(fields["position"].split())
    return Line(f"{position} {operations['hmvc']} {operations['fmvn']}", operations.get("id", ""))


# --- The server's own judgement ----------------------------------------------------------------------------------


def check_opening(variant: str, fields: Mapping[str, Any], moves: Sequence[str]) -> None:
    """Check that a game can begin with an opening.

    :param fields: the fields of ``new_game`` without a PGN: those that all games of the match share, and the start.
    :param moves: the opening's moves from there, in UCI.
    :raises ValueError: the server refuses it, or its game is over before the first move.
    """
    asked = {"kind": "new_game", "player_white": None, "player_black": None, "variant": variant, **fields}
    try:
        request = decode_request(json.dumps(asked).encode())
        assert isinstance(request, NewGame)
        game = make_game(Created(None, None, resolve(request, {}, 0, strict=True), ""))
        if moves:
            run_through(game.load(moves))
    except (GmError, InvalidRequest) as error:
        raise ValueError(str(error)) from None
    if game.over:
        assert game.now.ending is not None
        words = game.now.ending.words
        raise ValueError(f"no game can begin here, since the game is over: {words}")
