"""How a game ended, in words for people: one set for all that ``gmd`` prints."""

from __future__ import annotations

import re

from gmd.games.variants import captures_kings

#: Terminations of ``PROTOCOL``, without their side, whose own word does not say it.
_WORDS = {
    "victory": "checkmate",
    "taken_draw": "draw claimed",
    "draw_agreed": "draw agreed",
    "draw_repetition": "threefold repetition",
    "draw_fifty_moves": "fifty moves",
    "draw_material": "insufficient material",
    "draw_move_limit": "move limit",
    "draw_turn_limit": "turn limit",
    "forfeit": "illegal move",
    "timeout": "time",
}
#: The same where a king is captured, and none is mated.
_CAPTURED = {"victory": "king captured"}

#: The side behind a termination; the result says which it was.
_SIDE = re.compile(r"_(white|black)$")


def ending_words(termination: str, variant: str = "standard") -> str:
    """Return how a game ended: ``checkmate`` for ``victory_white``.

    :param termination: as in ``PROTOCOL``; anything else, such as another program's Termination tag, stays as it is.
    :param variant: as in ``PROTOCOL``.
    """
    kind = _SIDE.sub("", termination)
    words = {**_WORDS, **_CAPTURED} if captures_kings(variant) else _WORDS
    return words.get(kind, kind)


def result_words(result: str, termination: str, variant: str = "standard") -> str:
    """Return a game's result and how it came about: ``1-0 checkmate``."""
    return f"{result} {ending_words(termination, variant)}"
