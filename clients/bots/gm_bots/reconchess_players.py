"""gmd's players as players of the package reconchess, which loads subclasses of its own ``Player`` alone.

Each package of a bot offers its player so to ``reconchess.load_player``, and with it to ``rc-bot-match`` and
``rc-connect``: they find it by the name of the package (``gm_bots.minimax``) or by its folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import new_class


def offered(module: str, name: str, others: Iterable[str]) -> tuple[Callable[[], list[str]], Callable[[str], object]]:
    """Return a package's ``__dir__`` and ``__getattr__``, by which reconchess finds a player in it.

    The player is listed if reconchess is installed, and its module is imported when it is asked for.

    :param module: a module of the package.
    :param name: the player's class in it.
    :param others: the package's other names.
    """

    def list_names() -> list[str]:
        return sorted({*others, *([name] if find_spec("reconchess") else [])})

    def find(asked: str) -> object:
        if asked != name:
            raise AttributeError(f"module {module.rpartition('.')[0]!r} has no attribute {asked!r}")
        return as_reconchess_player(module, name)

    return list_names, find


@cache
def as_reconchess_player(module: str, name: str) -> type:
    """Return a class of a module as a subclass of reconchess's ``Player``, too."""
    from reconchess import Player

    player = getattr(import_module(module), name)
    return new_class(name, (player, Player), {}, lambda names: names.update(__doc__=player.__doc__))
