"""Games of PGN files, read as by ``game_from_pgn``, and written as by ``history``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

from gm_protocol.errors import GmError, quote
from gm_protocol.messages import FIRST_REGISTERED, LAST_REGISTERED, NewGame
from gmd.event_log.reading import StoredGame, Unreadable
from gmd.games.chess_variants import CLASSICAL
from gmd.games.events import FORMER_MAX_PLIES, AnyEvent, Created
from gmd.games.moves import NULL_MOVES
from gmd.games.notation import PgnText, read_pgn, run_through
from gmd.games.pgn_file import MAX_GAME_CHARS
from gmd.games.replay import DoesNotApply, replay
from gmd.games.setup import resolve
from gmd.games.variants import make_game
from gmd.games.views import full_pgn
from gmd.utc import write_time

from .games import BadGame, Taken, restored


class Seats(NamedTuple):
    """The players of seats for which a PGN names no player id."""

    white: int | None = None
    black: int | None = None


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


def read_pgn_game(text: str, seats: Seats) -> Taken:
    """Return the game at the end of a PGN's main line; it may be continued unless its last position ends it.

    A main line with a null move is read up to that move, and without its result.

    :raises BadGame: it cannot be loaded.
    """
    if len(text) > MAX_GAME_CHARS:
        raise BadGame(f"it is longer than {MAX_GAME_CHARS} characters")
    now = time.time()
    try:
        pgn, left_out = _without_null_moves(run_through(read_pgn(text, FORMER_MAX_PLIES)))
        white = _player("White", pgn.headers, seats.white)
        black = _player("Black", pgn.headers, seats.black)
        request = NewGame(player_white=white, player_black=black, pgn=text)
        options = resolve(request, pgn.headers, CLASSICAL, strict=False)
        created = Created(white, black, options, write_time(now), pgn.result)
        game = make_game(created)
        events: list[AnyEvent] = [created, *run_through(game.load(pgn.moves))]
    except GmError as error:
        raise BadGame(str(error)) from None
    return Taken(restored(game, events, now if game.over else None), left_out)


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

    If our own tag accompanies the header, the header is a registered player's name, whatever it looks like.
    """
    header = headers.get(seat, "?")
    try:
        player = int(header if f"Gmd{seat}" not in headers else "")
    except ValueError:
        if otherwise is None:
            message = f"{seat}: {quote(header)} is not a player id; give --{seat.lower()} ID for this seat's player"
            raise BadGame(message) from None
        player = otherwise
    if not -(2**63) <= player < 2**63 or FIRST_REGISTERED <= player <= LAST_REGISTERED:
        raise BadGame(f"{seat}: {player} is not an id that an unregistered player may have")
    return player
