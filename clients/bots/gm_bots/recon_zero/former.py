"""Settings of trainings that earlier versions had: what trained worse, or showed no effect, was removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: By setting, the value with which no training can continue, and no network can play.
_REMOVED = {"head": "dense", "material": False, "learnt": "belief", "value": "outcome"}
#: Settings of players that changed games, and the value with which they did not.
_CHANGED_GAMES = {"danger": 1}
#: Settings of which one value is left, or none.
_GONE = ("head", "material", "learnt", *_CHANGED_GAMES)
#: Settings of networks that came later, with the value that they had before there was a choice.
_BEFORE = {"form": 1}


def as_today(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return recorded settings as this version has them: with those that came later, without those that are gone.

    :raises ValueError: one has a value that was removed.
    """
    return _BEFORE | without_former(settings)


def without_former(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return recorded settings without those that are gone.

    :raises ValueError: one has a value that was removed.
    """
    for name, value in _REMOVED.items():
        if settings.get(name) == value:
            raise ValueError(f"{name} is {value}, which gmd had until version 0.2: use that one")
    return {name: value for name, value in settings.items() if name not in _GONE}


def changed_games(player: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings of a recorded player that changed its games, and that this version does not have."""
    return {name: player[name] for name, plain in _CHANGED_GAMES.items() if player.get(name) not in (None, plain)}
