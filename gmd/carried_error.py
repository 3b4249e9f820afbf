"""A way to carry an exception past nurseries."""

from __future__ import annotations

from types import TracebackType


class CarriedError:
    """A context manager that keeps the exception of its block from the nurseries around it.

    Each nursery would wrap the exception in a group.

    :ivar error: the exception, to be raised again outside the nurseries.
    """

    def __init__(self) -> None:
        self.error: Exception | KeyboardInterrupt | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if isinstance(error, (Exception, KeyboardInterrupt)):  # a cancellation belongs to one of the nurseries
            self.error = error
        return self.error is not None
