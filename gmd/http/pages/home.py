"""``/``: games, players and the ranked table, and how to begin a game."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from litestar import Request, get
from litestar.response import Template
from msgspec import convert

from gm_protocol.messages import GameRow
from gm_protocol.ranked import LeaderboardRow
from gm_protocol.state import ClockState, Color
from gmd.handlers.in_process import Refused
from gmd.http.pages.contest_view import ContestLine, lines_of, state_of
from gmd.http.pages.rendering import page
from gmd.http.pages.visit import FromVisit, Visit
from gmd.lobby.contests import Contest, Owner
from gmd.lobby.roster import BotKind

#: How many rows each list has, at most.
LIVE, FINISHED, OPEN, LEADERS, PRESENT, CONTESTS = 20, 10, 10, 20, 50, 8


@dataclass(frozen=True, slots=True)
class ListedSeat:
    """A seat in a list of games.

    :ivar name: its player's name; None for an open seat.
    :ivar seconds: the time that is left, as the visitor may see it; None where it is hidden, or there is no clock.
    """

    player: int | None
    name: str | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class ListedGame:
    """A game in a list.

    :ivar waiting: whether a seat is not taken yet.
    :ivar has_clock: whether the game has a clock.
    """

    game_id: int
    variant: str
    white: ListedSeat
    black: ListedSeat
    turn: Color
    ply_index: int
    result: str
    termination: str
    waiting: bool
    has_clock: bool


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of all players' games.

    :ivar offered: games with an open seat, which anybody may take.
    """

    offered: list[ListedGame]
    live: list[ListedGame]
    finished: list[ListedGame]

    def named(self) -> list[tuple[str, list[ListedGame]]]:
        """Return the lists with their names on the page."""
        return [("offered", self.offered), ("live", self.live), ("finished", self.finished)]


@dataclass(frozen=True, slots=True)
class HomeView:
    """What the home page shows.

    :ivar bots: the bots that the daemon runs, with their players.
    :ivar here: the names of the registered players who are present; None for a visitor who may not see them.
    :ivar mine: the visitor's own games that are not over.
    :ivar contests: those that run, and the latest others.
    """

    lists: Lists
    mine: list[ListedGame]
    here: list[str] | None
    leaders: list[LeaderboardRow]
    bots: list[tuple[int, BotKind]]
    contests: list[ContestLine]

    def bots_for(self, variant: str) -> list[tuple[int, BotKind]]:
        """Return the bots that play a variant, with their players."""
        return [(player, kind) for player, kind in self.bots if variant in kind.variants]


async def home_view(visit: Visit) -> HomeView:
    """Return what a visitor sees on the home page. It asks the protocol as the visitor."""
    leaders = await visit.ask("leaderboard", limit=LEADERS)
    return HomeView(
        lists=await lists_view(visit),
        mine=await mine_view(visit),
        here=_here(visit),
        leaders=convert(leaders["leaderboard"], list[LeaderboardRow]),
        bots=list(visit.backend.services.roster.bots()),
        contests=_contests(visit),
    )


async def lists_view(visit: Visit) -> Lists:
    """Return the lists of all players' games, with the clocks that a visitor may see.

    Other requests are answered between those for the lists: a game that begins or ends meanwhile is in two of them, and
    is shown in the later one.
    """
    waiting, live, finished = [await _rows(visit, status, limit) for status, limit in _LISTS]
    waiting, live = _without(waiting, live), _without(live, finished)
    return Lists(
        offered=[await line_of(row, visit) for row in waiting if None in (row.player_white, row.player_black)],
        live=[await line_of(row, visit) for row in live],
        finished=[await line_of(row, visit) for row in finished],
    )


async def mine_view(visit: Visit) -> list[ListedGame]:
    """Return the visitor's games that are not over."""
    return [await line_of(row, visit) for row in await _mine(visit)]


#: The lists of all players' games, and their lengths, in the order in which a game goes through them.
_LISTS = (("open", OPEN), ("live", LIVE), ("over", FINISHED))


def _without(rows: list[GameRow], others: list[GameRow]) -> list[GameRow]:
    """Return the rows of games that the others do not have."""
    found = {row.game_id for row in others}
    return [row for row in rows if row.game_id not in found]


async def _rows(visit: Visit, status: str, limit: int, player: int | None = None) -> list[GameRow]:
    """Return the newest games of a status, of all players or of one."""
    fields: dict[str, Any] = {"status": status, "limit": limit}
    ask = visit.ask_as_spectator if player is None else visit.ask
    return convert((await ask("games", **fields))["games"], list[GameRow])


async def _mine(visit: Visit) -> list[GameRow]:
    """Return the rows of the visitor's games that are not over."""
    if visit.player is None:
        return []
    return [row for status in ("live", "open") for row in await _rows(visit, status, LIVE, visit.player)]


async def line_of(row: GameRow, visit: Visit) -> ListedGame:
    """Return a game of a list, with its clocks as the visitor may see them while it is played."""
    clock, has_clock = await _clock(row, visit) if row.status == "live" else (None, False)
    return ListedGame(
        row.game_id,
        row.variant,
        ListedSeat(row.player_white, visit.name_of(row.player_white), None if clock is None else clock.white),
        ListedSeat(row.player_black, visit.name_of(row.player_black), None if clock is None else clock.black),
        row.turn,
        row.ply_index,
        row.result,
        row.termination,
        row.status == "open",
        has_clock,
    )


async def _clock(row: GameRow, visit: Visit) -> tuple[ClockState | None, bool]:
    try:
        shown = (await visit.look(row.game_id, brief=True))["state"]["clock"]
    except Refused:  # the game is gone
        return None, False
    return (None, False) if shown is None else (convert(shown, ClockState), True)


def _contests(visit: Visit) -> list[ContestLine]:
    """Return the contests that run, newest first, and behind them the latest others."""
    now = time.time()
    found = sorted(visit.backend.services.contests.newest_first(), key=lambda each: _less_wanted(each, now))
    return lines_of(found[:CONTESTS], now, visit.name_of)


def _less_wanted(contest: Contest, now: float) -> tuple[bool, bool]:
    """Return the order of contests: running ones first, and among them those of registered reporters."""
    return state_of(contest, now) != "running", contest.owner == Owner()


def _here(visit: Visit) -> list[str] | None:
    """Return who is present. Only registered players see it, as over reconchess's API."""
    if not visit.visitor.registered:
        return None
    return [account.name for account in visit.backend.services.lobby.presence.present()[:PRESENT]]


@get("/", include_in_schema=False)
async def home(request: Request[Any, Any, Any], visit: FromVisit) -> Template:
    """Return the home page; for a script that asks for ``?part=mine`` the list of the visitor's games alone."""
    if request.query_params.get("part") == "mine":
        return page(visit, "home_list.html", name="mine", lines=await mine_view(visit))
    return page(visit, "home.html", view=await home_view(visit))
