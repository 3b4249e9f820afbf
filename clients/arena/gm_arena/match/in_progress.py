"""The games of a match in progress, as its server shows them, wherever their bots think."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from gm_client.blocking import BadReply, ConnectionLost, GmError

from ..board_drawing import clock_text
from ..bridge import Server
from .game import Contestant

#: The most games of a server that are looked through for those of the match.
MOST_GAMES = 100


#: Sends a request by its kind and its fields, and returns the reply.
Ask = Callable[..., Awaitable[Any]]


def spectator(server: Server) -> Ask:
    """Return what asks a server as a spectator, who may not see the clocks of hidden games."""

    async def ask(kind: str, **fields: Any) -> Any:
        async with server.client() as client:
            return await getattr(client, kind)(**fields)  # its methods have the names of the kinds

    return ask


class GameInProgress(NamedTuple):
    """A game, with the seconds that White and Black have left, if they have a clock."""

    white: str
    black: str
    ply: int
    clocks: Sequence[float]

    @property
    def text(self) -> str:
        """The game in words."""
        clocks = f", clocks {' and '.join(map(clock_text, self.clocks))}" if self.clocks else ""
        return f"{self.white} - {self.black} at ply {self.ply}{clocks}"


async def games_in_progress(ask: Ask, contestants: Sequence[Contestant]) -> list[GameInProgress]:
    """Return the games of the contestants, the oldest first; none while the server does not answer."""
    players = Counter(each.player for each in contestants if isinstance(each.player, int))
    labels = {each.player: each.label for each in contestants if players[each.player] == 1}  # type: ignore[index]

    def name(player: int | None) -> str:
        return labels.get(player, f"player {player}")  # type: ignore[arg-type]

    found: list[GameInProgress] = []
    try:
        rows = (await ask("games", status="live", limit=MOST_GAMES))["games"]
        for row in reversed(rows):
            white, black = row["player_white"], row["player_black"]
            if {white, black} <= players.keys():
                state = (await ask("state", game_id=row["game_id"], player=None, brief=True))["state"]
                clock = state["clock"] or {"white": None, "black": None}
                clocks = [seconds for seconds in (clock["white"], clock["black"]) if seconds is not None]
                found.append(GameInProgress(name(white), name(black), state["ply_index"], clocks))
    except (ConnectionLost, GmError, BadReply, OSError):
        return []
    return found
