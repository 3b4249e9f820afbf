"""A live game as a spectator sees it, from now to its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import chess

from gm_client.blocking import Client, GameState, PlayerNames
from gm_protocol.state import COLOR_NAMES

from ..sides import player_in

_NUMBER = re.compile(r"^\d+\.+")


class Look(NamedTuple):
    """A game at one moment."""

    state: GameState
    #: The players' names, where they have any.
    names: PlayerNames

    def player(self, color: chess.Color) -> str:
        """Return a player's name, or its id; "?" for an empty seat."""
        player = player_in(self.state, color)
        return self.names[COLOR_NAMES[color]] or ("?" if player is None else str(player))

    @property
    def over(self) -> bool:
        return self.state["phase"] == "over"

    @property
    def hidden(self) -> bool:
        """Whether the server hides the board, as it does in blind chess while the game is in progress."""
        return self.state.get("pgn") is None

    @property
    def is_blind(self) -> bool:
        """Whether the game is blind chess, whose recording shows each player's knowledge next to the true board."""
        return "last_sense" in self.state

    def sans(self) -> list[str]:
        """Return the moves so far in SAN; none where they are hidden."""
        words = (_NUMBER.sub("", word) for word in (self.state.get("pgn") or "").split())
        return [word for word in words if word]


def follow(client: Client, game_id: int, seconds: float | None) -> Iterator[Look]:
    """Yield a game as it is now, again after each change, and at its end.

    :param seconds: interval at which to yield even without a change, to update the clocks; None lets the server choose.
    :raises GmError: there is no such game.
    :raises ConnectionLost: the server has been unreachable for longer than the client's patience.
    """
    look = _look(client, game_id)
    yield look
    every = {} if seconds is None else {"timeout": seconds}
    while not look.over:
        state = client.wait(game_id, player=None, ply=look.state["ply_index"], **every)["state"]  # type: ignore[arg-type]
        assert state is not None  # None only where several games are waited for
        joined = [state[name] != look.state[name] for name in ("player_white", "player_black")]
        look = _look(client, game_id) if any(joined) else Look(state, look.names)
        yield look


def _look(client: Client, game_id: int) -> Look:
    reply = client.state(game_id, player=None)
    return Look(reply["state"], reply.get("names", PlayerNames(white=None, black=None)))
