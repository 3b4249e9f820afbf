"""How much of a long proof to run."""

from __future__ import annotations

import os


def proof_size(small: int, full: int, share: int | None = None) -> int:
    """The number of cases for this run, by the variable GMD_PROOF.

    :param small: for the ordinary run, where GMD_PROOF is not set.
    :param full: for GMD_PROOF=full, as ``make proof`` sets it.
    :param share: for GMD_PROOF=share, as the continuous integration does; a tenth of ``full`` unless given.
    :raises ValueError: GMD_PROOF is something else.
    """
    match os.environ.get("GMD_PROOF", ""):
        case "":
            return small
        case "share":
            return max(small, full // 10) if share is None else share
        case "full":
            return full
        case other:
            raise ValueError(f"GMD_PROOF={other}: it is 'share', 'full' or not set")
