"""gmd: the game server for people who write chess and reconnaissance-blind-chess bots.

The names in this module are for programs that embed a daemon. Each name is imported when it is first used:
``import gmd`` alone loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gmd.version import VERSION as __version__

if TYPE_CHECKING:
    from gmd.background import BackgroundDaemon, background_daemon
    from gmd.config import EMBEDDED, Config, ConfigError
    from gmd.daemon import Daemon, open_daemon
    from gmd.event_log.directory import DataError
    from gmd.handlers.in_process import Refused

__all__ = [
    "EMBEDDED",
    "BackgroundDaemon",
    "Config",
    "ConfigError",
    "Daemon",
    "DataError",
    "Refused",
    "__version__",
    "background_daemon",
    "open_daemon",
]

#: The module of each name.
_HOMES = {
    "EMBEDDED": "gmd.config",
    "BackgroundDaemon": "gmd.background",
    "Config": "gmd.config",
    "ConfigError": "gmd.config",
    "Daemon": "gmd.daemon",
    "DataError": "gmd.event_log.directory",
    "Refused": "gmd.handlers.in_process",
    "background_daemon": "gmd.background",
    "open_daemon": "gmd.daemon",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
