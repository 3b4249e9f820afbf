"""Times as text in the protocol and in files: UTC to the second, as in ``2026-11-21T04:41:00Z``."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from math import isfinite

_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
#: The last second with a year of four digits. A machine's clock set beyond it must not make a game unreadable.
_LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()


def write_time(seconds: float) -> str:
    """Return a time in seconds since 1970 as text. Fractions are dropped; times after the year 9999 become its end."""
    return datetime.fromtimestamp(min(seconds, _LAST), UTC).strftime(_FORMAT)


def write_now() -> str:
    """Return the present time as text."""
    return write_time(time.time())


def read_time(text: str) -> float:
    """Return the seconds since 1970.

    :raises ValueError: the text does not have :func:`write_time`'s format.
    """
    return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC).timestamp()


def is_time(value: object) -> bool:
    """Return whether a value from a database is a time, in seconds since 1970."""
    return isinstance(value, float) and isfinite(value) and value >= 0
