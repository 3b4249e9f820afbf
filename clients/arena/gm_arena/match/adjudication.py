"""Adjudication of games by the bots' own scores, as in cutechess and fastchess: for lost games, and for dull draws.

The server knows nothing of it: the bot that has lost resigns, and of a draw one bot offers it and the other agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess
from chess import BLACK, WHITE

from gm_protocol.endings import Cause, Ending

from ..uci import parsed_score
from .options import Words, count, truth

#: Mates are beyond every score.
MATE_SCORE = 1_000_000

RESIGN = Words(
    "--resign",
    {"movecount": count(1), "score": count(1), "twosided": truth},
    ("movecount", "score"),
    "--resign movecount=3 score=600",
)
DRAW = Words(
    "--draw",
    {"movenumber": count(0), "movecount": count(1), "score": count(0)},
    ("movenumber", "movecount", "score"),
    "--draw movenumber=40 movecount=8 score=10",
)


@dataclass(frozen=True)
class ResignRule:
    """A bot has lost once its score was at most ``-score`` in its latest moves.

    :ivar movecount: how many moves in a row.
    :ivar score: in hundredths of a pawn.
    :ivar twosided: whether the opponent's scores of as many moves must be at least ``score``.
    """

    movecount: int
    score: int
    twosided: bool = False


@dataclass(frozen=True)
class DrawRule:
    """A game is drawn once both bots' scores were within ``score`` of 0 in their latest moves.

    :ivar movenumber: how many moves of each side must have been played.
    :ivar movecount: how many moves in a row, of each bot.
    :ivar score: in hundredths of a pawn.
    """

    movenumber: int
    movecount: int
    score: int


@dataclass(frozen=True)
class Rules:
    """The rules by which a match's games are adjudicated."""

    resign: ResignRule | None = None
    draw: DrawRule | None = None


class Adjudicator:
    """The scores of one game, and what the rules make of them. It is asked before a bot thinks about its turn."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._scores: dict[chess.Color, list[int | None]] = {WHITE: [], BLACK: []}

    def note(self, color: chess.Color, score: str | None) -> None:
        """Take a bot's score of its move, for itself; None where it gives none, which ends a row of scores."""
        self._scores[color].append(None if score is None else parsed_score(score).score(mate_score=MATE_SCORE))

    def ending(self, color: chess.Color, ply: int, *, offered: bool) -> Ending | None:
        """Return the ending that the side to move has to ask for; None if it plays on.

        :param offered: whether the opponent offers a draw.
        """
        if self._lost(color):
            return Ending.by(Cause.RESIGNATION, color)
        return Ending(Cause.AGREEMENT) if offered and self.drawn(ply) else None

    def drawn(self, ply: int) -> bool:
        """Return whether the scores are those of a draw, so that the side to move offers it, or agrees to one."""
        rule = self._rules.draw
        if rule is None or ply < 2 * rule.movenumber:
            return False
        return all(_all_within(scores, rule.movecount, -rule.score, rule.score) for scores in self._scores.values())

    def _lost(self, color: chess.Color) -> bool:
        rule = self._rules.resign
        if rule is None or not _all_within(self._scores[color], rule.movecount, -2 * MATE_SCORE, -rule.score):
            return False
        return not rule.twosided or _all_within(self._scores[not color], rule.movecount, rule.score, 2 * MATE_SCORE)


def _all_within(scores: Sequence[int | None], number: int, low: int, high: int) -> bool:
    """Return whether there are so many scores, and the latest of them are all in a range."""
    return len(scores) >= number and all(score is not None and low <= score <= high for score in scores[-number:])
