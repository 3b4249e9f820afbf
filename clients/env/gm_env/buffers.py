"""Arrays that a batch owns and shows."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

A = TypeVar("A", bound=NDArray[Any])


def frozen(array: A) -> A:
    """Return a view of an array that its reader cannot write to."""
    view = array.view()
    view.flags.writeable = False
    return view


class Buffer:
    """An array of bytes, made when it is first used. Kernels write it in words of eight bytes."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """The words, (games, bytes of a game / 8)."""
        return np.zeros((self._shape[0], int(np.prod(self._shape[1:])) // 8), np.uint64)

    @cached_property
    def shown(self) -> NDArray[np.uint8]:
        """The bytes, for reading."""
        return frozen(self.words.view(np.uint8).reshape(self._shape))
