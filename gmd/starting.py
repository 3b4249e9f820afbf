"""The start of a daemon's services: they read the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gmd.arbiter import Arbiter
from gmd.config import Config
from gmd.contests.book import Contests
from gmd.event_log.directory import DataError
from gmd.event_log.interface import LogFailed
from gmd.lobby.lobby import Lobby
from gmd.players.registry import Registry
from gmd.ranked.play import RankedPlay


async def start_services(
    arbiter: Arbiter, registry: Registry, lobby: Lobby, ranked: RankedPlay, contests: Contests, config: Config
) -> None:
    """Start what needs the log, in the order in which one needs the other.

    :raises DataError: the log cannot be read.
    """
    with explained("live games", config):
        await arbiter.start()
    with explained("registered players", config):
        await registry.start()
    with explained("invitations", config):
        await lobby.start()
    with explained("ranked games", config):
        await ranked.start()
    with explained("contests", config):
        await contests.start()


@contextmanager
def explained(what: str, config: Config) -> Iterator[None]:
    """Turn a failure to read something into a :class:`DataError` for the operator."""
    try:
        yield
    except LogFailed as error:
        from gmd.event_log.damage import unreadable  # imports SQLAlchemy, as the log that failed has done

        raise DataError(unreadable(f"the {what}", config.data, config.database, error)) from error
