"""The entry point of ``expectation``."""

from __future__ import annotations

from .bot import ExpectationBots
from .settings import NAME, read


def make(**options: str) -> ExpectationBots:
    """Return the bots for the entry point.

    :param options: as for :func:`~.settings.read`.
    """
    given = read(options)
    described = ",".join(f"{name}={value}" for name, value in options.items())
    return ExpectationBots(f"{NAME}:{described}" if described else NAME, given)
