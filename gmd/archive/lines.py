"""JSON lines: one complete game per line. docs/reference/files.md describes the format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from gm_protocol.choices import with_choices
from gm_protocol.endings import read_ending, result_of, termination_of
from gm_protocol.state import Result, Termination
from gmd.event_log.reading import StoredGame
from gmd.event_log.store import Restored
from gmd.games.events import AnyEvent
from gmd.games.game import Game
from gmd.games.replay import DoesNotApply, replay
from gmd.utc import read_time, write_time

from .games import BadGame, restored

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
