"""``python -m gm_bots.minimax``: the engine, by UCI on the standard streams."""

from __future__ import annotations

import os
import sys

from .uci import Uci


def main() -> None:
    """Handle commands until the input ends. If nobody reads the output any more, end at once."""
    try:
        Uci(_write).run(sys.stdin)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the final flush does not fail


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
