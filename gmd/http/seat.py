"""A game as one of its players is shown it, and what its next request is in the protocol's terms.

reconchess's requests name no ply, and its client posts again what it has had no reply to, for ever. So what is posted
is taken for a repetition where the seat's latest turn has the same in its place, and goes to the game with the ply of
that, which answers it as it did before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast

import chess
from litestar.params import PathParameter
from msgspec import convert

from gm_protocol.endings import Cause, Ending, read_ending
from gm_protocol.errors import NoSuchGame, NotAPlayer, NotAvailable, quote
from gm_protocol.state import GameState, LastResult, LastSense, side_of
from gmd.arbiter import Arbiter
from gmd.games.commands import RunOut
from gmd.in_process import Refused

from .guests import Guest

#: The number of a game, in a path.
GameId = Annotated[int, PathParameter(description="The game's number.")]


async def look(guest: Guest, game_id: int) -> GameState:
    """A game of reconnaissance blind chess as a guest may see it.

    :raises Refused: there is none of that id.
    :raises NoSuchGame: it is a game of another kind.
    """
    check_id(game_id)
    reply = await guest.ask("state", game_id=game_id, brief=True)
    state = convert(reply["state"], GameState)
    if state.variant != "rbc":
        raise NoSuchGame(f"game_id: game {game_id} is {state.variant}; this API has reconnaissance blind chess alone")
    return state


def check_id(game_id: int) -> None:
    """See to it that a number may be a game's.

    :raises NoSuchGame: it is not.
    """
    if not 0 <= game_id < 2**53:
        raise NoSuchGame(f"game_id: there is no game {quote(game_id)}")


async def look_at_ended(guest: Guest, game_id: int) -> GameState:
    """A game that is over.

    :raises NotAvailable: it is on.
    """
    state = await look(guest, game_id)
    if state.phase != "over":
        raise NotAvailable(f"game {game_id} is not over")
    return state


async def take_seat(guest: Guest, game_id: int) -> Seat:
    """A game as one who plays in it sees it.

    :raises NotAPlayer: the guest has no seat, or has not taken the one it is invited to.
    """
    state = await look(guest, game_id)
    player = guest.player.player
    if player not in (state.player_white, state.player_black):
        raise NotAPlayer(f"game_id: {guest.player.name} is not a player in game {game_id}")
    if state.phase == "open":  # a seat is named before it is taken: this refuses those who have not
        await guest.ask("actions", game_id=game_id)
    guest.claims.act(player, game_id)
    return Seat(guest, state, color=state.player_white == player)


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat, its player, and the game at the moment that was looked at."""

    guest: Guest
    state: GameState
    color: chess.Color

    @property
    def opponent(self) -> int | None:
        """Who the other seat is for; None where that is open."""
        return self.state.player_black if self.color else self.state.player_white

    @property
    def over(self) -> bool:
        """Whether the game is."""
        return self.state.phase == "over"

    @property
    def may_act(self) -> bool:
        """Whether the game waits for this seat, to sense or to move."""
        return self.state.phase in ("sense", "move")

    @property
    def to_move(self) -> bool:
        """Whether the turn is this seat's, or was when the game ended."""
        return side_of(self.state.turn) == self.color

    @property
    def has_sensed(self) -> bool:
        """Whether it has sensed in the turn that is on, or was when the game ended."""
        return self._last_sense is not None and self._last_sense.ply == self.state.ply_index

    @property
    def has_moved(self) -> bool:
        """Whether it has completed a turn."""
        return self._last_result is not None

    @property
    def seconds_left(self) -> float | None:
        """Its time; None where the game has no clocks."""
        clock = self.state.clock
        return None if clock is None else clock.white if self.color else clock.black

    def ply_of_sense(self, square: str | None) -> int:
        """The ply that a sense posted now is meant for: that of the latest turn, where it is the same again."""
        last, now = self._last_sense, self.state.ply_index
        latest = now if self.to_move else now - 1
        return latest if last is not None and (last.ply, last.square) == (latest, square) else now

    def ply_of_move(self, requested: str | None) -> int:
        """The ply that a move posted now is meant for: that of the latest turn, where it is the same again."""
        last, now = self._last_result, self.state.ply_index
        completed = now - 2 if self.to_move else now - 1
        again = not self.has_sensed and last is not None and (last.ply, last.requested_move) == (completed, requested)
        return completed if again else now

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a request for this seat in its game."""
        return await self.guest.ask(kind, counts_as_contact=True, game_id=self.state.game_id, brief=True, **fields)

    async def resign(self) -> None:
        """Give the game up.

        :raises Refused: it is over, and not because this seat has given it up.
        """
        ending = Ending(Cause.RESIGNATION, winner=not self.color)
        await self.ask("end_game", termination=ending.termination, ply=self.state.ply_index)

    async def run_out(self, arbiter: Arbiter) -> None:
        """Lose on time, whoever's turn it is; where there is no time to lose, give the game up.

        A game that is over stays as it ended.
        """
        live = await arbiter.live_game(self.state.game_id, self.guest.peer)
        self.guest.check()
        refusal = arbiter.act(live, RunOut(self.color), self.guest.arrived).refusal
        if refusal is not None and refusal.code == NotAvailable.code:
            await self._resign_unless_over()
        elif live.commit is not None:
            await live.commit.wait()

    async def _resign_unless_over(self) -> None:
        try:
            await self.resign()
        except Refused as refused:
            if refused.code != "game_over":
                raise

    @property
    def _last_sense(self) -> LastSense | None:
        return cast(LastSense | None, self.state.last_sense)  # it is there in this variant

    @property
    def _last_result(self) -> LastResult | None:
        return cast(LastResult | None, self.state.last_result)


def ending_of(state: GameState) -> Ending | None:
    """How a game of reconnaissance blind chess ended; None while it is on."""
    return read_ending(state.termination, Cause.KING_CAPTURE)


def winner_of(state: GameState) -> chess.Color | None:
    """The side that won a game; None for a draw, and for a game that never began."""
    return None if (ending := ending_of(state)) is None else ending.winner
