"""Arrays that a batch owns and shows."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

A = TypeVar("A", bound=NDArray[Any])


def frozen(array: A) -> A:
    """Return a view of an array that its reader cannot write to, and cannot make writable."""
    shared: Any = array
    view: Any = np.asarray(memoryview(shared).toreadonly())
    return cast(A, view)


class Buffer:
    """An array of bytes, made when it is first used. Kernels write it in words of eight bytes.

    A copy has the shape alone: each call writes the array anew.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: the two arrays share their memory, and a copy's would not."""
        return {"_shape": self._shape}

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """The words, (games, bytes of a game / 8)."""
        return np.zeros((self._shape[0], int(np.prod(self._shape[1:])) // 8), np.uint64)

    @cached_property
    def shown(self) -> NDArray[np.uint8]:
        """The bytes, for reading."""
        return frozen(self.words.view(np.uint8).reshape(self._shape))
