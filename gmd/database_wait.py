"""Waiting for a database that cannot be reached when a daemon starts: the two may be started at the same time."""

from __future__ import annotations

import trio

from gmd.config import Config
from gmd.event_log.directory import DataError
from gmd.logger import get_logger

logger = get_logger(__name__)

#: Seconds between two attempts, and between two lines in the log that say so.
ATTEMPT_SECONDS = 0.5
LINE_SECONDS = 5.0


async def wait_for_database(config: Config) -> None:
    """Return when the database can be reached, or refuses this daemon: opening it explains that.

    :raises DataError: it cannot be reached for ``database_timeout`` seconds.
    """
    assert config.database is not None
    try:
        from gmd.event_log.postgres_connection import plain_url, why_unreachable
    except ModuleNotFoundError:
        return  # opening the log says that the driver is missing
    began = trio.current_time()
    until, next_line = began + config.database_timeout, began
    while (reason := await trio.to_thread.run_sync(why_unreachable, plain_url(config.database))) is not None:
        now = trio.current_time()
        if now >= until:
            raise DataError(_unreachable(config, reason))
        if now >= next_line:
            logger.warning("waiting for the database", reason=reason, seconds_left=round(until - now))
            next_line = now + LINE_SECONDS
        await trio.sleep(min(ATTEMPT_SECONDS, until - now))
    if next_line > began:
        logger.info("the database can be reached", seconds=round(trio.current_time() - began, 1))


def _unreachable(config: Config, reason: str) -> str:
    from gmd.event_log.postgres_engine import shown_url

    assert config.database is not None
    waited = f" for {config.database_timeout:g} seconds" if config.database_timeout else ""
    return (
        f"database: {shown_url(config.database)} cannot be reached{waited}: {reason}. Start PostgreSQL, name another "
        "--database, or wait for longer with --database-timeout"
    )
