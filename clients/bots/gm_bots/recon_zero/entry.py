"""The entry point of ``recon-zero``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .settings import NAME, read

if TYPE_CHECKING:
    from .bot import ReconZeroBots


def make(**options: str) -> ReconZeroBots:
    """Return the bots for the entry point.

    :param options: as for :func:`~.settings.read`, with its errors.
    """
    given = read(options)
    from .bot import ReconZeroBots

    described = ",".join(f"{name}={value}" for name, value in options.items())
    return ReconZeroBots(f"{NAME}:{described}" if described else NAME, given)
