"""Requests ranked games from the server while the block runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from .bridge import Server

#: Seconds for telling the server, at the end, to stop; it may be unreachable.
FAREWELL_SECONDS = 5.0


@asynccontextmanager
async def ranked(server: Server, at_once: int, *, new_version: bool) -> AsyncIterator[None]:
    """Let the player take ranked games, up to so many at a time, until the block ends; games in progress go on.

    :param new_version: whether the bot is a new version. The first one always is.
    :raises GmError: the server refuses: the player is not registered.
    :raises ConnectionLost: the server is unreachable.
    """
    async with server.client() as client:
        version = (await client.settings())["version"]
        version += new_version or version == 0
        await client.settings(version=version, max_games=at_once, ranked=True)
        try:
            yield
        finally:
            with trio.move_on_after(FAREWELL_SECONDS, shield=True):
                await client.settings(ranked=False)
