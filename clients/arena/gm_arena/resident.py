"""``python -m gm_arena.resident``: one game of one of the daemon's own bots.

The first line of standard input is the task, as JSON. The end of the input means: leave the game as it is. The daemon
starts this program; to let a bot play on any server there is ``gmd connect``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

import trio

from .bot import BotFailed, BotUnusable
from .bridge import Bridge, BridgeError, Server
from .report import Lines, log_to_standard_error
from .specs import bots_of
from .stopping import background

#: Bots think at a lower priority than the daemon and than the bots of others on this machine.
NICENESS = 10
#: Seconds without an answer from the daemon, which runs on this machine, after which the process ends.
PATIENCE_SECONDS = 10.0


def main() -> None:
    """Play the game; the exit status is 0 unless the bot failed."""
    for number in (signal.SIGINT, signal.SIGTERM):  # those are for the daemon, which then closes the input
        signal.signal(number, signal.SIG_IGN)
    os.nice(NICENESS)
    log_to_standard_error()
    task = json.loads(_first_line())
    try:
        status = trio.run(_play, task)
    except (BotUnusable, BotFailed, BridgeError) as error:
        sys.exit(str(error))
    sys.exit(status)


def _first_line() -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        if not (byte := os.read(0, 1)):
            sys.exit("the input ended before the task")
        line += byte
    return bytes(line)


async def _play(task: dict[str, Any]) -> int:
    bots = bots_of(task["bot"])
    hello = {"client": "gmd-resident", "player": task["player"], "key": task["key"]}
    server = Server(path=task["path"], patience=PATIENCE_SECONDS, hello=hello)
    lines = Lines(bots)
    async with background() as nursery:
        nursery.start_soon(_leave_when_told, nursery.cancel_scope)
        await Bridge(server, bots, lines, at_once=1).run(lambda bridge: bridge.play_one(task["game_id"]))
    return 0 if lines.all_well else 1


async def _leave_when_told(playing: trio.CancelScope) -> None:
    async with trio.lowlevel.FdStream(os.dup(0)) as stream:
        while await stream.receive_some():
            pass
    playing.cancel()


if __name__ == "__main__":
    main()
