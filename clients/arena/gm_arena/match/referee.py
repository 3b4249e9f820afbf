"""``gmd match --referee codingame``: two games by the rules of CodinGame's chess puzzle, each bot in one process."""

from __future__ import annotations

import random
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import chess
import click
import trio

from gm_client.blocking import BadReply, ConnectionLost, GmError
from gm_protocol.endings import Cause

from ..bot import Bot, BotFailed, Place
from ..codingame import MAX_MOVES
from ..codingame_bot import CodinGameBot, CodinGameBots
from ..crosstable import HALF_POINTS, halves
from ..endings import ending_of
from ..process import BotProcess, memory_for
from ..stopping import Stopped, unless_stopped
from .game import Contestant, MatchError, Playing, Terms
from .openings import Opening, openings_for
from .outputs import Outputs
from .plan import fixtures
from .record import Record, RecordFile
from .report import Report
from .settings import OPEN_PLAYERS
from .workers import served, servers

#: Exit statuses. In a shell ``&&`` tests whether both bots kept to the rules.
PLAYED, FAILED, NO_VERDICT = 0, 1, 3

#: Seconds for a turn, and for the configuration.
TURN_SECONDS, FIRST_TURN_SECONDS = 0.05, 1.0

#: Seconds that the daemon's clock gives a bot beyond that: the referee decides who is late, at the bot's pipe. The
#: other things on that clock, such as the commit of the opponent's move, take milliseconds.
CLOCK_SLACK = 1.0

#: The options of ``gmd match`` that have a meaning here.
USED = {
    *("referee", "seed", "variant", "openings", "max_moves", "movetime", "margin", "json_out", "pgn_out", "csv_out"),
    *("server", "tls", "games", "verbose"),
}

#: The classical position, in Scharnagl's numbering.
CLASSICAL = 518

_STATE = (1 << 48) - 1


class NotJudged(click.ClickException):
    """There is no verdict, for a reason that no bot is to blame for."""

    exit_code = NO_VERDICT


def judge(texts: Sequence[str], given: Mapping[str, Any], defaults: Mapping[str, Any]) -> int:
    """Play a match between two commands; return the exit status.

    It is 0 if both games were played, whoever won; 1 if a bot lost by failing; 128 and the number of a signal that
    ended the match.

    :param given: the options of ``gmd match``, by name; ``defaults`` are those of a command line without any.
    :raises click.UsageError: the command line is wrong, or a bot cannot be started.
    :raises NotJudged: the match could not be decided.
    """
    for name in sorted(given.keys() - USED):
        if given[name] != defaults[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} has no meaning with --referee codingame: leave it out")
    if len(texts) != 2 or given["games"] != defaults["games"]:
        raise click.UsageError("--referee codingame: a match is two games of two bots")
    if given["variant"] not in (None, "chess960", "crazyhouse"):
        raise click.UsageError(f"--variant {given['variant']}: CodinGame's match is chess960 or crazyhouse")
    seed = secrets.randbelow(2**31 - 1) + 1 if given["seed"] is None else given["seed"]
    variant = given["variant"] or "chess960"
    max_moves, margin = given["max_moves"] or MAX_MOVES, given["margin"] / 1000
    seconds = (given["movetime"] or TURN_SECONDS) + margin
    options = {
        "clock": {"first_move": seconds + CLOCK_SLACK, "per_move": seconds + CLOCK_SLACK},
        "draws": "automatic",
        "max_moves": max_moves,
    }
    opening = Opening("start", position=start_position(seed))
    if given["openings"] is not None:
        opening, *_ = openings_for(variant, given["openings"], plies=0, seed=seed, in_order=True, most=1)
    bots = [Refereed(text.removeprefix("codingame:"), seconds, margin, max_moves) for text in texts]
    try:
        return trio.run(unless_stopped, partial(_play, bots, opening, Terms(variant, options, seed), given))
    except Stopped as stopped:
        return stopped.status
    except BotFailed as failure:
        raise click.UsageError(str(failure)) from None
    except (GmError, ConnectionLost, BadReply, OSError, MatchError) as error:
        raise NotJudged(str(error)) from None


