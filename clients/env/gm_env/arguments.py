"""Arguments of a batch, checked: kernels take what they are given."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INT64 = np.dtype(np.int64)


def whole(name: str, value: Any) -> int:
    """Return an integer argument, which may be one of numpy's.

    :raises TypeError: it is no integer.
    """
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not an integer") from None


def array(name: str, values: Any) -> NDArray[Any]:
    """Return an argument as an array of any type.

    :raises ValueError: it is none, such as lists of different lengths.
    """
    try:
        return np.asarray(values)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name}: they are no array: {error}") from None


def integers(name: str, values: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an argument as an array of integers that fit into int64.

    :raises TypeError: they are not integers.
    :raises ValueError: their shape is wrong.
    """
    found = array(name, values)
    if found.dtype is not _INT64 and (found.dtype.kind not in "iu" or not np.can_cast(found.dtype, _INT64)):
        raise TypeError(f"{name}: their type is {found.dtype}; use int64 or a smaller integer")
    if found.shape != shape:
        raise ValueError(f"{name}: their shape is {found.shape}; it must be {shape}")
    return found


def places(games: Any, n: int) -> NDArray[np.int64]:
    """Return the places of games of a batch of ``n``: of all for None, by a mask, bool[n], or by their numbers.

    :raises TypeError: they are neither bool nor integers.
    :raises ValueError: a mask has a wrong shape, or the numbers are not in one row.
    :raises IndexError: there is no such game.
    """
    if games is None:
        return np.arange(n)
    found = array("games", games)
    if found.dtype == np.bool_:
        if found.shape != (n,):
            raise ValueError(f"games: the mask's shape is {found.shape}; it must be ({n},)")
        return np.flatnonzero(found)
    if found.ndim > 1:
        raise ValueError(f"games: their shape is {found.shape}; give numbers in one row, or a mask, bool[{n}]")
    found = np.atleast_1d(found)
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"games: their type is {found.dtype}; use integers, or a mask, bool[{n}]")
    if found.size and not (found.min() >= 0 and found.max() < n):
        game = next(game for game in found.tolist() if not 0 <= game < n)
        raise IndexError(f"games: there is no game {game}; they are 0 to {n - 1}")
    return found.astype(np.int64)
