"""``recon-zero`` as a player, and what makes such players for games on a server."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from chess import Color, Move, Square

from gm_arena.bot import Bots
from gm_arena.in_step import BotsInStep, EndedInStep, GameInStep
from gm_arena.player_bot import PlayerBots
from gm_bots.timed_player import TimedPlayer
from gm_recon import Cell

from .checkpoint_files import digest_of
from .lockstep.judging import Judge
from .player import Player, Settings
from .time_rules import TURN_SECONDS
from .warm_up import ready_judge

if TYPE_CHECKING:
    from .measure.in_step import Own


class Thinker(Protocol):
    """The interface of a :class:`~.player.Player`, in any thread or process."""

    def opponent_moved(self, capture: Square | None) -> None: ...

    def choose_sense(self, squares: Iterable[Square], seconds: float | None = None) -> Square: ...

    def saw(self, cells: Iterable[Cell]) -> None: ...

    def choose_move(self, actions: Sequence[Move], seconds: float | None = None) -> Move | None: ...

    def moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None: ...


class Seat(Protocol):
    """The place where the player of one game thinks."""

    def sit(self, color: Color, rng: random.Random, fen: str) -> Thinker:
        """Return the player, as the game begins."""
        ...

    def leave(self) -> None:
        """Release the place when the game is over or abandoned, whatever the player is doing."""
        ...


class Here:
    """A :class:`Seat` in a thread of this process."""

    def __init__(self, judge: Judge, settings: Settings) -> None:
        self._judge, self._settings = judge, settings

    def sit(self, color: Color, rng: random.Random, fen: str) -> Thinker:
        return Player(color, self._judge, self._settings, rng, fen=fen)

    def leave(self) -> None:
        """Do nothing: a thread that still thinks ends by itself, and nobody waits for it."""


class ReconZeroPlayer(TimedPlayer):
    """A player for one game after the other."""

    def __init__(self, seat: Seat, rng: random.Random, seconds: float | None) -> None:
        """:param seat: the place where it thinks.
        :param rng: decides all that is random.
        :param seconds: the most seconds of a turn; None for as long as the clock allows.
        """
        super().__init__(seconds, TURN_SECONDS)
        self._seat, self._rng = seat, rng

    def begin(self, color: Color, fen: str) -> Thinker:
        self._thinking = self._seat.sit(color, self._rng, fen)
        return self._thinking

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        return self._thinking.choose_sense(sense_actions, self._time.plan(seconds_left))

    def close(self) -> None:
        """Release the place, whatever the player is doing."""
        self._seat.leave()


class ReconZeroBots(PlayerBots, BotsInStep):
    """The factory of the bots.

    :param name: the bot's name, with its options.
    :param seed: if given, every game of the same number and colour is repeatable, as long as the opponent's moves are
        and the time is not short.
    :ivar settings: how they play.
    :ivar seed: the seed given.
    :ivar seconds: the most seconds of a turn; None for as long as the clock allows.
    :ivar checkpoint: the network's checkpoint; None to play without a network.
    """

    def __init__(
        self, name: str, settings: Settings, *, seed: int | None, seconds: float | None, checkpoint: Path | None
    ) -> None:
        super().__init__(name, self._new_player, seed=seed)
        self.settings, self.seed, self.seconds = settings, seed, seconds
        self.checkpoint = checkpoint
        self._judge: Judge | None = None

    @property
    def identity(self) -> str:
        """The hash of the network: a file keeps its name while a training goes on."""
        return "" if self.checkpoint is None else digest_of(self.checkpoint)

    def against(self, other: Bots, spec: str) -> Callable[[Sequence[GameInStep], int], list[EndedInStep]]:
        from .measure.in_step import against

        return against(self._own(), other._own() if isinstance(other, ReconZeroBots) else None, spec)

    def _own(self) -> Own:
        from .measure.in_step import Own

        return Own(self.name, self.judge, self.settings)

    def _new_player(self, rng: random.Random) -> ReconZeroPlayer:
        return ReconZeroPlayer(self.seat(), rng, self.seconds)

    def seat(self) -> Seat:
        """Return a place where a player thinks.

        :raises BotFailed: the checkpoint cannot be read.
        """
        return Here(self.judge(), self.settings)

    def judge(self) -> Judge:
        """Return the evaluator of positions in this process, ready for its first game.

        :raises BotFailed: the checkpoint cannot be read.
        """
        if self._judge is None:
            self._judge = ready_judge(self.checkpoint)
        return self._judge
