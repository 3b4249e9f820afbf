"""What each player of a finished game of reconnaissance blind chess could know, turn by turn.

It follows the positions that are possible by all that the player has observed (:mod:`gm_recon.possible`).
"""

from __future__ import annotations

import random
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import chess

from gm_protocol.belief import Hint
from gm_recon.belief import left_after_steps, marginal_steps
from gm_recon.possible import PossiblePositions
from gmd.event_log.keyed_locks import KeyedLocks
from gmd.http.pages.replay import ReconReplay, RecordedSense, Turn
from gmd.play.beliefs import CAP, hint_steps

#: The most steps of work for a game, of some half a millisecond each. A turn of a player who reckons with :data:`CAP`
#: positions takes two thousand.
MOST_STEPS = 8_000
#: The most positions of a turn that are compared to say what senses tell: enough for a player who looks back.
COMPARED = 250
#: Draws which positions are kept between a turn of the opponent and a sense. The sense brings the others back, so that
#: no count depends on it.
_SEED = 1

#: The pieces of which a belief may be shown: any, or one kind by its letter.
Kind = Literal["any", "k", "q", "r", "b", "n", "p"]
#: The kinds in the order in which shares are packed.
_PACKED: tuple[Kind, ...] = ("p", "n", "b", "r", "q", "k")
#: A share of 1.0 when packed.
_WHOLE = 65_535


@dataclass(frozen=True, slots=True)
class Known:
    """What a player could know at a ply.

    :ivar count: how many positions were possible, or drawn from more than :data:`CAP`.
    :ivar exact: whether these are all that were possible.
    :ivar packed: the shares of :meth:`shares`.
    """

    count: int
    exact: bool
    packed: bytes

    def shares(self, kind: Kind) -> list[float]:
        """Return the share of the positions in which a piece of the opponent's stands on each square from a1 to h8."""
        numbers = array("H", zlib.decompress(self.packed))
        if kind != "any":
            begin = 64 * _PACKED.index(kind)
            return [number / _WHOLE for number in numbers[begin : begin + 64]]
        return [min(1.0, sum(numbers[square::64]) / _WHOLE) for square in chess.SQUARES]


class Sight(NamedTuple):
    """What a sense showed on a square: a piece, or None for none; and the share of the positions that had it there."""

    share: float
    square: chess.Square
    piece: chess.PieceType | None


@dataclass(frozen=True, slots=True)
class Count:
    """A turn: the numbers of positions before the sense and after it; None for more than :data:`.CAP`.

    :ivar ply: the ply that the turn led to.
    :ivar left: the share of the positions before the sense that it left on average; None without a sense.
    :ivar hint: the sense that would have told most.
    :ivar sight: of what the sense showed on a square, what was least likely by the positions before it.
    """

    ply: int
    side: chess.Color
    before: int | None
    after: int | None
    left: float | None = None
    hint: Hint | None = None
    sight: Sight | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """The turns of a game that were counted, in their order.

    :ivar plies: the turns that the game has.
    :ivar first: who had the first of them.
    :ivar known: what Black and White could know at each ply, as far as they were followed.
    """

    plies: int
    first: chess.Color
    turns: tuple[Count, ...]
    known: tuple[tuple[Known, ...], tuple[Known, ...]] = ((), ())

    def is_whole(self, side: chess.Color) -> bool:
        """Return whether all turns of a side were counted."""
        of_side = (self.plies + (side == self.first)) // 2
        return sum(turn.side == side for turn in self.turns) == of_side

    def known_at(self, ply: int, side: chess.Color) -> Known | None:
        """Return what a side could know at a ply; None if it was not followed so far."""
        known = self.known[side]
        return known[ply] if ply < len(known) else None

    def turn(self, ply: int) -> Count | None:
        """Return the turn that led to a ply; None if it was not counted."""
        return next((turn for turn in self.turns if turn.ply == ply), None)


#: The most turns that count as surprises, and the largest share of the positions that had what the sense showed.
MOST_SURPRISES, SURPRISING = 3, 0.1


def surprises(counts: Counts) -> list[Count]:
    """Return the turns whose senses showed what was least expected, in the order of the game."""
    found = [(turn.sight.share, turn.ply, turn) for turn in counts.turns if turn.sight is not None]
    largest = sorted(each for each in found if each[0] <= SURPRISING)[:MOST_SURPRISES]
    return sorted((turn for _, _, turn in largest), key=lambda turn: turn.ply)


