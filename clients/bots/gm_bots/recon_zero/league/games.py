"""Games in step against the members of a league, of which the learner's decisions are learnt from.

A member that is the same bot with another network is searched in step, too. Any other is an opponent of the
environment :mod:`gm_env`, which is shown what its seat observed and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from chess import Color
from numpy.typing import NDArray

from gm_arena.endings import reason_words
from gm_env.kernels.layout import DRAWS, NONE, OVER, TO_MOVE, TO_SENSE
from gm_env.opponents import Ends, Opponent, answer
from gm_recon import History, WinReason

from ..lockstep.games import Games, Side
from ..lockstep.judging import Judge
from ..replay import Sample
from ..thinker import Settings
from .members import Program

#: A member as it plays: the same bot with another network or none, or another program.
Rival: TypeAlias = Judge | Program
#: The endings of games that are drawn here, and would go on elsewhere.
TOO_LONG, LOST_TRACK = "too long", "lost track"


@dataclass(frozen=True)
class Fixture:
    """A game to be played.

    :ivar color: the learner's.
    :ivar member: the name of its opponent.
    """

    seed: str
    color: Color
    member: str


@dataclass(frozen=True)
class Met:
    """A game that was played.

    :ivar outcome: how it ended for the learner: 1, 0 or -1.
    :ivar ending: why it ended, in words.
    :ivar last: the position at its end and the number of half-moves, which tell different games apart.
    :ivar samples: the learner's decisions.
    """

    member: str
    outcome: float
    ending: str
    last: bytes
    samples: list[Sample]


def play_league(
    judge: Judge,
    fixtures: Sequence[Fixture],
    rivals: Mapping[str, Rival],
    settings: Settings,
    max_plies: int,
) -> list[Met]:
    """Play games of a learner against members of a league, in step.

    A game that is too long is drawn, as is one in which a player of this bot loses track of the possible positions.
    The same fixtures, in the same order, make the same games, as far as the programs repeat theirs.

    :param judge: the learner's.
    :param rivals: the members, by name.
    :param settings: of the learner, and of members that are the same bot; see :func:`..lockstep.games.play_together`.
    :raises BotUnusable: a program is not installed here.
    """
    met = {name: rivals[name] for name in sorted({fixture.member for fixture in fixtures})}
    others = {name: rival if isinstance(rival, Program) else Side(rival, settings) for name, rival in met.items()}
    with closing(_MixedGames(Side(judge, settings), fixtures, others, max_plies)) as games:
        games.play()
        return games.met()


def play_to_the_end(
    ours: Side, fixtures: Sequence[Fixture], others: Mapping[str, Side | Program], max_plies: int
) -> list[tuple[History, str]]:
    """Play games of one side as :func:`play_league` does; return each with how it ended, in words.

    :param others: the members, by name.
    :raises BotUnusable: a program is not installed here.
    """
    with closing(_MixedGames(ours, fixtures, others, max_plies)) as games:
        games.play()
        return games.histories()


class _MixedGames(Games):
    """Games under way, each of a side and a member of a league."""

    def __init__(
        self,
        ours: Side,
        fixtures: Sequence[Fixture],
        others: Mapping[str, Side | Program],
        max_plies: int,
    ) -> None:
        sides = {name: other for name, other in others.items() if isinstance(other, Side)}
        super().__init__(
            [
                {fixture.color: ours} | ({not fixture.color: sides[fixture.member]} if fixture.member in sides else {})
                for fixture in fixtures
            ],
            [fixture.seed for fixture in fixtures],
            max_plies,
        )
        self._fixtures, self._given_up = fixtures, dict[int, WinReason]()
        numbers = [_number(fixture.seed) for fixture in fixtures]
        programs = {name: other for name, other in others.items() if isinstance(other, Program)}
        self._programs = {name: program.opponent(numbers[0]) for name, program in programs.items()}
        self._begin(numbers)

    def _begin(self, numbers: list[int]) -> None:
        """Give the games, and the programs in them, random numbers of the games' seeds."""
        for game, number in enumerate(numbers):
            self._batch.reset(number, [game])
        self._rng = np.random.default_rng(numbers)
        for name, program in self._programs.items():
            self._give_up(program, self._games_of(name, self.playing))

    def take_turns(self) -> None:
        """Take a turn in each game."""
        before = self.playing
        waiting = [game for game in before if self._program_is_to_move(game)]
        after = self.take_our_turns([game for game in before if game not in set(waiting)])
        for name, program in self._programs.items():
            after += self._answer(program, self._games_of(name, waiting))
        self.playing = sorted(after)
        for name, program in self._programs.items():
            self._end(program, self._games_of(name, {*before} - {*after}))

    def _program_is_to_move(self, game: int) -> bool:
        fixture = self._fixtures[game]
        return fixture.member in self._programs and bool(self._batch.colors[game]) != fixture.color

    def _games_of(self, name: str, games: Iterable[int]) -> list[int]:
        """Return those of some games that a member plays in."""
        return [game for game in games if self._fixtures[game].member == name]

    def _answer(self, opponent: Opponent, games: Sequence[int]) -> list[int]:
        """Let a program take its turn in games, and return those which go on."""
        batch, playing = self._batch, list(games)
        for phase in (TO_SENSE, TO_MOVE):
            if not playing:
                break
            waiting = np.zeros(batch.n, np.bool_)
            waiting[playing] = True
            assert (batch.phases[playing] == phase).all()
            lost = answer(batch, waiting, opponent, self._rng)
            self._given_up |= {int(game): WinReason(int(lost[game])) for game in np.flatnonzero(lost)}
            playing = [game for game in playing if game not in self._given_up]
        phases, plies = batch.phases, batch.plies
        return [game for game in playing if phases[game] != OVER and plies[game] < self._max_plies]

    def _end(self, program: Opponent, games: list[int]) -> None:
        """Tell a program of games that are over, or will not be finished."""
        batch = self._batch
        over = np.array(sorted(game for game in games if batch.phases[game] == OVER), np.int64)
        if len(over) and (end := getattr(program, "end", None)) is not None:
            winners, reasons = (array[over].astype(np.int64) for array in (batch.winners, batch.reasons))
            end(Ends(batch, over, self._colors(over), winners, reasons))
        self._give_up(program, sorted({*games} - {*over.tolist()}))

    def _give_up(self, program: Opponent, games: list[int]) -> None:
        if games and (begin := getattr(program, "begin", None)) is not None:
            begin(np.array(games, np.int64), self._colors(games))

    def _colors(self, games: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the members' colours in some games."""
        return np.array([not self._fixtures[game].color for game in games], np.int32)

    def met(self) -> list[Met]:
        """Return all games as they ended."""
        found = []
        for game, fixture in enumerate(self._fixtures):
            winner = fixture.color if game in self._given_up else int(self._batch.winners[game])
            outcome = 0.0 if winner == NONE else 1.0 if winner == fixture.color else -1.0
            samples = self.samples_of(game, fixture.color)
            found.append(Met(fixture.member, outcome, self._ending(game), self._last(game), samples))
        return found

    def histories(self) -> list[tuple[History, str]]:
        """Return all games, each with how it ended: by the turn limit where it is too long."""
        found = []
        for game, fixture in enumerate(self._fixtures):
            history, ending = self._batch.history(game), self._ending(game)
            winner, reason = int(self._batch.winners[game]), int(self._batch.reasons[game])
            history.winner, history.win_reason = None if winner == NONE else bool(winner), None
            if game in self._given_up:
                history.winner, history.win_reason = fixture.color, self._given_up[game]
            elif reason or ending == TOO_LONG:
                history.win_reason = WinReason(reason) if reason else WinReason.TURN_LIMIT
            found.append((history, ending))
        return found

    def _last(self, game: int) -> bytes:
        states, numbers = self._batch.privileged_rows
        parts: list[bytes] = [states[game, :DRAWS].tobytes(), numbers[game].tobytes()]
        return b"".join(parts)

    def _ending(self, game: int) -> str:
        if game in self._given_up:
            return reason_words(self._given_up[game])
        if reason := int(self._batch.reasons[game]):
            return reason_words(WinReason(reason))
        if self._batch.plies[game] >= self._max_plies:
            return TOO_LONG
        is_ours = bool(self._batch.colors[game]) == self._fixtures[game].color
        return LOST_TRACK if is_ours else f"opponent {LOST_TRACK}"

    def close(self) -> None:
        """End all programs."""
        for program in self._programs.values():
            if (close := getattr(program, "close", None)) is not None:
                close()


def _number(seed: str) -> int:
    """Return a seed as a number, 0 to 2**64 - 1."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
