"""A live game as a spectator sees it, from now to its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gm_client.blocking import Client, Color, GameState, PlayerNames

_NUMBER = re.compile(r"^\d+\.+")


class Look(NamedTuple):
    """A game at one moment."""

    state: GameState
    #: What its players are called, where they have names.
    names: PlayerNames

    def player(self, color: Color) -> str:
        """A player by its name, or by its id; "?" for a seat that nobody has."""
        player = self.state["player_white"] if color == "white" else self.state["player_black"]
        return self.names[color] or ("?" if player is None else str(player))

    @property
    def over(self) -> bool:
        return self.state["phase"] == "over"

    @property
    def hidden(self) -> bool:
        """Whether the server hides the board, as it does that of blind chess while it is on."""
        return self.state.get("pgn") is None

    @property
    def is_blind(self) -> bool:
        """Whether its players know what they have sensed, which a recording shows beside the truth."""
        return "last_sense" in self.state

    def sans(self) -> list[str]:
        """The moves so far in SAN; none where they are hidden."""
        words = (_NUMBER.sub("", word) for word in (self.state.get("pgn") or "").split())
        return [word for word in words if word]


def follow(client: Client, game_id: int, seconds: float | None) -> Iterator[Look]:
    """A game as it is, again whenever it has moved on, and at its end.

    :param seconds: after which to look all the same, for the sake of its clocks; None to let the server choose.
    :raises GmError: there is no such game.
    :raises ConnectionLost: the server is gone, for longer than the client has patience.
    """
    look = _look(client, game_id)
    yield look
    every = {} if seconds is None else {"timeout": seconds}
    while not look.over:
        state = client.wait(game_id, player=None, ply=look.state["ply_index"], **every)["state"]  # type: ignore[arg-type]
        assert state is not None  # it is None for several games alone
        joined = [state[name] != look.state[name] for name in ("player_white", "player_black")]
        look = _look(client, game_id) if any(joined) else Look(state, look.names)
        yield look


def _look(client: Client, game_id: int) -> Look:
    reply = client.state(game_id, player=None)
    return Look(reply["state"], reply.get("names", PlayerNames(white=None, black=None)))
