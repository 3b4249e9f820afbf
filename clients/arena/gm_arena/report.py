"""What ``gmd connect`` says: a line for the beginning and the end of each game, and what they came to."""

from __future__ import annotations

from collections import Counter

import click

from gm_client.blocking import Color

from .bot import Bots, Place
from .bridge import Server
from .seat import Played

#: A side's part of a result, as it is told.
_OUTCOMES = {"1-0": {"white": "won", "black": "lost"}, "0-1": {"white": "lost", "black": "won"}}


class Lines:
    """Lines on standard output."""

    def __init__(self, bots: Bots) -> None:
        self._bots = bots
        self._counts = Counter({"won": 0, "lost": 0, "drawn": 0})
        self._failed = self._left_alone = 0

    @property
    def all_well(self) -> bool:
        """Whether no bot failed, and games that had to be left alone were not all there were."""
        return not self._failed and (not self._left_alone or any(self._counts.values()))

    def starts(self, server: Server) -> None:
        """The bot runs, and looks for games."""
        host = f"[{server.host}]" if ":" in server.host else server.host
        who = server.hello.get("name", server.hello.get("player"))
        click.echo(
            f"{self._bots.name} plays on {host}:{server.port} as player {who}; Ctrl-C finishes its games and leaves"
        )

    def begins(self, place: Place) -> None:
        opponent = "whoever joins" if place.opponent is None else f"player {place.opponent}"
        click.echo(f"game {place.game_id}: {place.color} against {opponent}, {place.variant}")

    def ends(self, played: Played) -> None:
        place, state = played.place, played.state
        outcome = _outcome(state["result"], place.color)
        self._counts[outcome] += 1
        self._failed += played.failed
        plies, failed = state["ply_index"], "; the bot failed" if played.failed else ""
        click.echo(
            f"game {place.game_id}: {outcome} as {place.color}, {state['result']} {state['termination']}, "
            f"{plies} {'ply' if plies == 1 else 'plies'}, {played.seconds:.1f} s{failed}"
        )

    def leaves_alone(self, game_id: int, reason: str) -> None:
        self._left_alone += 1
        click.echo(f"game {game_id} {reason}: left alone")

    def drains(self, in_hand: int) -> None:
        """The first Ctrl-C."""
        if in_hand:
            games = "the game" if in_hand == 1 else f"the {in_hand} games"
            click.echo(f"finishing {games} in hand; Ctrl-C again leaves at once", err=True)

    def sums_up(self) -> None:
        """The last line."""
        failed = f"; failed {self._failed}" if self._failed else ""
        click.echo(", ".join(f"{what} {count}" for what, count in self._counts.items()) + failed)


def _outcome(result: str, color: Color) -> str:
    """What a game came to for a side; one that somebody called off before it began has no result."""
    return "called off" if result == "*" else _OUTCOMES.get(result, {}).get(color, "drawn")
