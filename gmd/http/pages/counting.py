"""How many positions each player of a finished game of reconnaissance blind chess had to reckon with, turn by turn.

These are the positions that are possible by all that the player has observed (:mod:`gm_recon.possible`).
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Generator
from dataclasses import dataclass

import chess

from gm_recon.possible import PossiblePositions
from gmd.event_log.keyed_locks import KeyedLocks
from gmd.http.pages.replay import ReconReplay, Turn

#: The most positions that are counted.
CAP = 20_000
#: The most steps of work for a game, of some half a millisecond each. A turn of a player who reckons with :data:`CAP`
#: positions takes two thousand.
MOST_STEPS = 8_000
#: Draws which positions are kept between a turn of the opponent and a sense. The sense brings the others back, so that
#: no count depends on it.
_SEED = 1


@dataclass(frozen=True, slots=True)
class Count:
    """A turn: the numbers of positions before the sense and after it; None for more than :data:`CAP`.

    :ivar ply: the ply that the turn led to.
    """

    ply: int
    side: chess.Color
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Counts:
    """The turns of a game that were counted, in their order.

    :ivar plies: the turns that the game has.
    :ivar first: who had the first of them.
    """

    plies: int
    first: chess.Color
    turns: tuple[Count, ...]

    def is_whole(self, side: chess.Color) -> bool:
        """Return whether all turns of a side were counted."""
        of_side = (self.plies + (side == self.first)) // 2
        return sum(turn.side == side for turn in self.turns) == of_side


def count_steps(replay: ReconReplay, start_fen: str) -> Generator[None, None, Counts]:
    """Count the positions of both players, in steps.

    A player who has reckoned with more than :data:`CAP` positions after a sense is not followed any further, and no
    player is once the work has taken :data:`MOST_STEPS`.
    """
    turns: list[Count] = []
    for steps, _ in enumerate(_turn_by_turn(replay, start_fen, turns)):
        if steps == MOST_STEPS:
            break
        yield
    return Counts(replay.plies, replay.side_at(1), tuple(turns))


def _turn_by_turn(replay: ReconReplay, start_fen: str, turns: list[Count]) -> Generator[None, None, None]:
    players = {side: PossiblePositions(side, start_fen, cap=CAP, rng=random.Random(_SEED)) for side in chess.COLORS}
    for ply in range(1, replay.plies + 1):
        turn, goes_on = replay.turn(ply), ply < replay.plies
        yield
        if (positions := players.get(turn.side)) is not None:
            before = _number(positions)
            yield from positions.saw_steps(_cells(turn))
            turns.append(Count(ply, turn.side, before, _number(positions)))
            if not positions.complete:
                del players[turn.side]
            elif goes_on:
                yield from positions.player_moved_steps(_move(turn.requested), _move(turn.taken), turn.capture)
        if goes_on and (positions := players.get(not turn.side)) is not None:
            yield from positions.opponent_moved_steps(turn.capture)


def _number(positions: PossiblePositions) -> int | None:
    return len(positions) if positions.complete else None


def _cells(turn: Turn) -> list[tuple[chess.Square, chess.Piece | None]]:
    return [(square, None if piece is None else chess.Piece.from_symbol(piece)) for square, piece in turn.sense.cells]


def _move(uci: str | None) -> chess.Move | None:
    return None if uci is None else chess.Move.from_uci(uci)


#: The most turns of games whose counts are kept: some ten megabytes.
MAX_TURNS = 50_000


class CountsCache:
    """The counts of finished games, which never change and which everybody may see."""

    def __init__(self, max_turns: int = MAX_TURNS) -> None:
        self._max_turns = max_turns
        self._kept: OrderedDict[int, Counts] = OrderedDict()
        #: The number of turns of all games in it; a game without any counts as one.
        self.turns = 0
        #: A lock for each game that is being counted.
        self.locks = KeyedLocks()

    def find(self, game_id: int) -> Counts | None:
        """Return the counts of a game; None if they are not in the cache."""
        found = self._kept.get(game_id)
        if found is not None:
            self._kept.move_to_end(game_id)
        return found

    def keep(self, game_id: int, counts: Counts) -> None:
        """Add the counts of a finished game; the least recently used ones are evicted."""
        self._kept[game_id] = counts
        self.turns += _size(counts)
        while self.turns > self._max_turns:
            self.turns -= _size(self._kept.popitem(last=False)[1])


def _size(counts: Counts) -> int:
    return max(1, len(counts.turns))
