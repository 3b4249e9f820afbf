"""What all pages share, for as long as the daemon runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gmd.event_log.keyed_locks import KeyedLocks
from gmd.http.backend import Backend
from gmd.http.pages.counting import CountsCache
from gmd.http.pages.live_channel import LiveHub
from gmd.http.pages.static_files import StaticFiles, package_files
from gmd.http.pages.visitor import Sessions

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(slots=True)
class Site:
    """The pages' state.

    :ivar sessions: the visitors' cookies.
    :ivar game_port: the port of the game protocol, as the settings have it.
    :ivar manual: the files of the manual by their paths; none where it is not built.
    :ivar live: those who read events.
    :ivar static: the static files.
    :ivar templates: jinja2's environment, once the application is made.
    :ivar counts: the numbers of possible positions in finished games.
    :ivar rematches: a lock for each game of which a rematch is being made.
    """

    sessions: Sessions
    game_port: int
    manual: Mapping[str, Path]
    live: LiveHub = field(default_factory=LiveHub)
    static: StaticFiles = field(default_factory=package_files)
    templates: Environment | None = None
    counts: CountsCache = field(default_factory=CountsCache)
    rematches: KeyedLocks = field(default_factory=KeyedLocks)


def site_of(backend: Backend) -> Site:
    """Return what the pages share, for routes of pages, which exist only where there are pages."""
    assert isinstance(backend.site, Site)
    return backend.site
