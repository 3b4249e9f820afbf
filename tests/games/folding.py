"""That a game is the fold of its events: whoever replays them has the same game, to the last retry."""

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
    """Ask a game for commands, and then the same of a game made of its events, as bytes hold them.

    :param events: those that it has had.
    :param asked: what the commands are made of, each with the seconds thought.
    :param everything: all that a game shows of itself.
    """
    events, commands = list(events), []
    for what, thought in asked:
        command = command_of(what, game)
        commands.append(command)
        before = everything(game)
        decision = game.decide(command, thought)
        assert everything(game) == before, "deciding changes nothing"
        for event in decision.events:
            game.apply(event, decision.move)
        events += decision.events
    again = _replayed(events, type(game))
    assert everything(again) == everything(game)
    # Retries among them: the same questions at the same plies get the same answers.
    for command in commands:
        for thought in (0.0, 100.0):
            assert _answer(again.decide(command, thought)) == _answer(game.decide(command, thought))


def _replayed(events: list[AnyEvent], kind: type[_G]) -> _G:
    created, *others = msgspec.json.decode(msgspec.json.encode(events), type=list[AnyEvent])
    assert isinstance(created, Created)
    game = make_game(created)
    assert isinstance(game, kind)
    for event in others:
        game.apply(event)
    return game


def _answer(decision: Decision) -> tuple[Any, ...]:
    """An outcome as values that can be compared."""
    refusal = decision.refusal
    return list(decision.events), decision.shown, refusal and (type(refusal), str(refusal))
