"""Turns between sources, however many wait of each."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

_T = TypeVar("_T")


class RoundRobin(Generic[_T]):
    """Waiters in round-robin order: the first of every source, then the second of every source."""

    def __init__(self) -> None:
        self._by_source: OrderedDict[str, OrderedDict[_T, None]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._by_source)

    def __contains__(self, source: str) -> bool:
        return source in self._by_source

    def add(self, source: str, waiter: _T) -> None:
        """Add a waiter behind the others of its source."""
        self._by_source.setdefault(source, OrderedDict())[waiter] = None

    def pop(self) -> _T:
        """Remove and return the next waiter."""
        source, waiters = self._by_source.popitem(last=False)
        waiter, _ = waiters.popitem(last=False)
        if waiters:
            self._by_source[source] = waiters
        return waiter

    def remove(self, source: str, waiter: _T) -> bool:
        """Remove a waiter; return whether it was there."""
        waiters = self._by_source.get(source)
        if waiters is None or waiter not in waiters:
            return False
        del waiters[waiter]
        if not waiters:
            del self._by_source[source]
        return True

    def newest(self, source: str) -> _T:
        """Return the waiter of a source that would have its turn last."""
        return next(reversed(self._by_source[source]))

    def longest(self) -> str:
        """Return the source with the most waiters."""
        return max(self._by_source, key=lambda source: len(self._by_source[source]))
