"""The message by which several machines play one match: each takes games, and reports those that it has played."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from .base import Reply, Request
from .contests import MAX_TOKEN, MIN_TOKEN, PLAIN, ContestResult

#: The most games of a match, games in hand, games in one message, and seconds of a lease.
MAX_MATCH_GAMES, MAX_HOLD, MAX_PLAYED, MAX_LEASE = 100_000, 100, 100, 3_600.0
#: The most arguments of a match, and the most characters of one, and of a game's detail.
MAX_ARGUMENTS, MAX_ARGUMENT, MAX_DETAIL = 100, 500, 200

GameNumber = Annotated[int, Meta(ge=1, le=MAX_MATCH_GAMES)]
GameCount = Annotated[int, Meta(ge=0, le=MAX_MATCH_GAMES)]
Argument = Annotated[str, Meta(max_length=MAX_ARGUMENT, pattern=PLAIN)]


class PlayedGame(Struct, kw_only=True, frozen=True):
    """A game of a shared match that is over."""

    number: GameNumber  #: In the match's plan, from 1.
    result: ContestResult  #: How it ended.
    game_id: Annotated[int, Meta(ge=0, le=2**53 - 1)] | None = None  #: The game on this server.
    detail: Annotated[str, Meta(max_length=MAX_DETAIL, pattern=PLAIN)] = ""  #: For the other workers.


class WorkClaim(Struct, kw_only=True, frozen=True):
    """A worker's part of a shared match: what it has played, knows and wants."""

    worker: Annotated[str, Meta(min_length=16, max_length=64, pattern=PLAIN)]  #: 16 to 64 characters, random.
    arguments: Annotated[list[Argument], Meta(max_length=MAX_ARGUMENTS)]  #: NAME=VALUE, the same for all.
    games: GameNumber  #: Planned, the same for all.
    want: Annotated[int, Meta(ge=0, le=MAX_HOLD)] = 0  #: How many games to hold.
    after: GameCount = 0  #: It knows the results up to this game.
    played: Annotated[list[PlayedGame], Meta(max_length=MAX_PLAYED)] = []  #: By this worker.
    decided: GameNumber | None = None  #: The last game that counts.
    lease: Annotated[float, Meta(ge=1, le=MAX_LEASE)] = 60.0  #: Seconds until others get its games.
    leave: bool = False  #: Give all games back.


class WorkShare(Struct, kw_only=True, frozen=True):
    """What a worker gets of a shared match: its games, and what became of all others."""

    hold: list[int]  #: The games that it is to play.
    counted: list[int]  #: Those of played that count as its own.
    results: list[PlayedGame]  #: Of all workers, after the game after, without a gap.
    over: int  #: Games that are over.
    workers: int  #: Workers that hold games.
    decided: int | None = None  #: The last game that counts.


class TakeWork(Request, tag="work", kw_only=True):
    """A worker's games of a match that several machines play: it reports those it has played, and takes others."""

    token: Annotated[str, Meta(min_length=MIN_TOKEN, max_length=MAX_TOKEN)]  #: 16 to 256 characters: names it.
    claim: WorkClaim  #: What a worker has and wants.


class WorkReply(Reply, kw_only=True):
    """The worker's share."""

    share: WorkShare  #: What it gets.
    error: None = None
