"""The import of structlog without rich, for processes that print tracebacks plainly, such as those of ``gmd``."""

from __future__ import annotations

import sys
from importlib import import_module


def import_structlog() -> None:
    """Import structlog before anything else does, without rich, which it would use for tracebacks.

    Importing rich takes a tenth of a daemon's start. Programs that embed the daemon keep structlog as they know it.
    """
    if "structlog" in sys.modules:
        return
    rich = sys.modules.get("rich")
    sys.modules["rich"] = None  # type: ignore[assignment] # Python's way to let an import fail
    try:
        import_module("structlog")
    finally:
        del sys.modules["rich"]
        if rich is not None:
            sys.modules["rich"] = rich
