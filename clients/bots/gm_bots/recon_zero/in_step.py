"""Games of recon-zero in step, for ``gmd match --in-step``: many at a time in one process, without clocks.

The searches are those of any game, by numbers of simulations. Opponents are the bot with other settings or another
network, and programs as in the league of a training: they see what their seat observed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gm_arena.in_step import EndedInStep, GameInStep
from gm_arena.specs import RECONCHESS

from .league.members import ATTACKER, RANDOM, TROUT, Program

if TYPE_CHECKING:
    from .lockstep.games import Side

#: reconchess's bots as they play in step, by how a match names them; another program plays as in any match.
PROGRAMS = {
    RECONCHESS[name]: program
    for name, program in {"RandomBot": RANDOM, "AttackerBot": ATTACKER, "TroutBot": TROUT}.items()
}


def against(
    ours: Callable[[], Side], theirs: Callable[[], Side] | None, spec: str
) -> Callable[[Sequence[GameInStep], int], list[EndedInStep]]:
    """Return a function that plays games of the bot against another, as :class:`gm_arena.in_step.BotsInStep` says.

    :param ours: makes the bot's side, in the process that plays.
    :param theirs: the same for the other, if it is the same bot; else None.
    :raises BotUnusable: the other cannot play in step.
    """
    if theirs is not None:
        return lambda games, plies: _played(ours, theirs, games, plies)
    program = Program(PROGRAMS.get(spec, spec))
    program.check()
    return lambda games, plies: _played(ours, program, games, plies)


def _played(
    ours: Callable[[], Side], other: Callable[[], Side] | Program, games: Sequence[GameInStep], plies: int
) -> list[EndedInStep]:
    from .league.games import Fixture, play_to_the_end
    from .pool import one_thread

    fixtures = [Fixture(game.seed, game.color, "other") for game in games]
    with one_thread():
        rival = other if isinstance(other, Program) else other()
        ended = play_to_the_end(ours(), fixtures, {"other": rival}, plies)
    return [EndedInStep(history, ending) for history, ending in ended]
