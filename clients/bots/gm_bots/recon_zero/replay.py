"""The samples to learn from: a ring buffer in memory-mapped files, which drops the oldest first.

A sample keeps only the few moves that were visited, and not a number for each of 20,480: so it takes 5 kB and not 86.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from .lockstep.encoding import PLANES, Floats

#: Moves kept of a sample; of more, the least visited are left out. Few positions have more.
MOVES = 128

#: The files, with the shape and the type of a sample's part in each.
ARRAYS: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
    "planes": ((PLANES, 8, 8), np.float32),
    "moves": ((MOVES,), np.uint16),
    "shares": ((MOVES,), np.float32),
    "searched": ((), np.float32),
}


class BadSamples(ValueError):
    """Files are missing, cannot be read, or belong to another training."""


@dataclass(frozen=True)
class Sample:
    """One decision of a game.

    :ivar planes: float32[15, 8, 8], the true position (:mod:`.lockstep.encoding`).
    :ivar visits: how often a move was visited, by its number by from, to and promotion (:mod:`gm_env.actions`).
    :ivar searched: the value that the search gave the position, from -1 to 1.
    """

    planes: Floats
    visits: dict[int, int]
    searched: float


@dataclass(frozen=True)
class Batch:
    """Samples to learn from at once: the first index of each array is the sample.

    :ivar moves: (samples, moves), the numbers of moves; what is left over of a sample's has the number 0.
    :ivar shares: (samples, moves), how much each was visited of all; 0 for what is left over.
    """

    planes: Floats
    moves: NDArray[np.int64]
    shares: Floats
    searched: Floats


class Replay:
    """The ring buffer, in a directory.

    :ivar added: how many samples were ever added. A checkpoint keeps it instead of the files, so that a training that
        continues from one continues with the samples of that time.
    """

    def __init__(self, directory: Path, capacity: int, added: int = 0) -> None:
        """Open the buffer, or create it if there is none.

        :param added: the number of samples when the checkpoint was made.
        :raises BadSamples: the files have another capacity; or files are missing although there should be samples.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self.capacity, self.added = capacity, added
        self._arrays = {
            name: _open(directory / f"{name}.npy", (capacity, *shape), kind, added)
            for name, (shape, kind) in ARRAYS.items()
        }

    def __len__(self) -> int:
        """Return how many samples there are."""
        return min(self.added, self.capacity)

    def add(self, sample: Sample) -> None:
        """Add a sample; if there is no room, in place of the oldest.

        :raises ValueError: its search has visited no move.
        """
        moves, shares = _most_looked_at(sample.visits)
        at, arrays = self.added % self.capacity, self._arrays
        arrays["planes"][at] = sample.planes
        arrays["moves"][at], arrays["shares"][at] = moves, shares
        arrays["searched"][at] = sample.searched
        self.added += 1

    def draw(self, count: int, rng: np.random.Generator) -> Batch:
        """Draw so many samples, all with the same probability.

        :raises ValueError: there is none.
        """
        chosen = rng.integers(len(self), size=count)
        taken = {name: np.asarray(array[chosen]) for name, array in self._arrays.items()}
        moves = taken["moves"].astype(np.int64)
        return Batch(taken["planes"], moves, taken["shares"], taken["searched"])

    def flush(self) -> None:
        """Write all samples that were added to disk."""
        for array in self._arrays.values():
            array.flush()


def _open(path: Path, shape: tuple[int, ...], kind: type[np.generic], added: int) -> np.memmap[Any, Any]:
    if not path.exists():
        if added:
            raise BadSamples(
                f"{path} is missing, and the training has {added} samples: restore it, or begin in another directory"
            )
        return open_memmap(path, mode="w+", dtype=kind, shape=shape)
    try:
        array = open_memmap(path, mode="r+")
    except ValueError as error:
        raise BadSamples(f"{path} cannot be read: {error}: restore it, or begin in another directory") from None
    if array.shape != shape or array.dtype != kind:
        raise BadSamples(
            f"{path} has the shape {array.shape}, not {shape}: it belongs to a training with other settings"
        )
    return array


def _most_looked_at(visits: dict[int, int]) -> tuple[NDArray[np.uint16], Floats]:
    most = sorted(visits.items(), key=lambda each: (-each[1], each[0]))[:MOVES]
    looked_at = [(move, count) for move, count in most if count]
    if not looked_at:
        raise ValueError("visits: the search of a sample has visited no move")
    moves, shares = np.zeros(MOVES, np.uint16), np.zeros(MOVES, np.float32)
    moves[: len(looked_at)] = [move for move, _ in looked_at]
    shares[: len(looked_at)] = [count for _, count in looked_at]
    return moves, shares / shares.sum()
