"""Asks the server for ranked games, for as long as they are wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from .bridge import Server

#: Seconds for telling the server, at the end, that no more are wanted; it may be gone.
FAREWELL_SECONDS = 5.0


@asynccontextmanager
async def ranked(server: Server, at_once: int, *, new_version: bool) -> AsyncIterator[None]:
    """The player takes ranked games, so many at a time, until this ends; those in hand go on.

    :param new_version: whether its bot is another one than before. The first one always is.
    :raises GmError: the server refuses: the player is not a registered one.
    :raises ConnectionLost: the server is gone.
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
