"""Short forms of the requests that the tests of the rules often make."""

from __future__ import annotations

from typing import Any

from tests.helpers import Client, Json


class Table:
    """One game of a client that plays both sides, as players 1 (White) and 2 (Black)."""

    def __init__(self, client: Client, reply: Json) -> None:
        self.client = client
        self.id: int = reply["game_id"]
        #: Options of the game, as the server resolved them.
        self.options: Json = reply["options"]
        #: Latest state that the server has shown.
        self.state: Json = reply["state"]

    async def play(self, *moves: str, **fields: Any) -> Json:
        """Make moves for the side to move, which must be accepted; return the state after the last."""
        for move in moves:
            reply = await self._move(move, fields)
            assert reply["error"] is None, reply
            self.state = reply["state"]
        return self.state

    async def refuse(self, move: str, **fields: Any) -> Json:
        """Make a move that must be refused and change nothing; return the reply."""
        reply = await self._move(move, fields)
        assert reply["error"] is not None, reply
        assert reply["state"] is None
        assert await self.look() == self.state
        return reply

    async def end(self, termination: str, player: int) -> Json:
        """Ask to end the game; return the reply, whatever it is."""
        reply = await self.client.ask("end_game", game_id=self.id, player=player, termination=termination)
        if reply["error"] is None:
            self.state = reply["state"]
        else:
            assert await self.look() == self.state
        return reply

    async def look(self) -> Json:
        """Return the state that a spectator sees."""
        state: Json = (await self.client.ask("state", game_id=self.id))["state"]
        return state

    async def actions(self) -> list[str]:
        """Return the legal moves of the side to move, sorted."""
        reply = await self.client.ask("actions", game_id=self.id, player=self.player)
        return sorted(reply["move_actions"])

    @property
    def player(self) -> int:
        """Player to move."""
        return 1 if self.state["turn"] == "white" else 2

    async def _move(self, move: str, fields: Json) -> Json:
        return await self.client.ask("move", **{"game_id": self.id, "player": self.player, "move": move, **fields})


async def new_table(client: Client, **options: Any) -> Table:
    """Create a game."""
    return Table(client, await client.new_game(**options))


async def refused_game(client: Client, **options: Any) -> Json:
    """Send a ``new_game`` that must be refused; return the reply."""
    reply = await client.ask("new_game", **{"player_white": 1, "player_black": 2, **options})
    assert reply["error"] is not None, reply
    assert (reply["game_id"], reply["state"]) == (None, None)
    return reply
