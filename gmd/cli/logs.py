"""The daemon's own log on standard error, and its format.

A program that embeds the daemon configures structlog itself; nothing else in gmd does.
"""

from __future__ import annotations

import logging
import os
import select
import sys
import threading
from typing import Any

import msgspec
import structlog
from structlog.typing import Processor

from gmd.config import LogFormat, LogLevel

#: The bytes that a descriptor takes without blocking when poll reports it writable.
PIECE = select.PIPE_BUF


def configure_logs(log_format: LogFormat, level: LogLevel, descriptor: int | None = None) -> None:
    """Log events of a level or above, as lines for people or as JSON objects.

    :param descriptor: the descriptor to write to; standard error by default.
    """
    sink = Sink(_standard_error() if descriptor is None else descriptor)
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *_renderers(log_format, colors=os.isatty(sink.descriptor)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: sink,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_FromLibraries()], level=logging.WARNING, force=True)
    logging.captureWarnings(True)


def _standard_error() -> int:
    """Return standard error's descriptor. If it is closed, its number may belong to another file, even the database."""
    return os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()


def _renderers(log_format: LogFormat, *, colors: bool) -> list[Processor]:
    """Return the renderers. Tracebacks show no values of variables, since one may hold a client's key."""
    plain = structlog.dev.plain_traceback
    if log_format == "console":
        return [structlog.dev.ConsoleRenderer(colors=colors, sort_keys=False, exception_formatter=plain)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_to_json)]


def _to_json(event: dict[str, Any], **_options: object) -> str:
    return msgspec.json.encode(event, enc_hook=repr).decode()


class Sink:
    """Writes lines to a descriptor without blocking or failing: a slow reader of the log must not hold up the games.

    A line that cannot be written at once is lost. The number of lost lines is logged once a line can be written again.
    Threads may share it.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._lost = 0
        self._torn = False
        self._turn = threading.RLock()  # held for no longer than a write that does not block

    def msg(self, line: str) -> None:
        """Write a line, or drop it."""
        with self._turn:
            if not self._write(line.encode(errors="backslashreplace") + b"\n"):
                self._lost += 1
                return
            lost, self._lost = self._lost, 0
        if lost:
            structlog.get_logger(__name__).warning("lines of this log could not be written", lost=lost)

    debug = info = warning = error = critical = exception = msg

    def _write(self, data: bytes) -> bool:
        """Write as much as the descriptor takes at once; return whether all was written. A torn line is ended first."""
        left = b"\n" + data if self._torn else data
        try:
            while left and self._poll.poll(0):
                left = left[os.write(self.descriptor, left[:PIECE]) :]
                self._torn = bool(left)
        except OSError:
            pass  # the reader has closed, or the disk is full
        return not left


class _FromLibraries(logging.Handler):
    """Forwards what libraries log through Python's logging to our log."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger(record.name).log(
            record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info
        )
