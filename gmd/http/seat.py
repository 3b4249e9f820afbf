"""A game as one of its players sees it, and the translation of the player's requests into the protocol's.

reconchess's requests name no ply, and its client retries without end whatever has had no reply. So a request that
equals the seat's latest turn is taken for a retry: it goes to the game with that turn's ply, and the game answers as it
did before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast

import chess
from litestar.params import PathParameter
from msgspec import convert

from gm_protocol.endings import Cause, Ending, read_ending
from gm_protocol.errors import NoSuchGame, NotAPlayer, NotAvailable, quote
from gm_protocol.options import VARIANT_TRAITS
from gm_protocol.state import GameState, LastResult, LastSense, side_of
from gmd.games.commands import RunOut
from gmd.handlers.in_process import Refused
from gmd.http.api_clients import ApiClient
from gmd.play.arbiter import Arbiter

#: The number of a game, in a path.
GameId = Annotated[int, PathParameter(description="The game's number.")]


async def look(client: ApiClient, game_id: int) -> GameState:
    """Return the state of an RBC game as a client may see it.

    :raises Refused: there is no game with that id.
    :raises NoSuchGame: the game is of another variant.
    """
    check_id(game_id)
    reply = await client.ask("state", game_id=game_id, brief=True)
    state = convert(reply["state"], GameState)
    if not VARIANT_TRAITS[state.variant].in_reconchess:
        raise NoSuchGame(f"game_id: game {game_id} is {state.variant}; this API serves only rbc games")
    return state


def check_id(game_id: int) -> None:
    """Check that a number is in the range of game ids.

    :raises NoSuchGame: it is not.
    """
    if not 0 <= game_id < 2**53:
        raise NoSuchGame(f"game_id: there is no game {quote(game_id)}")


async def look_at_ended(client: ApiClient, game_id: int) -> GameState:
    """Return the state of a game that is over.

    :raises NotAvailable: it is still being played.
    """
    state = await look(client, game_id)
    if state.phase != "over":
        raise NotAvailable(f"game {game_id} is not over")
    return state


async def take_seat(client: ApiClient, game_id: int) -> Seat:
    """Return a game as one of its players sees it.

    :raises NotAPlayer: the client has no seat, or has not accepted the invitation to it.
    """
    state = await look(client, game_id)
    player = client.player.player
    if player not in (state.player_white, state.player_black):
        raise NotAPlayer(f"game_id: {client.player.name} is not a player in game {game_id}")
    if state.phase == "open":  # an invited player has not taken its seat yet: this refuses such a one
        await client.ask("actions", game_id=game_id)
    client.claims.act(player, game_id)
    return Seat(client, state, color=state.player_white == player)


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat, its player, and the game's state at one moment."""

    client: ApiClient
    state: GameState
    color: chess.Color

    @property
    def opponent(self) -> int | None:
        """The player for the other seat; None where that is open."""
        return self.state.player_black if self.color else self.state.player_white

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.state.phase == "over"

    @property
    def may_act(self) -> bool:
        """Whether the game waits for this seat, to sense or to move."""
        return self.state.phase in ("sense", "move")

    @property
    def to_move(self) -> bool:
        """Whether this seat is to move, or was when the game ended."""
        return side_of(self.state.turn) == self.color

    @property
    def has_sensed(self) -> bool:
        """Whether the seat has sensed in the current turn, or had when the game ended."""
        return self._last_sense is not None and self._last_sense.ply == self.state.ply_index

    @property
    def has_moved(self) -> bool:
        """Whether the seat has completed a turn."""
        return self._last_result is not None

    @property
    def seconds_left(self) -> float | None:
        """The seat's remaining time; None where the game has no clocks."""
        clock = self.state.clock
        return None if clock is None else clock.white if self.color else clock.black

    def ply_of_sense(self, square: str | None) -> int:
        """Return the ply that a sense posted now is meant for: the latest turn's, where it is a retry of that."""
        last, now = self._last_sense, self.state.ply_index
        latest = now if self.to_move else now - 1
        return latest if last is not None and (last.ply, last.square) == (latest, square) else now

    def ply_of_move(self, requested: str | None) -> int:
        """Return the ply that a move posted now is meant for: the latest turn's, where it is a retry of that."""
        last, now = self._last_result, self.state.ply_index
        completed = now - 2 if self.to_move else now - 1
        again = not self.has_sensed and last is not None and (last.ply, last.requested_move) == (completed, requested)
        return completed if again else now

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a request for this seat in its game, and return the reply."""
        return await self.client.ask(kind, shows_presence=True, game_id=self.state.game_id, brief=True, **fields)

    async def resign(self) -> None:
        """Resign the game.

        :raises Refused: it is over, and not by this seat's resignation.
        """
        ending = Ending.by(Cause.RESIGNATION, self.color)
        await self.ask("end_game", termination=ending.termination, ply=self.state.ply_index)

    async def run_out(self, arbiter: Arbiter) -> None:
        """Lose on time, whoever is to move; without a clock to run out, resign.

        A game that is over stays as it ended.
        """
        live = await arbiter.live_game(self.state.game_id, self.client.peer)
        self.client.check()
        refusal = arbiter.act(live, RunOut(self.color), self.client.arrived).refusal
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
        return cast(LastSense | None, self.state.last_sense)  # always set in this variant

    @property
    def _last_result(self) -> LastResult | None:
        return cast(LastResult | None, self.state.last_result)


def ending_of(state: GameState) -> Ending | None:
    """Return how an RBC game ended; None while it is being played."""
    return read_ending(state.termination, Cause.KING_CAPTURE)


def winner_of(state: GameState) -> chess.Color | None:
    """Return the winner; None for a draw, and for a game that never began."""
    return None if (ending := ending_of(state)) is None else ending.winner
