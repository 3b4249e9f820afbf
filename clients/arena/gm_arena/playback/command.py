"""``gmd playback``: replay a blind game to a bot, and compare its choices."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
import trio

from ..address import server_options
from ..bot import BotFailed
from ..replay.command import find
from ..replay.recorded import BadRecord, Recorded
from ..report import log_to_standard_error
from .observed import turns_of
from .play import Choice, play_back


@click.command()
@click.argument("history", metavar="HISTORY")
@click.argument("bot")
@click.argument("color", type=click.Choice(["white", "black"]))
@click.option(
    "--game", "wanted", type=int, help="The game to take from a file with several: its id, or in PGN its number."
)
@server_options("The daemon that has the game, if HISTORY is a game's id.")
@click.option("--socket", "path", metavar="FILE", help="Use the operator's socket instead of the port.")
def playback(history: str, bot: str, color: str, wanted: int | None, **where: Any) -> None:
    """\b
    Example: gmd playback game.json reconchess:my_bot.py white

    Give BOT what the player of COLOR was shown in the recorded game HISTORY, and compare its choices.

    HISTORY is a file, as for gmd replay, or the id of a game on a daemon; BOT is reconchess:FILE.py or
    reconchess:MODULE. The bot is asked in the player's turns only, the last one included. Whatever it chooses, it
    is shown the results of the recorded actions. Its clock is the recorded one, which only gmd's JSON lines have;
    without it the bot has unlimited time.

    The exit status is 0 if the bot chose the same everywhere, 1 if it did not or failed, and 2 if there is no such
    game.
    """
    log_to_standard_error()
    try:
        recorded = find(history, wanted, where)
    except BadRecord as error:
        raise click.UsageError(str(error)) from None
    if recorded.history is None:
        raise click.UsageError(f"{recorded.where} is not a game of blind chess")
    report = _Report()
    turns = sum(1 for _ in turns_of(recorded, color == "white"))
    try:
        with _progress(turns, report) as see:
            trio.run(play_back, recorded, bot.removeprefix("reconchess:"), color == "white", see)
    except BotFailed as failure:
        report.fails(recorded, failure)
    report.sums_up(turns)
    sys.exit(0 if report.all_same else 1)


class _Report:
    """The choices compared so far."""

    def __init__(self) -> None:
        self.same = {"sense": 0, "move": 0}
        self.compared = {"sense": 0, "move": 0}
        self.turn = 0
        self.failed = False

    @property
    def all_same(self) -> bool:
        return not self.failed and self.same == self.compared

    def sees(self, choice: Choice) -> None:
        self.turn = choice.turn
        if not choice.compares:
            click.echo(f"turn {choice.turn}: {choice.what} {choice.chosen}; the record has none")
            return
        self.compared[choice.what] += 1
        self.same[choice.what] += choice.same
        if not choice.same:
            click.echo(f"turn {choice.turn}: {choice.what} {choice.chosen}, recorded {choice.recorded}")

    def fails(self, game: Recorded, failure: BotFailed) -> None:
        self.failed = True
        click.echo(f"{failure}\n{failure.details}".rstrip(), err=True)

    def sums_up(self, turns: int) -> None:
        senses, moves = (f"{what}s {self.same[what]} of {self.compared[what]}" for what in ("sense", "move"))
        failed = f"; the bot failed after it had chosen in turn {self.turn}" if self.failed else ""
        click.echo(f"{turns} {'turn' if turns == 1 else 'turns'}, chosen as recorded: {senses}, {moves}{failed}")


@contextmanager
def _progress(turns: int, report: _Report) -> Iterator[Callable[[Choice], None]]:
    """Show a bar on standard error, if that is a terminal: a bot may think for as long as it did in the game."""
    if not sys.stderr.isatty():
        yield report.sees
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task("turns", total=turns)

        def see(choice: Choice) -> None:
            report.sees(choice)
            bar.update(task, completed=choice.turn)

        yield see
