"""Players of reconnaissance blind chess over HTTP, and games for them that the operator creates."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx

from gmd.daemon import Daemon
from tests.helpers import Json, running_daemon
from tests.http.helpers import http_client

#: Routes for players only, and for every registered player once the game is over.
PLAYERS = (
    "color",
    "starting_board",
    "opponent_name",
    "sense_actions",
    "move_actions",
    "seconds_left",
    "opponent_move_results",
)
ENDED = ("winner_color", "win_reason", "game_history")

#: The names of a table's players: White's, Black's, and that of the one without a seat.
NAMES = ("white-bot", "black-bot", "other-bot")

#: Timeout in seconds of anything on a busy machine.
PATIENCE_SECONDS = 60.0


class Player:
    """A registered player, whose password is its key because that needs no argon2.

    :ivar id: its id.
    :ivar auth: its name and key.
    """

    def __init__(self, client: httpx.AsyncClient, registered: Json) -> None:
        self._client = client
        self.id: int = registered["player"]
        self.auth: tuple[str, str] = (registered["name"], registered["key"])

    async def get(self, game_id: int, what: str) -> httpx.Response:
        """Get a resource of a game."""
        return await self._client.get(f"/api/games/{game_id}/{what}", auth=self.auth)

    async def post(self, game_id: int, what: str, body: Json | None = None) -> httpx.Response:
        """Post to a resource of a game; as from reconchess's client, the body is JSON without a content type."""
        content = b"" if body is None else httpx.Request("POST", "http://any", json=body).content
        return await self._client.post(f"/api/games/{game_id}/{what}", content=content, auth=self.auth)

    async def sense(self, game_id: int, square: int | None) -> Json:
        """Sense a square, which must not be refused, and return the result."""
        return answered(await self.post(game_id, "sense", {"square": square}))

    async def move(self, game_id: int, uci: str | None) -> Json:
        """Make a move, which must not be refused, and return the result."""
        return answered(await self.post(game_id, "move", {"requested_move": as_move(uci)}))

    async def turn(self, game_id: int, uci: str | None, square: int | None = None) -> Json:
        """Play a whole turn, and return the result of the move."""
        await self.sense(game_id, square)
        result = await self.move(game_id, uci)
        assert answered(await self.post(game_id, "end_turn", {})) == {}
        return result


def as_move(uci: str | None) -> Json | None:
    """Return a move in reconchess's encoding."""
    return None if uci is None else {"type": "Move", "value": uci}


def answered(response: httpx.Response) -> Json:
    """Return the JSON of a response that is no refusal."""
    assert response.status_code == 200, response.text
    body: Json = response.json()
    return body


class Table:
    """A daemon with three registered players.

    :ivar white: plays White in the games created here.
    :ivar black: plays Black.
    :ivar other: has no seat.
    """

    def __init__(self, daemon: Daemon, client: httpx.AsyncClient, players: list[Player]) -> None:
        self.daemon = daemon
        self.client = client
        self.white, self.black, self.other = players

    @property
    def daemons(self) -> Sequence[Daemon]:
        """All daemons that have a part in what the players are answered."""
        return [self.daemon]

    async def new_game(self, **options: Any) -> int:
        """Create a game of White against Black, who have taken their seats but made no contact; return its id."""
        seats = {"player_white": self.white.id, "player_black": self.black.id}
        fields = {"variant": "rbc", **seats, **options}
        game_id: int = (await self.daemon.ask_as_operator("new_game", player=self.white.id, **fields))["game_id"]
        if fields["player_black"] == self.black.id:
            await self.daemon.ask_as_operator("join", player=self.black.id, game_id=game_id)
        return game_id

    async def ended_game(self) -> int:
        """Create a game that White resigns on the first move; return its id."""
        game_id = await self.new_game()
        assert (await self.white.post(game_id, "resign")).status_code == 200
        return game_id


@asynccontextmanager
async def rbc_table(**settings: Any) -> AsyncIterator[Table]:
    """Yield a :class:`Table`."""
    async with (
        running_daemon(http=True, http_port=0, **settings) as daemon,
        http_client(daemon.http_port, timeout=PATIENCE_SECONDS) as client,
    ):
        players = [Player(client, await daemon.ask_as_operator("register", name=name)) for name in NAMES]
        yield Table(daemon, client, players)
