"""The options of ``gmd train recon-zero`` that decide what a training does: those of its plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gm_bots.expectation.settings import MAX_DEPTH

from .entry import MAX_C_PUCT

if TYPE_CHECKING:
    from .plan import Plan

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS = (
    click.option(
        "--games",
        type=click.IntRange(1),
        default=100,
        show_default=True,
        help="Games to learn from in each iteration.",
    ),
    click.option(
        "--taught",
        type=click.IntRange(0),
        default=7,
        show_default=True,
        help="The first so many iterations play by piece values, not by the network.",
    ),
    click.option(
        "--teacher",
        type=click.IntRange(1, MAX_DEPTH),
        metavar="DEPTH",
        help="Learn what Stockfish says of the positions, searching so many plies, not the own searches' results.",
    ),
    click.option(
        "--followed",
        type=click.IntRange(0),
        default=2,
        show_default=True,
        help="Positions after each, one move from the one before, that the teacher is asked about too.",
    ),
    click.option(
        "--own-searches/--no-own-searches",
        default=False,
        show_default=True,
        help="With a teacher, learn what the own searches found, too.",
    ),
    click.option(
        "--steps", type=click.IntRange(1), default=500, show_default=True, help="Training steps in each iteration."
    ),
    click.option("--batch", type=click.IntRange(1), default=64, show_default=True, help="Samples in a step."),
    click.option(
        "--matches",
        type=click.IntRange(0),
        default=10,
        show_default=True,
        help="Games against a random mover in each iteration.",
    ),
    click.option(
        "--matches-older",
        type=click.IntRange(0),
        default=4,
        show_default=True,
        help="Games against its network of 5 iterations before, in each iteration.",
    ),
    click.option(
        "--simulations",
        type=click.IntRange(1),
        default=60,
        show_default=True,
        help="Simulations of a search in each position.",
    ),
    click.option(
        "--determinisations",
        type=click.IntRange(1),
        default=4,
        show_default=True,
        help="Possible positions searched for a move.",
    ),
    click.option(
        "--eval-simulations",
        type=click.IntRange(1),
        help="Simulations in the matches against a random mover and its older self.  [default: as --simulations]",
    ),
    click.option(
        "--c-puct",
        type=click.FloatRange(0, MAX_C_PUCT),
        default=0.5,
        show_default=True,
        help="Weight of a move's probability in the search, against its results so far.",
    ),
    click.option(
        "--max-plies", type=click.IntRange(1), default=200, show_default=True, help="Draw a game after so many plies."
    ),
    click.option("--channels", type=click.IntRange(1), default=48, show_default=True, help="Channels of the network."),
    click.option("--layers", type=click.IntRange(1), default=5, show_default=True, help="Layers of the network."),
    click.option(
        "--form",
        type=click.IntRange(1, 2),
        default=2,
        show_default=True,
        help="Form of the network: 1 as in gmd 0.2; 2 is also shown attacked squares, and judges pairs of squares.",
    ),
    click.option(
        "--in-step",
        type=click.IntRange(0),
        default=25,
        show_default=True,
        help="Games against itself that a process plays in step, many times faster; 0 to play each by itself.",
    ),
    click.option(
        "--precision",
        type=click.Choice(["float32", "bfloat16"]),
        default="float32",
        show_default=True,
        help="Numbers that the network computes with in games in step and in training steps; bfloat16 is faster on "
        "processors that know it.",
    ),
    click.option(
        "--league",
        type=click.FloatRange(0, 1),
        default=0.0,
        show_default=True,
        metavar="SHARE",
        help="Share of the games played against members of a league, not against itself.",
    ),
    click.option(
        "--member",
        "members",
        multiple=True,
        metavar="FILE.pt|BOT",
        help="A member of the league beside its own earlier networks: a checkpoint, material, attacker, trout, or a "
        "bot of gmd match; repeatable.  [default: material, attacker, minimax:depth=2,seed=1, trout]",
    ),
    click.option(
        "--against",
        metavar="FILE.pt|BOT",
        help="Play all games against this one, as in --member, to find out what can be learnt against it.",
    ),
    click.option(
        "--start",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE.pt",
        help="Begin with this checkpoint's network.  [default: random weights]",
    ),
    click.option(
        "--learning-rate",
        type=click.FloatRange(0, min_open=True),
        default=1e-3,
        show_default=True,
        help="Learning rate of AdamW.",
    ),
    click.option(
        "--halving",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        metavar="STEPS",
        help="Steps in which the learning rate falls to a half, a little with each; 0 leaves it as it is.",
    ),
    click.option(
        "--weight-decay",
        type=click.FloatRange(0),
        default=1e-4,
        show_default=True,
        help="Weight decay of AdamW, in each step.",
    ),
    click.option(
        "--buffer-size",
        "capacity",
        type=click.IntRange(1),
        default=200_000,
        show_default=True,
        help="Samples kept to learn from, 5 kB each; the oldest are dropped.",
    ),
    click.option(
        "--value",
        type=click.Choice(["search", "both"]),
        default="search",
        show_default=True,
        help="Target of the value: values of searches, or half of these and half of the results of games.",
    ),
    click.option(
        "--value-weight",
        type=click.FloatRange(0),
        default=10.0,
        show_default=True,
        help="Weight of the value's error against the moves'.",
    ),
    click.option(
        "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed; the same one repeats the training."
    ),
)


def options_of_a_plan(command: Command) -> Command:
    """Add the options to a command, in their order."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def plan_of(settings: dict[str, Any]) -> Plan:
    """Return the plan that the values of :data:`OPTIONS` describe."""
    from .network import NetworkSettings
    from .plan import Plan
    from .training import TrainingSettings

    player = {name: settings.pop(name) for name in ("simulations", "determinisations", "c_puct")}
    network = NetworkSettings(**{name: settings.pop(name) for name in ("channels", "layers", "form")})
    learning = ("learning_rate", "weight_decay", "value", "value_weight", "halving")
    training = TrainingSettings(**{name: settings.pop(name) for name in learning})
    return Plan(network=network, training=training, player=replace(Plan().player, **player), **settings)