def count_steps(replay: ReconReplay, start_fen: str) -> Generator[None, None, Counts]:
    """Count the positions of both players, in steps.

    A player who has reckoned with more than :data:`CAP` positions after a sense is not followed any further, and no
    player is once the work has taken :data:`MOST_STEPS`.
    """
    turns: list[Count] = []
    known: tuple[list[Known], list[Known]] = ([], [])
    for steps, _ in enumerate(_turn_by_turn(replay, start_fen, turns, known)):
        if steps == MOST_STEPS:
            break
        yield
    return Counts(replay.plies, replay.side_at(1), tuple(turns), (tuple(known[0]), tuple(known[1])))


def _turn_by_turn(
    replay: ReconReplay, start_fen: str, turns: list[Count], known: tuple[list[Known], list[Known]]
) -> Generator[None, None, None]:
    players = {side: PossiblePositions(side, start_fen, cap=CAP, rng=random.Random(_SEED)) for side in chess.COLORS}
    for side, each in players.items():
        known[side].append((yield from _known_steps(each)))
    for ply in range(1, replay.plies + 1):
        turn, goes_on = replay.turn(ply), ply < replay.plies or replay.has_both_kings
        yield
        if (positions := players.get(turn.side)) is not None:
            turns.append((yield from _sense_steps(positions, known[turn.side][-1], turn, ply)))
            if not positions.complete:
                del players[turn.side]
            elif goes_on:
                yield from positions.player_moved_steps(_move(turn.requested), _move(turn.taken), turn.capture)
        if goes_on and (positions := players.get(not turn.side)) is not None:
            yield from positions.opponent_moved_steps(turn.capture)
        for side, each in players.items():
            known[side].append((yield from _known_steps(each)))
    cut = replay.unfinished(replay.plies)
    if cut is not None and (positions := players.get(cut[0])) is not None:
        yield from positions.saw_steps(_cells(cut[1]))
        known[positions.color][-1] = yield from _known_steps(positions)


def _sense_steps(positions: PossiblePositions, known: Known, turn: Turn, ply: int) -> Generator[None, None, Count]:
    """Take a turn's sense into account, in steps; return what became of the positions."""
    sight = _least_likely(known, turn)
    before, square = _number(positions), turn.sense.square
    hint = yield from hint_steps(positions, COMPARED)
    squares = [] if square is None else [square]
    left = yield from left_after_steps(positions, squares, random.Random(_SEED), COMPARED)
    yield from positions.saw_steps(_cells(turn.sense))
    return Count(ply, turn.side, before, _number(positions), left[0] if left else None, hint, sight)


def _least_likely(known: Known, turn: Turn) -> Sight | None:
    """Return what was least likely of what a sense showed; None if it showed only the player's own pieces."""
    if not known.exact:
        return None
    rows = [known.shares(kind) for kind in _PACKED]
    sights = []
    for square, piece in _cells(turn.sense):
        if piece is None:
            sights.append(Sight(1 - sum(row[square] for row in rows), square, None))
        elif piece.color != turn.side:
            sights.append(Sight(rows[piece.piece_type - 1][square], square, piece.piece_type))
    return min(sights, default=None)


def _known_steps(positions: PossiblePositions) -> Generator[None, None, Known]:
    rows = yield from marginal_steps(positions)
    theirs = rows[6:] if positions.color else rows[:6]
    packed = array("H", [max(1, round(_WHOLE * share)) if share else 0 for row in theirs for share in row])
    return Known(len(positions), positions.complete, zlib.compress(packed.tobytes(), 1))


def _number(positions: PossiblePositions) -> int | None:
    return len(positions) if positions.complete else None


def _cells(sense: RecordedSense) -> list[tuple[chess.Square, chess.Piece | None]]:
    return [(square, None if piece is None else chess.Piece.from_symbol(piece)) for square, piece in sense.cells]


def _move(uci: str | None) -> chess.Move | None:
    return None if uci is None else chess.Move.from_uci(uci)


#: The most turns of games whose counts are kept: some ten megabytes.
MAX_TURNS = 10_000


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
