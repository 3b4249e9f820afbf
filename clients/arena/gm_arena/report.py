"""The output of ``gmd connect``: a line for the beginning and the end of each game, and a summary."""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from datetime import UTC, datetime

import click

from gm_client.blocking import Color

from .bot import Bots, Place
from .endings import result_words
from .seat import Played

#: A side's outcome by result, in words.
_OUTCOMES = {"1-0": {"white": "won", "black": "lost"}, "0-1": {"white": "lost", "black": "won"}}


#: Every line has its time in UTC, since output of weeks is read afterwards. The format is that of ``gmd serve``'s log.
TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def log_to_standard_error() -> None:
    """Log to standard error, with the bots' own output, in lines of the same format as those below."""
    formatter = logging.Formatter("%(asctime)s %(message)s", TIME_FORMAT)
    formatter.converter = time.gmtime
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler])


class Lines:
    """Lines on standard output."""

    def __init__(self, bots: Bots) -> None:
        self._bots = bots
        self._counts = Counter({"won": 0, "lost": 0, "drawn": 0})
        self._failed = self._left_alone = 0

    @property
    def all_well(self) -> bool:
        """Whether no bot failed and not every game had to be left alone."""
        return not self._failed and (not self._left_alone or any(self._counts.values()))

    def starts(self, server: str, player: str) -> None:
        """Report that the bot runs and looks for games."""
        _say(f"{self._bots.name} plays on {server} as player {player}; Ctrl-C finishes its games and leaves")

    def begins(self, place: Place) -> None:
        opponent = "whoever joins" if place.opponent is None else place.opponent_name
        if opponent == str(place.opponent):
            opponent = f"player {opponent}"
        waits = "; it begins when the invitation is accepted" if place.invites else ""
        _say(f"game {place.game_id}: {place.seat} against {opponent}, {place.variant}{waits}")

    def ends(self, played: Played) -> None:
        place, state = played.place, played.state
        outcome = _outcome(state["result"], place.seat)
        self._counts[outcome] += 1
        self._failed += played.failed
        plies, failed = state["ply_index"], "; the bot failed" if played.failed else ""
        result = result_words(state["result"], state["termination"], place.variant)
        _say(
            f"game {place.game_id}: {outcome} as {place.seat}, {result}, "
            f"{plies} {'ply' if plies == 1 else 'plies'}, {played.seconds:.1f} s{failed}"
        )

    def leaves_alone(self, game_id: int, reason: str) -> None:
        self._left_alone += 1
        _say(f"game {game_id} {reason}: left alone")

    def declines(self, game_id: int, reason: str) -> None:
        _say(f"game {game_id} {reason}: declined")

    def drains(self, in_hand: int) -> None:
        """Report that the first Ctrl-C was received."""
        if in_hand:
            games = "the game" if in_hand == 1 else f"the {in_hand} games"
            _say(f"finishing {games} in hand, however long it takes; Ctrl-C again leaves at once", err=True)

    def sums_up(self) -> None:
        """Print the last line."""
        failed = f"; failed {self._failed}" if self._failed else ""
        _say(", ".join(f"{what} {count}" for what, count in self._counts.items()) + failed)


def _outcome(result: str, color: Color) -> str:
    """Return a side's outcome in words; a game called off before it began has no result."""
    return "called off" if result == "*" else _OUTCOMES.get(result, {}).get(color, "drawn")


def _say(text: str, *, err: bool = False) -> None:
    click.echo(f"{datetime.now(UTC):{TIME_FORMAT}} {text}", err=err)
