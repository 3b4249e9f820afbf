"""Arrays that a batch owns and shows."""

from __future__ import annotations

from functools import cached_property
from math import prod
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
    """The array in which something is shown: a new one each time, or one that is kept from its first use on.

    Kernels write it in elements of another type, such as words of eight bytes. A copy of it keeps none: each call
    writes the array anew.
    """

    def __init__(self, shape: tuple[int, ...], written: Any, dtype: Any) -> None:
        """:param shape: of the array as it is shown; the first axis counts the games.
        :param written: the type of the elements that kernels write; if another than ``dtype``, in two axes.
        """
        self._shape, self._dtype = shape, np.dtype(dtype)
        size = prod(shape[1:]) * self._dtype.itemsize // np.dtype(written).itemsize
        self._written = (shape if written is dtype else (shape[0], size), np.dtype(written))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs."""
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}

    def writable(self, new: bool) -> NDArray[Any]:
        """Return the array for a kernel, a new one or the one that is kept."""
        return _aligned(*self._written) if new else self._kept

    def shown(self, written: NDArray[Any]) -> NDArray[Any]:
        """Return an array of :meth:`writable` as it is shown: the one that is kept is for reading alone."""
        array = written.view(self._dtype).reshape(self._shape)
        return frozen(array) if written is self.__dict__.get("_kept") else array

    @cached_property
    def _kept(self) -> NDArray[Any]:
        return _aligned(*self._written)


def _aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an empty array that begins with a cache line: jax copies others when it takes them over."""
    size = prod(shape) * dtype.itemsize
    room = np.empty(size + 63, np.uint8)
    start = -room.__array_interface__["data"][0] % 64
    return room[start : start + size].view(dtype).reshape(shape)
