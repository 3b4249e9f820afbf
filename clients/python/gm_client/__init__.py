"""Clients of the gm protocol for Python.

``blocking`` suits most bots, and is a single file to copy; ``chess_client`` is the same in python-chess's terms, and
``trio_client`` for trio; ``running`` lets a player of reconnaissance blind chess play on a server; ``rbc`` and
``tracker`` help to write one; ``gmcat`` is for the shell.

Importing the package imports none of them. The names that a bot needs are available here too, and load their module on
first use: ``connect``, ``Client`` and ``Turn`` are those of ``chess_client``, or, where python-chess is not installed,
those of ``blocking``.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers treat it as typing's; loading that takes half as long as gmcat
if TYPE_CHECKING:
    from .blocking import BadReply, ClientError, ConnectionLost, GameState, GmError
    from .chess_client import Client, Turn, connect
    from .running import run

__all__ = ["connect", "run", "Client", "Turn", "GameState", "ClientError", "GmError", "ConnectionLost", "BadReply"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "run":
        try:
            from .running import run
        except ModuleNotFoundError as error:
            if error.name == "chess":
                error.msg = "gm_client.run needs python-chess: pip install 'grandmasterd-client[rbc]'"
            raise
        return run
    from . import blocking

    if name not in ("connect", "Client", "Turn"):
        return getattr(blocking, name)
    try:
        from . import chess_client
    except ModuleNotFoundError as error:
        if error.name != "chess":
            raise
        return getattr(blocking, name)
    return getattr(chess_client, name)
