"""``gmd watch``: follow a live game in the terminal."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from gm_client.blocking import (
    PATIENCE_SECONDS,
    VERSION,
    BadReply,
    Client,
    ConnectionLost,
    GmError,
    HelloFields,
    connect,
)

from ..address import server_arguments, server_options, unreachable
from ..board_drawing import palette_of
from ..command_line import POSITIVE, read_key
from ..replay.files import served_game
from ..replay.frames import Frame, frames_of
from ..replay.show import frame_text
from ..tls import read_tls
from .follow import Look, follow
from .keyboard import q_leaves
from .screen import HIDDEN, move_lines, screen, status, title

#: The variable that may hold the spectator key, to keep it out of the list of running programs.
KEY_VARIABLE = "GM_SPECTATOR_KEY"
#: Seconds between updates of the clocks in a game in which nobody moves.
LOOK_SECONDS = 1.0

#: The hint below a board on a terminal.
LEAVING = "q: leave"


@click.command()
@click.argument("game", metavar="[GAME]", type=int, required=False)
@server_options("The server that plays the game.")
@click.option("--socket", "path", metavar="FILE", help="Watch through the operator's socket instead of the port.")
@click.option(
    "--spectator-key",
    "key",
    help=f"The server's key for watching blind chess live, or @FILE.  [default: ${KEY_VARIABLE}, if set]",
)
@click.option(
    "--patience",
    type=POSITIVE,
    default=PATIENCE_SECONDS,
    show_default=True,
    help="Give up after the server has been unreachable for so many seconds.",
)
def watch(game: int | None, **given: Any) -> None:
    """\b
    Example: gmd watch 7 --server 127.0.0.1:7100

    Follow the live game GAME, or by default the newest live game, to its end. Ctrl-C leaves, and so does q on a
    terminal.

    Blind chess is shown live if the server lets spectators see it (gmd serve --spectate live), otherwise when it
    is over. On a terminal the game is a board; elsewhere each move is a line.
    """
    key = read_key(given["key"], KEY_VARIABLE, "--spectator-key")
    hello: HelloFields = {"client": f"gmd-watch/{VERSION}", **({"spectator_key": key} if key else {})}
    tls = read_tls(given["tls"], given["ca"])
    where = server_arguments(given["server"], given["tls"], given["ca"], given["path"])
    try:
        with (
            suppress(KeyboardInterrupt),
            connect(given["server"], path=given["path"], tls=tls, patience=given["patience"], **hello) as client,
        ):
            last = _watch(client, _newest(client, where) if game is None else game)
            if last.is_blind:
                click.echo(f"gmd replay {last.state['game_id']}{where} steps through it, with what each player knew.")
    except ConnectionLost as error:
        raise click.ClickException(unreachable(error)) from None
    except (GmError, BadReply, OSError) as error:
        raise click.ClickException(str(error)) from None


def _newest(client: Client, where: str) -> int:
    """Return the id of the newest live game.

    :param where: the options that name the server, for the error.
    """
    games = client.games(status="live", limit=1)["games"]
    if not games:
        raise click.ClickException(f"the server has no live game; gmd replay GAME{where} shows a finished one")
    game_id: int = games[0]["game_id"]
    return game_id


def _watch(client: Client, game_id: int) -> Look:
    """Show the game until it is over; return its last state."""
    console = Console(highlight=False, soft_wrap=True)
    return (_draw if console.is_terminal else _list)(client, game_id, console)


def _draw(client: Client, game_id: int, console: Console) -> Look:
    """Show the game in place until it is over; return its last state."""
    palette = palette_of(console)
    console = Console(highlight=False)
    with q_leaves() as by_key, Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        for look in follow(client, game_id, LOOK_SECONDS):
            shown = screen(look, palette, console.width)
            hint = [Text(LEAVING, "dim")] if by_key and not look.over else []
            live.update(Group(shown, *hint), refresh=True)
    if look.is_blind:
        console.print(frame_text(_frames(client, game_id)[-1], palette))
    return look


def _list(client: Client, game_id: int, console: Console) -> Look:
    """Write a line for each move until the game is over; return its last state."""
    seen = 0
    hidden = False
    for number, look in enumerate(follow(client, game_id, None)):
        if not number:
            console.print(Text("\n".join(title(look))))
        if look.hidden and not hidden:
            console.print(Text(HIDDEN))
        hidden |= look.hidden
        if not hidden:
            for line in move_lines(look, seen):
                console.print(Text(line))
            seen = len(look.sans())
    if hidden:
        for frame in _frames(client, game_id)[1:]:
            console.print(Text(frame.caption))
    console.print(Text(status(look)))
    return look


def _frames(client: Client, game_id: int) -> list[Frame]:
    """Return the frames of a game that was hidden and is over, with nothing hidden."""
    return frames_of(served_game(client.history(game_id), f"game {game_id}"))
