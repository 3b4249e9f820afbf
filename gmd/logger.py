"""Loggers for gmd's modules: structlog's, as the process has configured it.

``gmd serve`` configures structlog (:mod:`gmd.cli.logs`). By default structlog writes every line to standard output,
which belongs to the program that embeds gmd. So if structlog is not configured, gmd logs to :mod:`logging`, as
libraries do.
"""

from __future__ import annotations

import logging
from typing import Any

import structlog
from structlog.typing import EventDict


class Logger:
    """A logger with the methods of structlog's loggers. It looks up structlog's configuration at every line."""

    def __init__(self, name: str) -> None:
        self._configured = structlog.get_logger(name)
        self._library = structlog.wrap_logger(
            logging.getLogger(name),
            processors=[structlog.stdlib.filter_by_level, _as_message],
            wrapper_class=structlog.stdlib.BoundLogger,
            cache_logger_on_first_use=True,
        )

    def bind(self) -> Any:
        """Return the logger that a line written now would go to."""
        return (self._configured if structlog.is_configured() else self._library).bind()

    def __getattr__(self, method: str) -> Any:
        return getattr(self.bind(), method)


def get_logger(name: str) -> Logger:
    """Return the logger of a module."""
    return Logger(name)


def _as_message(_logger: object, _method: str, event: EventDict) -> tuple[tuple[str], dict[str, Any]]:
    """Return a line as one text, for :mod:`logging`."""
    exc_info, words = event.pop("exc_info", None), [event.pop("event")]
    words += [f"{name}={value!r}" for name, value in event.items()]
    return (" ".join(words),), {"exc_info": exc_info}
