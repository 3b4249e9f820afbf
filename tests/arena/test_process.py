"""A bot's process, and what it has started: nothing of either is there when it is over."""

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
    """A bot in bash."""
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            process = await BotProcess.start(["bash", "-c", text], "bash", nursery, max_memory=max_memory)
            yield process
            nursery.cancel_scope.cancel()


async def ended(pid: int) -> None:
    """Wait until a process is no more; whoever takes in orphans may let it wait for a while."""
    with suppress(ProcessLookupError):
        while not is_zombie(pid):
            os.kill(pid, 0)
            await trio.sleep(0.01)


def is_zombie(pid: int) -> bool:
    """Whether it has ended, and only its parent has not asked how."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return state.startswith("Z")


async def test_what_a_bot_has_started_ends_when_it_is_closed() -> None:
    async with bot("sleep 1000 & echo $!; read") as process:
        child = int(await process.receive())
        await process.aclose()
        await ended(child)


async def test_a_bot_that_has_ended_holds_up_nobody_by_what_it_has_started() -> None:
    """Whose child has its output open: that is a bot that has ended, and not one that thinks."""
    async with bot("sleep 1000 & echo $!; exit 4") as process:
        child = int(await process.receive())
        with pytest.raises(BotFailed, match="ended, with exit status 4") as failure:
            await process.receive()
        assert failure.value.fault == "crash"
        await ended(child)
        await process.kill()


async def test_what_it_wrote_before_it_ended_is_still_there() -> None:
    async with bot("echo first; echo second") as process:
        await process.why_silent()
        assert [await process.receive(), await process.receive()] == ["first", "second"]
        await process.kill()


async def test_a_bot_that_is_cancelled_leaves_nothing() -> None:
    async with bot("trap '' TERM HUP; sleep 1000 & echo $$ $!; while :; do sleep 1; done") as process:
        pids = [int(word) for word in (await process.receive()).split()]
        with trio.CancelScope() as scope:
            scope.cancel()
            await process.aclose()
        for pid in pids:
            await ended(pid)
        with pytest.raises(ProcessLookupError):
            os.kill(pids[0], 0)
