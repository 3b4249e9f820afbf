"""What a worker says of its games of a shared match, and what it gets."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from gm_protocol.work import PlayedGame
from gmd.contests.contest import Owner


class Claim(Struct, frozen=True):
    """A worker's request, checked.

    :ivar token: identifies the match: :meth:`~gmd.contests.contest.Owner.digest`.
    :ivar games: the number of games planned, as one of the arguments that all workers must share.
    :ivar want: the number of games to hold afterwards; those held already are kept.
    :ivar after: the worker knows the results of the games up to this number.
    :ivar decided: the match is decided after this game, says the worker.
    :ivar lease: seconds from now for which its games stay its own.
    :ivar leave: whether it gives back its games.
    """

    owner: Owner
    token: bytes
    worker: str
    arguments: Sequence[str]
    games: int
    want: int = 0
    after: int = 0
    played: Sequence[PlayedGame] = ()
    decided: int | None = None
    lease: float = 60.0
    leave: bool = False


class OtherMatch(Struct, frozen=True):
    """The refusal of a worker whose arguments are not those of the match.

    :ivar difference: a sentence that names the first argument that differs.
    """

    difference: str


def difference(stored: Sequence[str], given: Sequence[str]) -> str | None:
    """Return the first difference between two lists of ``NAME=VALUE``; None if there is none."""
    mine, others = (dict(text.partition("=")[::2] for text in texts) for texts in (given, stored))
    for name in [*others, *mine]:
        if others.get(name) != mine.get(name):
            return f"{name} is {_shown(others, name)} in this match, not {_shown(mine, name)}"
    return None if list(stored) == list(given) else "the arguments of this match have another order"


def _shown(arguments: dict[str, str], name: str) -> str:
    return arguments[name] or '""' if name in arguments else "not given"
