"""What all pages share, for as long as the daemon runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from .static_files import StaticFiles
from .visitor import Sessions


@dataclass(frozen=True, slots=True)
class Site:
    """The pages' state.

    :ivar sessions: the visitors' cookies.
    :ivar static: the static files.
    """

    sessions: Sessions
    static: StaticFiles = field(default_factory=StaticFiles)
