"""A game as a visitor may see it: its state and, where the protocol shows it, its history."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import chess
import msgspec
from msgspec import Struct

from gm_protocol.errors import BadRequest, NotAvailable
from gm_protocol.state import Color, GameState, side_of
from gmd.games.rbc_knowledge import Observed
from gmd.games.variant import Variant
from gmd.games.variants import VARIANTS
from gmd.games.views import observations
from gmd.handlers.in_process import Refused
from gmd.http.pages.memory import count_at
from gmd.http.pages.replay import ReconRecord, ReconReplay, begins, record_steps
from gmd.http.pages.visit import Visit
from gmd.http.seat import check_id

_T = TypeVar("_T")


class Past(Struct, frozen=True):
    """A game's history. ``record`` is there in rbc only."""

    pgn: str
    moves: list[str]
    record: ReconRecord | None = None


def past_steps(encoded: bytes) -> Generator[None, None, Past]:
    """Return the history in an encoded ``history`` reply, in steps."""
    head, name, rest = encoded.partition(_HISTORY)
    past = msgspec.json.decode(head + b'"record":null}', type=Past)
    yield
    if rest.startswith(b"null"):
        return past
    return Past(past.pgn, past.moves, (yield from record_steps(encoded, len(head) + len(name))))


def record_in(encoded: bytes) -> bytes:
    """Return the record of an encoded ``history`` reply of rbc: the game as reconchess saves it."""
    return encoded[encoded.index(_HISTORY) + len(_HISTORY) : encoded.rindex(b',"error":')]


#: Where the record begins in a ``history`` reply, after the PGN and the moves.
_HISTORY = b'"history":'


@dataclass(frozen=True, slots=True)
class Look:
    """A game at one moment, as a visitor may see it.

    :ivar seat: the visitor's side; None for a spectator.
    :ivar past: the game's history; None where it is hidden, or was not asked for.
    :ivar senses: the squares that the visitor may sense now; None if it may not sense, or this was not asked for.
    :ivar moves: the moves that the visitor may ask for now, in UCI; None as for senses.
    :ivar observed: what the visitor has learnt in a game of rbc in progress, in order.
    """

    state: GameState
    seat: chess.Color | None = None
    past: Past | None = None
    senses: list[str] | None = None
    moves: list[str] | None = None
    observed: Sequence[Observed] = ()

    @property
    def variant(self) -> Variant:
        """The game's rules."""
        return VARIANTS[self.state.variant]

    @property
    def over(self) -> bool:
        """Whether the game is over: then nothing is hidden, and nothing changes any more."""
        return self.state.phase == "over"

    @property
    def hides(self) -> bool:
        """Whether the game may hide something from the visitor now."""
        return self.variant.hides and not self.over

    @property
    def has_views(self) -> bool:
        """Whether the game is over and was one of which each side saw only a part."""
        return self.over and self.variant.hides

    @property
    def recon(self) -> ReconReplay | None:
        """The replay of a finished game of rbc, if its history was asked for."""
        record = None if self.past is None else self.past.record
        return None if record is None else ReconReplay(record, self.state.start_fen)

    def ply(self, wanted: int | None) -> int:
        """Return the ply that a visitor wants to see; None for the latest one.

        :raises BadRequest: the game has no such ply yet.
        :raises NotAvailable: the game hides its earlier plies until it is over.
        """
        last = self.state.ply_index
        if wanted is None or wanted == last:
            return last
        if wanted > last:
            raise BadRequest(f"ply: the game has no ply {wanted} yet; choose 0 to {last}")
        if self.hides:
            raise NotAvailable(f"ply: game {self.state.game_id} is not over: earlier plies are shown once it is over")
        return wanted


async def look_at(visit: Visit, game_id: int, seat: Color | None = None) -> Look:
    """Return a game's present state as a visitor may see it.

    :param seat: the seat to look from, for a visitor who holds both.
    :raises NoSuchGame: there is no such game.
    :raises Refused: likewise, or the visitor may not look.
    """
    return await _look(visit, game_id, seat, brief=True)


async def look_live(visit: Visit, game_id: int, seat: Color | None = None, *, moves: bool = True) -> Look:
    """Return a game's present state with the visitor's actions, which is what :mod:`.live_view` is made of.

    :param seat: as for :func:`look_at`; if left out, the seat that is to move where nothing is hidden.
    :param moves: whether the moves are wanted, if they are not hidden.
    :raises NoSuchGame: there is no such game.
    :raises Refused: likewise, or the visitor may not look.
    """
    look = await _look(visit, game_id, seat, brief=True, actions=True)
    state = look.state
    if moves and not look.variant.hides and state.ply_index:
        look = await _look(visit, game_id, seat, brief=False, actions=True)
    return look


async def _look(visit: Visit, game_id: int, seat: Color | None, **fields: Any) -> Look:
    named: Color | None = None
    check_id(game_id)
    try:
        reply = await visit.look(game_id, **fields)
    except Refused as refused:
        if refused.code != BadRequest.code:
            raise
        named = seat or "white"  # the visitor holds both seats, and must name one
        reply = await visit.look(game_id, seat=named, **fields)
    state = msgspec.convert(reply["state"], GameState)
    if named is None and visit.player is not None and state.player_white == state.player_black == visit.player:
        named = seat or state.turn  # nothing is hidden
    acts = named is None or named == state.turn
    side = side_of(named) if named else _seat_in(state, visit.player)
    senses, moves = (reply.get(name) if acts else None for name in ("sense_actions", "move_actions"))
    return Look(state, side, None, senses, moves, await _observed(visit, state, side))


async def _observed(visit: Visit, state: GameState, side: chess.Color | None) -> Sequence[Observed]:
    """Return what a side had learnt when a state was looked at, which is durable."""
    if side is None or state.phase == "over" or not VARIANTS[state.variant].senses:
        return ()
    live = await visit.backend.services.arbiter.live_game(state.game_id, visit.peer)
    first_ply = int(begins(state.start_fen) != side)
    sensed = state.phase == "move" and side_of(state.turn) == side
    return (observations(live.game, side) or ())[: count_at(state.ply_index, first_ply=first_ply, sensed=sensed)]


async def with_past(visit: Visit, look: Look) -> Look:
    """Return the same with the game's history, unless that is hidden.

    :raises Refused: the visitor's address has used up its processor time.
    """
    if look.hides:
        return look
    reply = await visit.ask_encoded("history", game_id=look.state.game_id)
    return replace(look, past=await worked(visit, past_steps(reply)))


async def worked(visit: Visit, steps: Generator[None, None, _T]) -> _T:
    """Run long work in slices, and charge the visitor's address for it as for histories.

    :raises TooMany: the address has used up its processor time.
    """
    cpu_queue = visit.backend.services.arbiter.cpu_queue
    async with cpu_queue.slot(visit.peer, paid=True):
        return await cpu_queue.run(steps, visit.peer)


def _seat_in(state: GameState, player: int | None) -> chess.Color | None:
    if player is None or player not in (state.player_white, state.player_black):
        return None
    return state.player_white == player
