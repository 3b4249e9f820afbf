"""Where gmd's modules get their loggers from: structlog, as the process has configured it.

``gmd serve`` configures it (:mod:`gmd.cli.logs`). structlog's default is to write every line to standard output, which
is the host's own: where a host has configured nothing, gmd logs as any library does, to :mod:`logging`.
"""

from __future__ import annotations

import logging
from typing import Any

import structlog
from structlog.typing import EventDict


class Logger:
    """Logs by the methods of structlog's loggers. What the process has configured is asked at every line."""

    def __init__(self, name: str) -> None:
        self._configured = structlog.get_logger(name)
        self._library = structlog.wrap_logger(
            logging.getLogger(name),
            processors=[structlog.stdlib.filter_by_level, _as_message],
            wrapper_class=structlog.stdlib.BoundLogger,
            cache_logger_on_first_use=True,
        )

    def bind(self) -> Any:
        """The logger that a line of this moment would go to."""
        return (self._configured if structlog.is_configured() else self._library).bind()

    def __getattr__(self, method: str) -> Any:
        return getattr(self.bind(), method)


def get_logger(name: str) -> Logger:
    """The logger of a module."""
    return Logger(name)


def _as_message(_logger: object, _method: str, event: EventDict) -> tuple[tuple[str], dict[str, Any]]:
    """The line in words, for :mod:`logging`."""
    exc_info, words = event.pop("exc_info", None), [event.pop("event")]
    words += [f"{name}={value!r}" for name, value in event.items()]
    return (" ".join(words),), {"exc_info": exc_info}
