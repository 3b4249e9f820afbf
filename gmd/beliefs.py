"""What players of reconnaissance blind chess may believe of the position, by what they were told and nothing else."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from chess import Color

from gm_protocol.errors import TooMany
from gm_recon.belief import marginal_steps, sample_steps
from gm_recon.possible import PossiblePositions

from .followed import Followed, FollowedCache, observe_steps
from .games.rbc_knowledge import Observed

#: The most positions that are kept for a player: while no more are possible, the answers are exact.
CAP = 20_000
#: The most steps of work for a request, of some half a millisecond each. No single observation takes more.
MOST_STEPS = 8_000
#: The most players whose positions are kept between two of their requests.
MOST_KEPT = 12
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
    kept: FollowedCache = field(default_factory=lambda: FollowedCache(MOST_KEPT))

    def follow(self, game_id: int, seat: Color, start_fen: str, observed: list[Observed]) -> Followed:
        """Remove a player's positions from the cache and return them, or those at the beginning of the game.

        :param observed: all that the player has observed.
        """
        return self.kept.take((game_id, seat), observed) or Followed(
            PossiblePositions(seat, start_fen, cap=self.cap, rng=random.Random(_SEED))
        )

    def catch_up(self, followed: Followed, observed: Sequence[Observed]) -> Generator[None, None, None]:
        """Take into account all that a player has observed, in steps.

        :raises TooMany: this takes more work than a request may cause. The next request continues it.
        """
        positions, steps = followed.positions, 0
        assert positions is not None, "beliefs follow every player, if need be by a sample"
        for each in observed[len(followed.seen) :]:
            for _ in observe_steps(positions, each):
                steps += 1
                yield
            followed.seen.append(each)
            if steps >= self.most_steps and len(followed.seen) < len(observed):
                raise TooMany(
                    f"belief: the positions up to observation {len(followed.seen)} of {len(observed)} took the "
                    f"{self.most_steps} steps of work that a request may cause; repeat it to go on from there",
                    retry_after=0.0,
                )


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
