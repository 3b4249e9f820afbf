"""The output of ``gmd referee``: a line for each game as it ends, the result, and meanwhile the progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from ..endings import result_words
from .contestant import milliseconds
from .record import GameRecord, MatchRecord


def points(half_points: int) -> str:
    """Return a score as people write it."""
    whole, half = divmod(half_points, 2)
    return f"{whole or '' if half else whole}{'½' * half}"


@contextmanager
def progress(max_moves: int) -> Iterator[Callable[[GameRecord], None]]:
    """Show a progress bar of the moves of both games, at most, on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda game: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[move]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("game 1", total=2 * max_moves, move="")

        def show(game: GameRecord) -> None:
            last = game.turns[-1].san if game.turns else None
            move = f"move {len(game.turns) // 2 + 1} of {max_moves}{f', {last}' if last else ''}"
            bar.update(task, completed=len(game.turns), description=f"game {game.number}", move=move)

        yield show


def starts(seed: int, start: int | str, address: str) -> None:
    """Print the first line."""
    click.echo(f"seed {seed}: start position {start}; the games are on {address}")


def sums_up(record: MatchRecord) -> None:
    """Print a line for each game, and the result."""
    for game in record.games:
        click.echo(_game_line(game, record))
    click.echo(_notes(record), nl=False)
    click.echo(_verdict(record))


def _game_line(game: GameRecord, record: MatchRecord) -> str:
    moves = sum(turn.move is not None for turn in game.turns)
    plies = f"{moves} {'ply' if moves == 1 else 'plies'}"
    sides = f"White bot {game.white}, Black bot {game.black}"
    return f"game {game.number} ({game.game_id}): {sides}, {result_words(game.result, game.termination)}, {plies}"


def _notes(record: MatchRecord) -> str:
    """Return notes for the bots' authors, a line each."""
    lines = []
    for number, bot in enumerate(record.bots, 1):
        if bot.unknown_inputs:
            lines.append(f"bot {number} asked for unknown inputs: {', '.join(map(repr, bot.unknown_inputs))}\n")
        if bot.slowest_seconds is not None:
            limit = record.limits["turn"] + record.limits["margin"]
            late = "; the referee itself was late to look" if bot.slowest_seconds > limit else ""
            slowest = f"{bot.slowest_seconds * 1000:.1f} ms of {milliseconds(limit)}"
            lines.append(f"bot {number} needed {slowest} at most{late}\n")
    return "".join(lines)


def _verdict(record: MatchRecord) -> str:
    failure, winner = record.failure, record.winner
    if failure is not None:
        where = f"game {failure.game}, ply {failure.ply}" if failure.game else "its configuration"
        loser = record.bots[failure.bot - 1].command
        return f"bot {winner} has won: bot {failure.bot} ({loser}) has failed in {where}: {failure.text}"
    best, other = (points(score) for score in sorted(record.score, reverse=True))
    if winner is None:
        return f"drawn {best} : {other}"
    return f"bot {winner} ({record.bots[winner - 1].command}) has won: {best} : {other}"