async def _play(bots: Sequence[Refereed], opening: Opening, terms: Terms, given: Mapping[str, Any]) -> int:
    first = random.randrange(1, OPEN_PLAYERS) if given["server"] is not None else 1
    labels = [f"bot {number}" for number in (1, 2)]
    contestants = [Contestant(labels[number], bot, first + number) for number, bot in enumerate(bots)]
    records: list[Record] = []
    path = given["json_out"]
    file = None if path is None else RecordFile.begin(path, {"bots": [each.name for each in bots], "seed": terms.seed})
    start = opening.fen if opening.position is None else opening.position
    click.echo(f"seed {terms.seed}: start position {start}")
    error: Exception | None = None
    show = Report(labels, 2, None, verbose=given["verbose"])
    with Outputs(given["pgn_out"], given["csv_out"], []) as outputs, show as report:
        async with served(given) as (where, _):
            try:
                async with _running(bots):
                    playing = Playing(servers(where, given, None), contestants, terms)
                    for fixture in fixtures(2, 2, [opening], kind="round-robin"):
                        record = await playing.play(fixture)
                        _end(bots, fixture.bots, record)
                        records.append(record)
                        if file is not None:
                            file.add(record)
                        outputs.add(record)
                        report.played(record)
                        if record["faults"]:
                            break
            except Exception as raised:  # raised after the daemon has closed, since it is not the daemon's
                error = raised
    if file is not None:
        file.close()
    if error is not None:
        raise error
    click.echo(verdict(bots, records[-1]))
    return FAILED if records[-1]["faults"] else PLAYED


def _end(bots: Sequence[Refereed], colors: tuple[int, int], record: Record) -> None:
    """Count a game for both bots, and add their comments to its record.

    :raises MatchError: the daemon's clock has decided, which is for the referee to do.
    """
    ended = ending_of(record["termination"], record["variant"])
    if ended is not None and ended.cause in (Cause.TIMEOUT, Cause.TIMEOUT_DRAW):
        raise MatchError(f"more than {CLOCK_SLACK:g} s were lost between the bots and the daemon")
    white, black = (bots[number] for number in colors)
    record["comments"] = {**white.comments, **black.comments}
    for bot, points in zip((white, black), HALF_POINTS[record["result"]], strict=True):
        bot.comments = {}
        bot.game, bot.points = bot.game + 1, bot.points + points
    white.lead, black.lead = black.points, white.points


def verdict(bots: Sequence[Refereed], latest: Record) -> str:
    """Return who has won, in a sentence: the one whose opponent has failed, or the one with more points."""
    for color, fault in latest["faults"].items():
        loser = latest[color]
        winner = latest["black" if color == "white" else "white"]
        return (
            f"{winner} has won: {loser} has failed in game {latest['game']}, ply {latest['plies']}: {fault['reason']}"
        )
    one, other = (bot.points for bot in bots)
    best = f"{halves(max(one, other) / 2)} : {halves(min(one, other) / 2)}"
    return f"drawn {best}" if one == other else f"bot {1 if one > other else 2} has won: {best}"


# --- A bot -------------------------------------------------------------------------------------------------------


class Refereed(CodinGameBots):
    """One of the two bots of a match: a process that plays both games.

    :ivar game: the number of the game in progress; ``points`` are the bot's half-points, ``lead`` its opponent's.
    :ivar comments: the bot's comments in this game, by ply.
    """

    def __init__(self, command: str, seconds: float, margin: float, max_moves: int) -> None:
        """:param seconds: for a turn, with the margin; ``margin`` is added to the configuration's, too."""
        super().__init__(command)
        self.seconds, self.first_seconds, self.max_moves = seconds, FIRST_TURN_SECONDS + margin, max_moves
        self.game, self.points, self.lead = 1, 0, 0
        self.comments: dict[str, str] = {}
        self.wanted: list[str] | None = None
        self.process: BotProcess

    async def run(self, number: int, nursery: trio.Nursery) -> None:
        """Start the process.

        :raises BotFailed: it cannot be started.
        """
        memory = memory_for(None, games=1)
        self.process = await BotProcess.start(self._command, f"bot {number}", nursery, max_memory=memory)

    async def start(self, nursery: trio.Nursery) -> Bot:
        return RefereedBot(self)


