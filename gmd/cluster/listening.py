"""Notifications of PostgreSQL, on a connection of their own, without a thread that waits for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import psycopg
import trio
from psycopg import sql

from gmd.logger import get_logger

from .connecting import connected

logger = get_logger(__name__)

#: Seconds between two attempts to connect.
RETRY_SECONDS = 0.5


async def listen(url: str, channels: Mapping[str, Callable[[], None]]) -> NoReturn:
    """Listen until cancelled; after an error, connect again.

    :param channels: what to call for each channel: after notifications on it, which may be several, and after each
        connection, since notifications may have been missed before.
    """
    while True:
        try:
            connection = await trio.to_thread.run_sync(_listening, url, list(channels))
            try:
                for notified in channels.values():
                    notified()
                await _take_in(connection, channels)
            finally:
                connection.close()
        except psycopg.Error as error:
            logger.debug("not listening to the database", reason=str(error).strip())
            await trio.sleep(RETRY_SECONDS)


def _listening(url: str, channels: list[str]) -> psycopg.Connection[Any]:
    connection = connected(url, "gmd notifications")
    try:
        for channel in channels:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
    except BaseException:
        connection.close()
        raise
    return connection


async def _take_in(connection: psycopg.Connection[Any], channels: Mapping[str, Callable[[], None]]) -> NoReturn:
    """Call back for notifications until the connection is lost.

    :raises psycopg.Error: it is lost.
    """
    link = connection.pgconn
    while True:
        notified = set()
        while (notification := link.notifies()) is not None:
            notified.add(notification.relname.decode())
        for channel in notified & channels.keys():
            channels[channel]()
        await trio.lowlevel.wait_readable(connection.fileno())
        link.consume_input()
