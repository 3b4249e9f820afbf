"""Check that a game is the fold of its events: replaying them gives the same game and the same answers to retries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from gmd.games.commands import Command
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Decision, Game
from gmd.games.variants import make_game

_G = TypeVar("_G", bound=Game)


def check_fold(
    game: _G,
    events: list[AnyEvent],
    asked: Iterable[tuple[Any, float]],
    command_of: Callable[[Any, _G], Command],
    everything: Callable[[_G], list[Any]],
) -> None:
    """Give a game commands, and compare it with a game replayed from its encoded events.

    :param events: the events that the game has had.
    :param asked: the data of the commands, each with the elapsed seconds.
    :param everything: returns everything that a game shows.
    """
    events, commands = list(events), []
    for what, elapsed in asked:
        command = command_of(what, game)
        commands.append(command)
        before = everything(game)
        decision = game.decide(command, elapsed)
        assert everything(game) == before, "deciding changes nothing"
        for event in decision.events:
            game.apply(event)
        events += decision.events
    again = _replayed(events, type(game))
    assert everything(again) == everything(game)
    # The commands include retries: the same commands at the same plies get the same answers.
    for command in commands:
        for elapsed in (0.0, 100.0):
            assert _answer(again.decide(command, elapsed)) == _answer(game.decide(command, elapsed))


def _replayed(events: list[AnyEvent], kind: type[_G]) -> _G:
    created, *others = msgspec.json.decode(msgspec.json.encode(events), type=list[AnyEvent])
    assert isinstance(created, Created)
    game = make_game(created)
    assert isinstance(game, kind)
    for event in others:
        game.apply(event)
    return game


def _answer(decision: Decision) -> tuple[Any, ...]:
    """Return a decision as values that can be compared."""
    refusal = decision.refusal
    return list(decision.events), decision.shown, refusal and (type(refusal), str(refusal))