class RefereedBot(CodinGameBot):
    """A game of one of the two."""

    def __init__(self, bots: Refereed) -> None:
        super().__init__(bots.process, random.Random())
        self._bots, self._inputs, self.configuration_seconds = bots, bots.wanted, bots.first_seconds
        self.game, self.score_so_far = bots.game, (bots.points, bots.lead)

    async def begin(self, place: Place) -> None:
        label = self._process.label
        place.options = {**place.options, "max_moves": self._bots.max_moves}
        await super().begin(place)
        self._process.label = label
        if self._inputs is None:  # before the first game, one bot after the other
            self._inputs = self._bots.wanted = await self._configure()

    async def _answer(self, board: chess.Board) -> str:
        """Return the bot's line. One that has arrived when the referee looks, after the time is up, is in time: no bot
        loses because the machine is slow in waking the referee.
        """
        with trio.move_on_after(self._bots.seconds):
            line = await super()._answer(board)
            if comment := line.partition(" ")[2]:
                self._bots.comments[str(len(board.move_stack))] = comment
            return line
        raise BotFailed(f"{self._process.label}: no output in {1000 * self._bots.seconds:g} ms", fault="stall")

    async def aclose(self) -> None:
        """Do nothing: the process plays on in the next game."""


@asynccontextmanager
async def _running(bots: Sequence[Refereed]) -> AsyncIterator[None]:
    """Run the bots' processes, and kill them at the end, as on CodinGame: few bots notice the end of their input."""
    error: Exception | None = None
    async with trio.open_nursery() as nursery:
        started: list[BotProcess] = []
        try:
            for number, bot in enumerate(bots, 1):
                await bot.run(number, nursery)
                started.append(bot.process)
            yield
        except Exception as raised:  # raised outside the nursery, which would wrap it in a group
            error = raised
        finally:
            with trio.CancelScope(shield=True):
                for process in started:
                    await process.kill()
            nursery.cancel_scope.cancel()
    if error is not None:
        raise error


# --- The start position that CodinGame draws for a seed ----------------------------------------------------------


class JavaRandom:
    """``java.util.Random``, whose documentation defines its numbers exactly: CodinGame's referee is a Java program."""

    def __init__(self, seed: int) -> None:
        """:param seed: of 64 bits, of which 48 are used."""
        self._state = (seed ^ 0x5DEECE66D) & _STATE

    def bits(self, count: int) -> int:
        """Return so many random bits, at most 32, as an unsigned number."""
        self._state = (self._state * 0x5DEECE66D + 0xB) & _STATE
        return self._state >> 48 - count

    def below(self, bound: int) -> int:
        """Return ``nextInt(bound)``: a number from 0 to below ``bound``, all equally likely."""
        drawn = self.bits(31)
        if bound & bound - 1 == 0:
            return bound * drawn >> 31
        while drawn - drawn % bound + bound > 1 << 31:
            drawn = self.bits(31)
        return drawn % bound


def start_position(seed: int) -> int:
    """Return the number of the start position, in Scharnagl's numbering.

    The dice are those of the usual method for Chess960, in the referee's order: the bishop on the files a, c, e, g; the
    other bishop; the queen; and both knights on free squares. Seed 0 is the classical position.
    """
    if seed == 0:
        return CLASSICAL
    dice = JavaRandom(seed)
    row = [""] * 8
    row[2 * dice.below(4)] = "B"
    row[2 * dice.below(4) + 1] = "B"
    for piece, sides in (("Q", 6), ("N", 5), ("N", 4), ("R", 1), ("K", 1), ("R", 1)):
        free = [file for file, taken in enumerate(row) if not taken]
        row[free[dice.below(sides) if sides > 1 else 0]] = piece
    first = "".join(row)
    board = chess.BaseBoard(f"{first.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{first}")
    number = board.chess960_pos()
    assert number is not None
    return number
