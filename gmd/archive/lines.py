"""JSON lines: a game a line, with all there is of it. docs/ARCHIVE.md describes them for others."""

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

#: The highest id that is imported: as many are left for new games.
MAX_GAME_ID = 2**52


class Token(Struct, forbid_unknown_fields=True):
    """What is kept of a token and of the request that came with it: digests (base64 in JSON)."""

    key: Annotated[bytes, Meta(min_length=32, max_length=32)]
    content: Annotated[bytes, Meta(max_length=64)]


class GameLine(Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A line. ``termination`` and ``result`` are for readers; the events say the same. So are the players' names."""

    game_id: Annotated[int, Meta(ge=1, le=MAX_GAME_ID)]
    termination: Termination
    result: Result
    #: Absent where the player has none; the events have ids.
    white_name: str | None = None
    black_name: str | None = None
    #: UTC, to the second; absent while the game is on.
    ended: str | None = None
    token: Token | None = None
    events: list[AnyEvent]


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(GameLine)


def write_line(stored: StoredGame, names: Mapping[int, str]) -> bytes:
    """A game as a line, with its end.

    :param names: of players, by their ids.

    :raises gmd.event_log.reading.Unreadable: an event of its is damaged.
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
    """The game of a line, replayed.

    :raises BadGame: it is none, or breaks the rules.
    """
    try:
        line = _decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadGame(f"this is no game: {with_choices(error, GameLine)}") from None
    try:
        game = replay(line.game_id, line.events)
    except DoesNotApply as error:
        raise BadGame(f"event {error.seq} does not apply: {error}") from None
    token = None if line.token is None else (line.token.key, line.token.content)
    return restored(game, line.events, _checked_end(line, game), token)


def _checked_end(line: GameLine, game: Game) -> float | None:
    """When the game ended."""
    termination = termination_of(game.now.ending)
    if line.termination != termination:
        raise BadGame(f"termination: {line.termination!r}; its events say {termination!r}")
    if line.result != result_of(game.now.ending):
        raise BadGame(f"result: {line.result!r} does not go with {termination!r}")
    if (line.ended is not None) != game.over:
        raise BadGame(f"ended: {line.ended!r} does not go with {termination!r}")
    try:
        return None if line.ended is None else read_time(line.ended)
    except ValueError:
        raise BadGame(f"ended: {line.ended!r} is not a time such as 2026-11-21T04:41:00Z") from None
