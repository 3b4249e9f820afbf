"""What players of reconnaissance blind chess may believe of the position, from their observations and nothing else."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil

from chess import Color

from gm_protocol.errors import TooMany
from gm_recon.belief import marginal_steps, sample_steps
from gm_recon.possible import PossiblePositions

from .followed import Followed, FollowedCache, observe_steps
from .games.game import Game
from .games.rbc_knowledge import Observed

#: The most positions that are kept for a player: while no more are possible, the answers are exact.
CAP = 20_000
#: The most positions that are kept once the answers are inexact to the end of the game: enough for shares within some
#: two percent, at a tenth of the work.
SAMPLE_CAP = 2_000
#: The most steps of work for a request, of some half a millisecond each. A single observation takes fewer.
MOST_STEPS = 4_000
#: The most players whose positions are kept between two of their requests.
MOST_KEPT = 12
#: Seconds for which these keep their places: enough to catch up with a long game with the budget of one connection.
HELD_SECONDS = 600.0
#: Seconds without a request after which a player may lose its place: more than a used-up budget makes a client wait.
IDLE_SECONDS = 120.0
#: Draws which positions are kept when there are more than :data:`CAP`. It is the same for everybody, so that the same
#: observations lead to the same answers.
_SEED = 1


@dataclass(frozen=True, slots=True)
class Belief:
    """The possible positions of a player in figures.

    :ivar count: how many positions are kept.
    :ivar exact: whether these are all that are possible. Otherwise they are drawn from those at random.
    :ivar marginals: 12 x 64 probabilities, as :func:`gm_recon.belief.marginals` returns them.
    :ivar samples: positions in FEN.
    """

    count: int
    exact: bool
    marginals: list[list[float]]
    samples: list[str]


@dataclass(slots=True)
class Beliefs:
    """The players' possible positions.

    :ivar cap: the most positions kept for a player.
    :ivar most_steps: the most steps of work for a request.
    """

    cap: int = CAP
    most_steps: int = MOST_STEPS
    kept: FollowedCache = field(default_factory=lambda: FollowedCache(MOST_KEPT, HELD_SECONDS, IDLE_SECONDS))

    def follow(self, game_id: int, seat: Color, start_fen: str) -> Followed:
        """Return a player's positions from the cache, or those at the beginning of the game."""
        return self.kept.find((game_id, seat)) or Followed(partial(self._begin, seat, start_fen))

    def catch_up(self, followed: Followed, game: Game, observed: Sequence[Observed]) -> Generator[None, None, bool]:
        """Take into account all that a player has observed, in steps.

        :returns: whether this is done. Otherwise it takes more work than a request may cause; call it again.
        """
        yield from followed.resume_steps(game, observed)
        positions, steps = followed.positions, 0
        assert positions is not None, "beliefs follow every player, if need be by a sample"
        while len(followed.seen) < len(observed):
            if steps >= self.most_steps:
                return False
            each = observed[len(followed.seen)]
            for _ in observe_steps(positions, each):
                steps += 1
                yield
            followed.seen.append(each)
        return True

    def refusal(self, followed: Followed, observed: Sequence[Observed], seconds: float) -> TooMany:
        """Return the error for a request whose player's positions are not up to date.

        :param seconds: 0.0 if they are kept; else the seconds until there is a place for them.
        """
        text = (
            f"belief: the positions up to observation {len(followed.seen)} of {len(observed)} took the "
            f"{self.most_steps} steps of work that a request may cause"
        )
        if not seconds:
            return TooMany(f"{text}; repeat it to continue from there", retry_after=0.0)
        wait = float(ceil(seconds))
        return TooMany(f"{text}, and the places to keep them are taken; try again in {wait:.0f} seconds", wait)

    def _begin(self, seat: Color, start_fen: str) -> PossiblePositions:
        sample_cap = min(self.cap, SAMPLE_CAP)
        return PossiblePositions(seat, start_fen, cap=self.cap, sample_cap=sample_cap, rng=random.Random(_SEED))


def believed_steps(followed: Followed, samples: int, seed: int) -> Generator[None, None, Belief]:
    """Return a player's belief, in steps.

    :param samples: how many positions to draw at most.
    :param seed: decides which are drawn.
    """
    positions = followed.positions
    assert positions is not None, "beliefs follow every player, if need be by a sample"
    rows = yield from marginal_steps(positions)
    boards = yield from sample_steps(positions, samples, random.Random(seed))
    fens: list[str] = []
    for board in boards:
        fens.append(board.fen(en_passant="fen"))
        yield
    return Belief(len(positions), positions.complete, rows, fens)
