"""A bot's process and its child processes: none of them remains when it is over."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import trio

from gm_arena.bot import BotFailed
from gm_arena.process import BotProcess

PATIENCE = 60


@asynccontextmanager
async def bot(text: str, max_memory: int | None = None) -> AsyncIterator[BotProcess]:
    """Start a bot in bash."""
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            process = await BotProcess.start(["bash", "-c", text], "bash", nursery, max_memory=max_memory)
            yield process
            nursery.cancel_scope.cancel()


async def ended(pid: int) -> None:
    """Wait until a process no longer exists; a process that adopts orphans may let it wait for a while."""
    with suppress(ProcessLookupError):
        while not is_zombie(pid):
            os.kill(pid, 0)
            await trio.sleep(0.01)


def is_zombie(pid: int) -> bool:
    """Return whether a process has ended and only its parent has not asked for its status."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return state.startswith("Z")


async def test_children_of_a_bot_end_when_it_is_closed() -> None:
    async with bot("sleep 1000 & echo $!; read") as process:
        child = int(await process.receive())
        await process.aclose()
        await ended(child)


async def test_ended_bot_is_noticed_although_its_child_holds_its_output() -> None:
    """Its child keeps its output open: the bot has ended all the same, and is not thinking."""
    async with bot("sleep 1000 & echo $!; exit 4") as process:
        child = int(await process.receive())
        with pytest.raises(BotFailed, match="ended, with exit status 4") as failure:
            await process.receive()
        assert failure.value.fault == "crash"
        await ended(child)
        await process.kill()


async def test_output_before_the_end_is_still_received() -> None:
    async with bot("echo first; echo second") as process:
        await process._process.wait()
        assert [await process.receive(), await process.receive()] == ["first", "second"]
        await process.kill()


async def test_cancelled_bot_leaves_no_process() -> None:
    async with bot("trap '' TERM HUP; sleep 1000 & echo $$ $!; while :; do sleep 1; done") as process:
        pids = [int(word) for word in (await process.receive()).split()]
        with trio.CancelScope() as scope:
            scope.cancel()
            await process.aclose()
        for pid in pids:
            await ended(pid)
        with pytest.raises(ProcessLookupError):
            os.kill(pids[0], 0)
