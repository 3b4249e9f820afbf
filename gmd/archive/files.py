"""The games of a file, read one after another, in little memory even for a large file; and games written to one.

The formats are JSON lines with one complete game each (docs/reference/files.md), PGN, read as by ``game_from_pgn`` and
written as by ``history``, and what reconchess saves of a game (``GameHistory``), which is only read.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, NamedTuple, ParamSpec

import msgspec
from msgspec import Meta, Struct, structs

from gm_protocol.choices import with_choices
from gm_protocol.endings import Result, Termination, read_ending, result_of, termination_of
from gm_protocol.errors import BadPgn, GmError, quote
from gm_protocol.messages import FIRST_REGISTERED, LAST_REGISTERED, NewGame, Variant
from gmd.archive.games import BadGame, FileGame, restored
from gmd.archive.recon_records import read_recon_game
from gmd.event_log.reading import StoredGame, Unreadable
from gmd.event_log.store import Restored
from gmd.event_log.utc import read_time, write_time
from gmd.games.chess import CLASSICAL
from gmd.games.events import FORMER_MAX_PLIES, KEPT_TAGS, AnyEvent, Created
from gmd.games.game import Game
from gmd.games.moves import NULL_MOVES
from gmd.games.notation import run_through
from gmd.games.pgn_text import PgnGame, PgnText, check_is_text, pgn_games
from gmd.games.replay import DoesNotApply, replay
from gmd.games.variants import make_game, resolve
from gmd.games.views import full_pgn

#: The highest id that is imported: as many ids are left for new games.
MAX_GAME_ID = 2**52


class Token(Struct, forbid_unknown_fields=True):
    """The digests of a token and of the request that came with it (base64 in JSON)."""

    key: Annotated[bytes, Meta(min_length=32, max_length=32)]
    content: Annotated[bytes, Meta(max_length=64)]


class GameLine(Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A line. ``termination``, ``result`` and the players' names are for readers; the events determine the game."""

    game_id: Annotated[int, Meta(ge=1, le=MAX_GAME_ID)]
    termination: Termination
    result: Result
    #: Absent if the player has no name; the events have ids.
    white_name: str | None = None
    black_name: str | None = None
    #: UTC, to the second; absent while the game is in progress.
    ended: str | None = None
    token: Token | None = None
    events: list[AnyEvent]


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(GameLine)


def write_line(stored: StoredGame, names: Mapping[int, str]) -> bytes:
    """Return a game as a line, including the line end.

    :param names: the names of players, by their ids.

    :raises gmd.event_log.reading.Unreadable: one of its events is damaged.
    """
    row, token = stored.row, stored.token
    line = GameLine(
        game_id=stored.game_id,
        termination=row.termination,
        result=result_of(read_ending(row.termination)),
        white_name=names.get(row.player_white),
        black_name=names.get(row.player_black),
        ended=None if row.ended is None else write_time(row.ended),
        token=None if token is None else Token(token.token, token.content),
        events=stored.decoded(),
    )
    return _encoder.encode(line) + b"\n"


def read_line(text: bytes) -> Restored:
    """Return the game of a line after replaying it.

    :raises BadGame: the line is not a game, or the game breaks the rules.
    """
    try:
        line = _decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadGame(f"this is not a game: {with_choices(error, GameLine)}") from None
    try:
        game = replay(line.game_id, line.events)
    except DoesNotApply as error:
        raise BadGame(f"event {error.seq} does not apply: {error}") from None
    token = None if line.token is None else (line.token.key, line.token.content)
    return restored(game, line.events, _checked_end(line, game), token)


def _checked_end(line: GameLine, game: Game) -> float | None:
    """Return when the game ended, in seconds since 1970, after checking that the line agrees with its events."""
    termination = termination_of(game.now.ending)
    if line.termination != termination:
        raise BadGame(f"termination: {line.termination!r}, but the events say {termination!r}")
    if line.result != result_of(game.now.ending):
        raise BadGame(f"result: {line.result!r} does not go with {termination!r}")
    if (line.ended is not None) != game.over:
        raise BadGame(f"ended: {line.ended!r} does not go with {termination!r}")
    try:
        return None if line.ended is None else read_time(line.ended)
    except ValueError:
        raise BadGame(f"ended: {line.ended!r} is not a time such as 2026-11-21T04:41:00Z") from None


class ImportOptions(NamedTuple):
    """What the operator says of the games of a file."""

    #: The players of seats for which a game names no player id.
    white: int | None = None
    black: int | None = None
    #: The variant of PGN games that name none.
    variant: Variant | None = None
    #: Whether a PGN game with an illegal move is imported up to it.
    partial: bool = False


def write_pgn_game(stored: StoredGame, names: Mapping[int, str]) -> bytes:
    """Return a game as PGN, followed by an empty line.

    :param names: the names of players, by their ids.

    :raises gmd.event_log.reading.Unreadable: one of its events is damaged, or does not apply.
    """
    try:
        game = replay(stored.game_id, stored.decoded())
    except DoesNotApply as error:
        raise Unreadable(error.seq, f"it does not apply: {error}") from None
    return f"{full_pgn(game, names.get)}\n".encode()


