"""The message by which a program that runs a match or a tournament reports how it stands, and what the report has."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from .base import PlayerId, Reply, Request
from .options import Variant

#: The most players, columns, points of the curve and games of a report.
MAX_PLAYERS, MAX_COLUMNS, MAX_POINTS, MAX_GAMES = 100, 120, 200, 50
#: The most bytes of a report as the server writes it, and the bounds of a token's length.
MAX_REPORT, MIN_TOKEN, MAX_TOKEN = 65_536, 16, 256

#: Text without characters that would change how the text around it is shown: controls, and marks of direction.
PLAIN = "^[^\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\u200e\\u200f]*$(?!\\n)"
PLAIN_RULE = "a text has no line breaks, other control characters, or marks of direction"

Title = Annotated[str, Meta(min_length=1, max_length=100, pattern=PLAIN)]
#: A cell of the table, or its head. The server checks all of a report at once for :data:`PLAIN`: a pattern on each of
#: thousands would take ten times as long.
Cell = Annotated[str, Meta(max_length=100)]
Note = Annotated[str, Meta(max_length=1000, pattern=PLAIN)]
Count = Annotated[int, Meta(ge=0, le=10**9)]
#: A number that a page shows: finite, and not so large that a curve could not be drawn.
Amount = Annotated[float, Meta(ge=-1e6, le=1e6)]
Number = Annotated[int, Meta(ge=0, lt=MAX_PLAYERS)]

ContestForm = Literal["match", "tournament"]
ContestStatus = Literal["running", "stopped", "over"]
ContestResult = Literal["1-0", "0-1", "1/2-1/2", "+/-", "-/+", "-/-"]
Hypothesis = Literal["H0", "H1"]


class ContestPlayer(Struct, kw_only=True, frozen=True):
    """A row of the table. Its ``cells`` are its results against each player, or in each round."""

    name: Title  #: As in the table.
    player: PlayerId | None = None  #: On this server, if known.
    points: Amount = 0.0  #: Of all games.
    games: Count = 0  #: Played and over.
    wins: Count = 0  #: Of these.
    draws: Count = 0  #: Of these.
    losses: Count = 0  #: Of these.
    cells: Annotated[list[Cell], Meta(max_length=MAX_COLUMNS)] = []  #: One for each column.


class ContestInterval(Struct, kw_only=True, frozen=True):
    """An estimate, and the interval in which the true value is in 19 of 20 cases."""

    value: Amount  #: The estimate.
    low: Amount  #: The interval's lower end.
    high: Amount  #: Its upper end.


class ContestSprt(Struct, kw_only=True, frozen=True):
    """A sequential probability ratio test of elo0 (H0) against elo1 (H1)."""

    elo0: Amount  #: The Elo of H0.
    elo1: Amount  #: The Elo of H1.
    alpha: Annotated[float, Meta(gt=0, lt=0.5)]  #: The chance to accept H1 where H0 holds.
    beta: Annotated[float, Meta(gt=0, lt=0.5)]  #: The chance to accept H0 where H1 holds.
    model: Literal["logistic", "normalized"]  #: The kind of Elo.
    lower: Amount  #: At or below this ratio H0 is accepted.
    upper: Amount  #: At or above this ratio H1 is accepted.
    llr: Amount  #: The log-likelihood ratio now.
    accepted: Hypothesis | None = None  #: The hypothesis accepted.


class ContestPoint(Struct, kw_only=True, frozen=True):
    """How a match of two stood after some games."""

    games: Count  #: After so many games.
    elo: Amount | None = None  #: The estimate of the first player's Elo.
    low: Amount | None = None  #: Its interval's lower end.
    high: Amount | None = None  #: Its upper end.
    llr: Amount | None = None  #: The test's log-likelihood ratio.


class ContestGame(Struct, kw_only=True, frozen=True):
    """A game of a contest. ``white`` and ``black`` are numbers of players, from 0."""

    game_id: Annotated[int, Meta(ge=0, le=2**53 - 1)]  #: The game.
    white: Number  #: The place in players.
    black: Number  #: The place in players.
    result: ContestResult | None = None  #: Left out: in progress.


class ContestReport(Struct, kw_only=True, frozen=True):
    """How a contest stands. It says nothing of games that are not over but that they are played."""

    title: Title  #: The contest's name.
    form: ContestForm  #: What it is.
    variant: Variant  #: Of its games.
    status: ContestStatus = "running"  #: stopped: it may be resumed.
    note: Note = ""  #: A sentence: what is played, or the verdict.
    planned: Count | None = None  #: Games planned, if known.
    games: Count = 0  #: Games that are over.
    players: Annotated[list[ContestPlayer], Meta(min_length=1, max_length=MAX_PLAYERS)]  #: The table, best first.
    columns: Annotated[list[Cell], Meta(max_length=MAX_COLUMNS)] = []  #: The heads of the cells.
    score: ContestInterval | None = None  #: The first player's, from 0 to 1.
    elo: ContestInterval | None = None  #: The first player's, over the second.
    sprt: ContestSprt | None = None  #: The test that ends the match.
    curve: Annotated[list[ContestPoint], Meta(max_length=MAX_POINTS)] = []  #: The past, oldest first.
    latest: Annotated[list[ContestGame], Meta(max_length=MAX_GAMES)] = []  #: Games, newest first.


class ReportContest(Request, tag="contest", kw_only=True):
    """A report of a contest, in place of the one before with the same player and token; the first one begins it."""

    retry = "always"
    token: Annotated[str, Meta(min_length=MIN_TOKEN, max_length=MAX_TOKEN)]  #: 16 to 256 characters, for one contest.
    report: ContestReport  #: How it stands.


class ContestReply(Reply, kw_only=True):
    """The number of the contest, whose page is ``/contests/NUMBER``."""

    contest_id: int  #: Its page: /contests/ID.
    error: None = None
