"""Short ways to say what the tests of the rules say often."""

from __future__ import annotations

from typing import Any

from tests.helpers import Client, Json


class Table:
    """One game of a client that plays both sides, as players 1 (White) and 2 (Black)."""

    def __init__(self, client: Client, reply: Json) -> None:
        self.client = client
        self.id: int = reply["game_id"]
        #: The options of the game as the server resolved them.
        self.options: Json = reply["options"]
        #: The latest state the server has shown.
        self.state: Json = reply["state"]

    async def play(self, *moves: str, **fields: Any) -> Json:
        """Moves in turn, by whoever is to move; the state after the last. None may be refused."""
        for move in moves:
            reply = await self._move(move, fields)
            assert reply["error"] is None, reply
            self.state = reply["state"]
        return self.state

    async def refuse(self, move: str, **fields: Any) -> Json:
        """A move that must be refused, and must change nothing; the reply."""
        reply = await self._move(move, fields)
        assert reply["error"] is not None, reply
        assert reply["state"] is None
        assert await self.look() == self.state
        return reply

    async def end(self, termination: str, player: int) -> Json:
        """End the game; the reply, whatever it is."""
        reply = await self.client.ask("end_game", game_id=self.id, player=player, termination=termination)
        if reply["error"] is None:
            self.state = reply["state"]
        else:
            assert await self.look() == self.state
        return reply

    async def look(self) -> Json:
        """The state as anybody sees it."""
        state: Json = (await self.client.ask("state", game_id=self.id))["state"]
        return state

    async def actions(self) -> list[str]:
        """What the side to move may do, sorted."""
        reply = await self.client.ask("actions", game_id=self.id, player=self.player)
        return sorted(reply["move_actions"])

    @property
    def player(self) -> int:
        """The player to move."""
        return 1 if self.state["turn"] == "white" else 2

    async def _move(self, move: str, fields: Json) -> Json:
        return await self.client.ask("move", **{"game_id": self.id, "player": self.player, "move": move, **fields})


async def new_table(client: Client, **options: Any) -> Table:
    """A new game."""
    return Table(client, await client.new_game(**options))


async def refused_game(client: Client, **options: Any) -> Json:
    """A ``new_game`` that must be refused; the reply."""
    reply = await client.ask("new_game", **{"player_white": 1, "player_black": 2, **options})
    assert reply["error"] is not None, reply
    assert (reply["game_id"], reply["state"]) == (None, None)
    return reply