def read_pgn_game(found: PgnGame, given: ImportOptions) -> FileGame:
    """Return the game at the end of a PGN's main line; it may be continued unless its last position ends it.

    A main line with a null move is read up to that move, and without its result.

    :raises BadGame: it cannot be loaded.
    """
    now = time.time()
    try:
        pgn, left_out = _without_null_moves(found.read())
        created = _created(pgn, given, now)
        game = make_game(created)
        try:
            loaded = run_through(game.load(pgn.moves))
        except BadPgn as error:
            if not given.partial or not (played := game.now.ply):
                raise
            left_out = f"its moves from ply {played} on are left out: {error}"
            created = structs.replace(created, result_header=None)
            game = make_game(created)
            loaded = run_through(game.load(pgn.moves[:played]))
    except GmError as error:
        raise BadGame(str(error)) from None
    return FileGame(restored(game, [created, *loaded], now if game.over else None), left_out)


def _created(pgn: PgnText, given: ImportOptions, now: float) -> Created:
    """Return the event that creates a game of a PGN."""
    white = _player("White", pgn.headers, given.white)
    black = _player("Black", pgn.headers, given.black)
    request = NewGame(player_white=white, player_black=black, variant=given.variant, pgn="")
    options = resolve(request, pgn.headers, CLASSICAL, strict=False)
    tags = _kept_tags(pgn.headers, (white, black))
    return Created(white, black, options, write_time(now), pgn.result, tags=tags)


def _without_null_moves(pgn: PgnText) -> tuple[PgnText, str | None]:
    """Return a PGN up to its first null move, and a note about the part left out.

    :raises BadGame: the first move is the null move.
    """
    ply = next((ply for ply, text in enumerate(pgn.moves) if text in NULL_MOVES), None)
    if ply is None:
        return pgn, None
    what = f"{quote(pgn.moves[ply])} is a null move, which chess does not have"
    if ply == 0:
        raise BadGame(f"its first move {what}")
    return pgn._replace(moves=pgn.moves[:ply], result=None), f"its moves from ply {ply} on are left out: {what}"


def _player(seat: str, headers: Mapping[str, str], otherwise: int | None) -> int:
    """Return the player of a seat: the id in its header, or else the player that the operator names.

    If our own tag accompanies the header, the header is a name, whatever it looks like, and the tag has the id.
    """
    header = headers.get(seat, "?")
    player = _id_in(headers.get(f"Gmd{seat}", header))
    if player is None or (f"Gmd{seat}" in headers and FIRST_REGISTERED <= player <= LAST_REGISTERED):
        if otherwise is None:
            message = f"{seat}: {quote(header)} is not a player id; give --{seat.lower()} ID for this seat's player"
            raise BadGame(message)
        player = otherwise
    if not -(2**63) <= player < 2**63 or FIRST_REGISTERED <= player <= LAST_REGISTERED:
        raise BadGame(f"{seat}: {player} is not an id that an unregistered player may have")
    return player


def _id_in(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _kept_tags(headers: Mapping[str, str], players: tuple[int, int]) -> dict[str, str]:
    """Return the tags that are exported again, those left out that an export writes anyway."""
    written = {"Site": "?", "Round": "-", "White": str(players[0]), "Black": str(players[1])}
    kept = {name: headers[name] for name in KEPT_TAGS if headers.get(name, "") not in ("", written.get(name))}
    return {
        name: "".join(sign if sign.isprintable() else " " for sign in value)
        for name, value in kept.items()
        if not (name in ("White", "Black") and value == "?")
    }


_P = ParamSpec("_P")

Format = Literal["pgn", "jsonl", "reconchess"]

#: Longest line, in bytes: many times that of the longest game.
MAX_LINE = 16 * 2**20


class FoundGame(NamedTuple):
    """A game of a file, or its error; ``where`` is for people."""

    where: str
    game: FileGame | BadGame


def format_of(file: Path) -> Format | None:
    """Return the format of a file by its name's ending; None if it is unknown."""
    return {".pgn": "pgn", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "reconchess"}.get(file.suffix.lower())  # type: ignore[return-value]


def read_games(
    file: Path, written: Format, given: ImportOptions, advance: Callable[[int], None]
) -> Iterator[FoundGame]:
    """Yield the games of a file.

    :param advance: called with the number of bytes read since the last call.
    :raises OSError: the file cannot be read.
    """
    with file.open("rb") as opened:
        if written == "jsonl":
            for number, line in enumerate(_lines(opened, advance), 1):
                if line is None or line.strip():
                    yield FoundGame(f"{file}, line {number}", _tried(_read_line, line))
        elif written == "reconchess":
            content = opened.read(MAX_LINE + 1)
            advance(len(content))
            yield FoundGame(str(file), _tried(_read_record, content, given))
        else:
            yield from _read_pgn_file(file, opened, given, advance)


def _read_pgn_file(
    file: Path, opened: BufferedReader, given: ImportOptions, advance: Callable[[int], None]
) -> Iterator[FoundGame]:
    try:
        check_is_text(opened.peek(4))
    except BadPgn as error:
        yield FoundGame(str(file), BadGame(str(error)))
        return
    for number, game in enumerate(pgn_games(_decoded(opened, advance), FORMER_MAX_PLIES), 1):
        yield FoundGame(f"{file}, game {number}", _tried(read_pgn_game, game, given))


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


def _tried(read: Callable[_P, FileGame], *arguments: _P.args, **named: _P.kwargs) -> FileGame | BadGame:
    try:
        return read(*arguments, **named)
    except BadGame as error:
        return error


def _read_line(line: bytes | None) -> FileGame:
    if line is None:
        raise BadGame(f"this is not a game: the line is longer than {MAX_LINE} bytes")
    return FileGame(read_line(line))


def _read_record(content: bytes, given: ImportOptions) -> FileGame:
    if len(content) > MAX_LINE:
        raise BadGame(f"it is longer than {MAX_LINE} bytes")
    return read_recon_game(content.decode("utf-8", "replace"), (given.white, given.black))


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
