"""How many shared matches are kept, and which make room for another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from gmd.contests.contest import Owner

#: The most matches of all owners: with the most games these are some gigabytes.
MAX_MATCHES = 100
#: The most matches of a registered player, of all clients without one together, and of the operator.
MAX_OF_PLAYER, MAX_OF_OTHERS, MAX_OF_OPERATOR = 10, 10, 50


class Kept(Struct, frozen=True):
    """A match that is stored.

    :ivar changed: when it was last worked on.
    """

    match_id: int
    owner: Owner
    changed: float


def superfluous(kept: Sequence[Kept], owner: Owner) -> list[int]:
    """Return the matches that make room for another one of an owner: those that nobody has worked on for longest.

    Beyond :data:`MAX_MATCHES` it is one of the owner who has the most.
    """
    stalest = sorted(kept, key=lambda each: (each.changed, each.match_id))
    own = [each.match_id for each in stalest if each.owner == owner]
    most = MAX_OF_PLAYER if owner.player is not None else MAX_OF_OPERATOR if owner.operator else MAX_OF_OTHERS
    if len(own) >= most:
        return own[: len(own) - most + 1]
    if len(stalest) < MAX_MATCHES:
        return []
    counts = Counter(each.owner for each in stalest)
    return [max(stalest, key=lambda each: counts[each.owner]).match_id]
