"""A live game in the terminal, from now to its end: ``gmd replay --follow``.

It is followed with ``state`` and ``wait`` as by any spectator, on a client that restores lost connections.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import chess
import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from gm_client.blocking import Client, GameState, PlayerNames
from gm_protocol.state import COLOR_NAMES

from ..board_drawing import palette_of
from ..endings import ending_words, result_words
from ..sides import player_in
from .frames import Frame, frame_text, frames_of, header
from .recorded import Recorded, live_game, served_game

#: Seconds between updates of the clocks in a game in which nobody moves.
LOOK_SECONDS = 1.0

HIDDEN = (
    "The moves of this game of blind chess are hidden until it is over; then they are shown here. "
    "A server that runs with --spectate live shows them to spectators who give its --spectator-key, "
    "or, if only this machine can reach the server, to everybody."
)


def newest(client: Client, where: str) -> int:
    """Return the id of the newest live game.

    :param where: the options that name the server, for the error.
    """
    games = client.games(status="live", limit=1)["games"]
    if not games:
        raise click.ClickException(f"the server has no live game; gmd replay GAME{where} shows a finished one")
    return games[0]["game_id"]


def show(client: Client, game_id: int) -> Look:
    """Show the game until it is over; return its last state."""
    console = Console(highlight=False, soft_wrap=True)
    return (_draw if console.is_terminal else _list)(client, game_id, console)


def _draw(client: Client, game_id: int, console: Console) -> Look:
    """Show the game in place until it is over; return its last state."""
    palette = palette_of(console)
    console = Console(highlight=False)
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        for look in follow(client, game_id, LOOK_SECONDS):
            first, second = header(look.game)
            shown = Text(HIDDEN) if look.hidden else frame_text(look.frames()[-1], palette)
            live.update(Group(Text(first, "bold"), Text(second), Text(), shown, Text(look.status())), refresh=True)
    if look.is_blind:
        console.print(frame_text(_finished(client, game_id)[-1], palette))
    return look


def _list(client: Client, game_id: int, console: Console) -> Look:
    """Write a line for each move until the game is over; return its last state."""
    seen, hidden = 1, False
    for number, look in enumerate(follow(client, game_id, None)):
        if not number:
            console.print(Text("\n".join(header(look.game))))
        if look.hidden and not hidden:
            hidden = True
            console.print(Text(HIDDEN))
        if not hidden:
            frames = look.frames()
            for frame in frames[seen:]:
                console.print(Text(frame.caption))
            seen = len(frames)
    if hidden:
        for frame in _finished(client, game_id)[1:]:
            console.print(Text(frame.caption))
    console.print(Text(look.status()))
    return look


def _finished(client: Client, game_id: int) -> list[Frame]:
    """Return the frames of a game that was hidden and is over, with nothing hidden."""
    return frames_of(served_game(client.history(game_id), f"game {game_id}"))


class Look(NamedTuple):
    """A game at one moment, with the players' names, where they have any."""

    state: GameState
    names: PlayerNames

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

    @property
    def game(self) -> Recorded:
        """The players and the result so far, without moves."""
        state = self.state
        ending = ending_words(state["termination"], state["variant"]) if self.over else ""
        white, black = self._player(chess.WHITE), self._player(chess.BLACK)
        return Recorded(f"game {state['game_id']}", white, black, state["result"], ending, state["variant"])

    def _player(self, color: chess.Color) -> str:
        player = player_in(self.state, color)
        return self.names[COLOR_NAMES[color]] or ("?" if player is None else str(player))

    def frames(self) -> list[Frame]:
        """Return the frames up to now, the last one with the clocks."""
        frames = frames_of(live_game(self.state))
        if (clock := self.state["clock"]) is not None:
            left = {color: clock[COLOR_NAMES[color]] for color in chess.COLORS}
            frames[-1].clocks = {color: seconds for color, seconds in left.items() if seconds is not None}
        return frames

    def status(self) -> str:
        """Return whom the game waits for, or how it ended."""
        state = self.state
        if self.over:
            return result_words(state["result"], state["termination"], state["variant"])
        return "waiting for players to join" if state["phase"] == "open" else f"{state['turn'].capitalize()} to move"


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
