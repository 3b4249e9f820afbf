"""Every acknowledged move has really been synced, which no killing of processes can show: the kernel is asked."""

from __future__ import annotations

import os
import re
from pathlib import Path
from signal import SIGTERM

import trio

from tests.helpers import Client
from tests.serving import served
from tests.tools import require_tool

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")
MOVES = 40

#: What strace writes of a call: who made it, which, and what came of it.
CALL = re.compile(r"\d+ +(?:<\.\.\. )?(fdatasync|fsync|sendto|sendmsg)\b.* = (-?\d+)")


async def test_between_any_two_acknowledgements_the_log_was_synced(tmp_path: Path) -> None:
    trace, data = tmp_path / "trace", tmp_path / "data"
    calls = "trace=fsync,fdatasync,sendto,sendmsg"
    tool = require_tool("strace", "-o", os.devnull, "true")  # containers often forbid tracing
    strace = [str(tool), "--follow-forks", "--quiet=all", "-e", calls, "-o", str(trace)]
    with served("--data", str(data), prefix=strace) as daemon:
        try:
            client = Client(await trio.open_tcp_stream(daemon.host, daemon.port))
            await client.ask("hello")
            game_id = (await client.new_game())["game_id"]
            for ply in range(MOVES):
                reply = await client.ask("move", game_id=game_id, player=1 + ply % 2, move=SHUFFLE[ply % 4])
                assert reply["error"] is None
            await client.aclose()
        finally:
            os.kill(int((data / "lock").read_text()), SIGTERM)  # strace ends with it
        assert daemon.process.wait(30) == 0
    replies = synced(trace.read_text().splitlines())
    # "hello" shows nothing that is to be durable.
    assert replies[1:] == [True] * (MOVES + 1)


def synced(trace: list[str]) -> list[bool]:
    """For each thing sent, whether there was a sync since the one before."""
    sent: list[bool] = []
    has_synced = False
    for line in trace:
        call = CALL.match(line)
        if call is None or int(call[2]) < 0:
            continue
        if call[1].startswith("send"):
            if int(call[2]) > 1:  # one byte is trio waking itself
                sent.append(has_synced)
                has_synced = False
        else:
            has_synced = True
    return sent
