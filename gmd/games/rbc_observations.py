"""Everything that a seat of reconnaissance blind chess has learnt, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from gm_recon import Turn

from .rbc_knowledge import Observed, unpack_cells

#: The steps of a seat's own turn: the opponent's turn before it, the seat's sense, and its move.
_STEPS = 3


class Observations(Sequence[Observed]):
    """What a seat had learnt at one moment. Each item is made on demand: no operation but iteration depends on how
    long the game is.

    It refers to the game's own lists, which only grow, and leaves out what is appended later. Of the senses it reads
    the seat's own alone.
    """

    __slots__ = ("_count", "_first_ply", "_senses", "_turns")

    def __init__(self, turns: Sequence[Turn], senses: Sequence[bytes], *, first_ply: int) -> None:
        """:param turns: the game's completed turns.
        :param senses: what each turn's sense has shown, packed; one more than turns once the present turn's is made.
        :param first_ply: the ply of the seat's first turn, 0 or 1.
        """
        self._turns, self._senses, self._first_ply = turns, senses, first_ply
        plies = len(turns)
        own, is_own_turn = (plies + 1 - first_ply) // 2, (plies - first_ply) % 2 == 0
        has_sensed = is_own_turn and len(senses) > plies
        # Nothing precedes the first turn of the game, which is the seat's own if its first ply is 0.
        self._count = _STEPS * own + is_own_turn + has_sensed - (1 - first_ply)

    def __len__(self) -> int:
        """Return the number of observations."""
        return self._count

    @overload
    def __getitem__(self, index: int) -> Observed: ...

    @overload
    def __getitem__(self, index: slice) -> list[Observed]: ...

    def __getitem__(self, index: int | slice) -> Observed | list[Observed]:
        """Return an observation, or some."""
        numbers = range(self._count)[index]
        return self._made(numbers) if isinstance(numbers, int) else [self._made(number) for number in numbers]

    def without_last(self) -> Observations:
        """Return the same without the last observation."""
        shorter = Observations(self._turns, self._senses, first_ply=self._first_ply)
        shorter._count = self._count - 1
        return shorter

    def _made(self, number: int) -> Observed:
        own_turn, step = divmod(number + 1 - self._first_ply, _STEPS)
        ply = 2 * own_turn + self._first_ply
        if step == 0:
            return Observed("opponent", opponent_capture=self._turns[ply - 1].capture_square)
        if step == 1:
            return Observed("sense", unpack_cells(self._senses[ply]))
        turn = self._turns[ply]
        return Observed("move", move=(turn.requested, turn.taken, turn.capture_square))
