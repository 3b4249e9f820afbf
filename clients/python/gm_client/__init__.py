"""Clients of the gm protocol for Python.

``blocking`` suits most bots, and is a single file to copy; ``trio_client`` is the same for trio; ``rbc`` and
``tracker`` help to play reconnaissance blind chess; ``gmcat`` is for the shell.

Importing the package imports none of them. The names of ``blocking`` that a bot needs are available here too, and load
it on first use.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers treat it as typing's; loading that takes half as long as gmcat
if TYPE_CHECKING:
    from .blocking import BadReply, Client, ClientError, ConnectionLost, GameState, GmError, Turn, connect

__all__ = ["connect", "Client", "Turn", "GameState", "ClientError", "GmError", "ConnectionLost", "BadReply"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import blocking

    return getattr(blocking, name)
