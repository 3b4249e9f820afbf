"""Takes an error past nurseries."""

from __future__ import annotations

from types import TracebackType


class CarriedError:
    """What the host's block raises, kept from the nurseries around it, each of which would make a group of it.

    :ivar error: what it has raised, to be raised again outside of them.
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
