"""``gmd evaluate --in-step``: many games at a time, without a clock, in processes of their own.

The searches are those of any game, by numbers of simulations; what a switch or another network is worth is known in
minutes. Opponents are the bot itself with other settings or another network, and programs as in the league of a
training: they see what their seat observed.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import StringIO
from multiprocessing import active_children, get_context
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import chess

from gm_arena.match.text import counted
from gm_arena.statistics import Sample, elo_interval, score_interval

from ..player import Settings
from .repeats import remark_on_repeats
from .table import WIDTH, elo_text

if TYPE_CHECKING:
    from ..league.members import Program
    from ..lockstep.games import Side
    from ..lockstep.judging import Precision

COLUMNS = ("against", "won", "drawn", "lost", "score", "95 %", "Elo", "95 %", "ended by")
#: Seconds between two lines of progress while a part is played.
QUIET_SECONDS = 30.0
#: The longest game, in plies, unless another is given; as in a training most longer ones would be drawn.
MAX_PLIES = 300


@dataclass(frozen=True)
class Own:
    """The bot, as one side of games.

    :ivar checkpoint: the network's file; None for piece values.
    """

    checkpoint: Path | None
    settings: Settings

    def side(self, precision: Precision) -> Side:
        """Return the side, in the process that plays.

        :raises BotFailed: the checkpoint cannot be read.
        """
        from ..lockstep.games import Side
        from ..lockstep.judging import count_material

        if self.checkpoint is None:
            return Side(count_material, self.settings)
        from ..checkpoint import load_judge

        return Side(load_judge(self.checkpoint, precision), self.settings)


@dataclass(frozen=True)
class Part:
    """Games that are played in step, the bot with White in every other one.

    :ivar seeds: one for each game.
    :ivar first: the bot's colour in the first.
    """

    ours: Own
    theirs: Own | Program
    seeds: tuple[str, ...]
    max_plies: int
    precision: Precision
    first: chess.Color = chess.WHITE

    def colors(self) -> list[chess.Color]:
        """Return the bot's colour in each game."""
        return [self.first ^ bool(number % 2) for number in range(len(self.seeds))]


class Ended(NamedTuple):
    """How a game ended.

    :ivar outcome: for the bot: 1, 0 or -1.
    :ivar ending: by what, in words.
    :ivar last: the last position and the number of half-moves, which tell different games apart.
    """

    outcome: float
    ending: str
    last: bytes


@dataclass(frozen=True)
class Pool:
    """Processes that play parts.

    :ivar ended: how many games have ended in all of them.
    """

    executor: Executor
    ended: Synchronized[int]


#: In a process of a pool, the pool's count of games that have ended.
_ended: Synchronized[int]


def _join(ended: Synchronized[int]) -> None:
    """Begin a process of a pool."""
    global _ended
    _ended = ended
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all: the first process alone decides


def _count(number: int) -> None:
    with _ended.get_lock():
        _ended.value += number


def play_part(part: Part) -> list[Ended]:
    """Play games in a process of a :class:`Pool`; return how each ended.

    :raises BotUnusable: the opponent is not installed here.
    :raises BotFailed: a checkpoint cannot be read.
    """
    from ..league.games import Fixture, play_fixtures
    from ..pool import one_thread

    theirs, name = part.theirs, "opponent"
    fixtures = [Fixture(seed, color, name) for seed, color in zip(part.seeds, part.colors(), strict=True)]
    with one_thread():
        ours = part.ours.side(part.precision)
        if isinstance(theirs, Own):
            met = play_fixtures(ours, fixtures, {name: theirs.side(part.precision)}, {}, part.max_plies, _count)
        else:
            met = play_fixtures(ours, fixtures, {}, {name: theirs}, part.max_plies, _count)
    return [Ended(game.outcome, game.ending, game.last) for game in met]


@contextmanager
def pool_of(processes: int) -> Iterator[Pool]:
    """Yield processes for :func:`play_opponent`. They take seconds to start, and end at once after Ctrl-C or SIGTERM.

    :raises KeyboardInterrupt: one of these signals came.
    """
    context = get_context("spawn")
    ended = context.Value("q", 0)
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_join, initargs=(ended,))
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)  # else the processes would outlive this one
    try:
        with pool:
            try:
                yield Pool(pool, ended)
            except KeyboardInterrupt:
                for child in active_children():
                    child.terminate()
                raise
    finally:
        signal.signal(signal.SIGTERM, former)


def play_opponent(
    name: str, games: int, at_once: int, part: Part, pool: Pool, tell: Callable[[str], None]
) -> Iterator[list[Ended]]:
    """Play a match, and yield how the games of each part ended, in the order of the games.

    :param name: the opponent's.
    :param at_once: games of a part.
    :param part: what the parts have in common; its seeds are not played.
    :param pool: plays the parts, as many at a time as it has processes.
    :param tell: called with a sentence whenever a part is played, and while one takes long.
    """
    done, points, before, said = 0, 0.0, pool.ended.value, 0
    # Not pool.map, which cancels what is left when it ends: a pool whose processes were killed cannot bear that.
    for future in [pool.executor.submit(play_part, each) for each in parts_of(part, games, at_once)]:
        while wait([future], QUIET_SECONDS).not_done:
            ended = pool.ended.value - before
            if ended > max(said, done):
                said = ended
                tell(f"against {name}: {ended} of {games} games have ended")
        played = future.result()
        done += len(played)
        points += sum((game.outcome + 1) / 2 for game in played)
        yield played  # before the line, after which somebody may break this off
        tell(f"against {name}: {points:g} points in the first {done} of {games} games")


def parts_of(part: Part, games: int, at_once: int) -> list[Part]:
    """Return the parts of a match, with alternating colours from its first game to its last.

    :param part: what they have in common; its seeds are not played.
    """
    seeds = [f"{' '.join(part.seeds)} {game}" for game in range(games)]
    return [
        replace(part, seeds=tuple(seeds[start : start + at_once]), first=not start % 2)
        for start in range(0, games, at_once)
    ]


def row_of(name: str, games: Sequence[Ended]) -> list[str]:
    """Return the row of a match, of at least one game."""
    lost, drawn, won = (sum(game.outcome == end for game in games) for end in (-1, 0, 1))
    score = score_interval(Sample((lost, drawn, won)))
    assert score is not None
    elo = elo_interval(score)
    return [
        name,
        *map(str, (won, drawn, lost)),
        f"{100 * score.value:.1f} %",
        f"{100 * score.low:.1f} to {100 * score.high:.1f}",
        elo_text(elo.value),
        f"{elo_text(elo.low)} to {elo_text(elo.high)}",
        counted(Counter(game.ending for game in games)),
    ]


def table_text(title: str, matches: Mapping[str, Sequence[Ended]]) -> str:
    """Return the table of matches, by their opponents' names, and remarks on games that repeat others."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=Text(title), title_justify="left")
    for number, name in enumerate(COLUMNS):
        drawn.add_column(name, justify="left" if number in (0, len(COLUMNS) - 1) else "right")
    for name, games in matches.items():
        drawn.add_row(*map(Text, row_of(name, games)))
    out = StringIO()
    Console(file=out, width=WIDTH).print(drawn)
    remarks = (remark_on_repeats(name, [game.last for game in games]) for name, games in matches.items())
    return out.getvalue() + "".join(f"{remark}\n" for remark in remarks if remark)
