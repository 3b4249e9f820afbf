"""``/``: games, players and the ranked table, and how to begin a game."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

from litestar import Request, get
from litestar.response import Template
from msgspec import Meta, Struct, convert, structs

from gm_protocol.messages import GameRow
from gm_protocol.options import Variant
from gm_protocol.ranked import LeaderboardRow
from gm_protocol.state import ClockState, Color
from gmd.games.variant import Variant as Rules
from gmd.games.variants import VARIANTS
from gmd.handlers.in_process import Refused
from gmd.http.pages.answers import read_fields
from gmd.http.pages.contest_view import ContestLine, lines_of, state_of
from gmd.http.pages.rendering import page
from gmd.http.pages.visit import FromVisit, Visit
from gmd.lobby.contests import Contest, Owner
from gmd.lobby.roster import EVERY_VARIANT

#: How many rows each list has, at most.
LIVE, FINISHED, OPEN, LEADERS, PRESENT, CONTESTS = 20, 10, 10, 10, 50, 8
#: The opponent of a game whose link is shared.
LINK = "link"


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

    @property
    def featured(self) -> ListedGame | None:
        """The game whose board is shown: the newest one that is played and hides nothing, else the latest finished one.

        A game in progress that hides something never is: there is nothing to see of it.
        """
        seen = [line for line in self.live if not VARIANTS[line.variant].hides]
        begun = [line for line in seen if line.ply_index]
        return next(iter([*begun, *seen, *(line for line in self.finished if line.result != "*")]), None)

    def named(self) -> list[tuple[str, list[ListedGame]]]:
        """Return the lists with their names on the page."""
        return [("offered", self.offered), ("live", self.live), ("finished", self.finished)]


@dataclass(frozen=True, slots=True)
class Opponent:
    """An opponent to choose in the form for a new game.

    :ivar value: of the field ``opponent``.
    :ivar level: how strong it is, or who; ``line`` says the rest.
    :ivar name: a bot's; empty where it is the level's, and for people.
    """

    value: str
    level: str
    line: str
    variants: tuple[str, ...]
    name: str = ""


class Chosen(Struct, frozen=True):
    """The choices with which the form for a new game begins; it is what the query of the home page may hold.

    :ivar opponent: a value of :class:`Opponent`; empty for the usual one.
    :ivar name: a registered player to invite.
    """

    variant: Variant = "standard"
    opponent: Annotated[str, Meta(max_length=100)] = ""
    name: Annotated[str, Meta(max_length=100)] = ""


@dataclass(frozen=True, slots=True)
class HomeView:
    """What the home page shows.

    :ivar opponents: who can be played: the bots that the daemon runs, the weakest first, and people.
    :ivar here: the registered players who are present; None for a visitor who may not see them.
    :ivar mine: the visitor's own games that are not over.
    :ivar contests: those that run, and the latest others.
    """

    lists: Lists
    mine: list[ListedGame]
    here: list[tuple[int, str]] | None
    leaders: list[LeaderboardRow]
    opponents: list[Opponent]
    chosen: Chosen
    contests: list[ContestLine]

    @property
    def variants(self) -> list[Rules]:
        """The variants in the order of the form: chess and those that hide something first."""
        return sorted(VARIANTS.values(), key=lambda each: not (each.hides or each.name == "standard"))


async def home_view(visit: Visit, chosen: Chosen) -> HomeView:
    """Return what a visitor sees on the home page. It asks the protocol as the visitor.

    :param chosen: the choices with which the form begins.
    """
    leaders = await visit.ask("leaderboard", limit=LEADERS)
    opponents = _opponents(visit)
    return HomeView(
        lists=await lists_view(visit),
        mine=await mine_view(visit),
        here=_here(visit),
        leaders=convert(leaders["leaderboard"], list[LeaderboardRow]),
        opponents=opponents,
        chosen=_begun(chosen, opponents),
        contests=_contests(visit),
    )


def _opponents(visit: Visit) -> list[Opponent]:
    """Return who can be played by the form."""
    bots = [
        Opponent(
            f"bot:{player}", kind.level, kind.line, kind.variants, kind.name if kind.name != kind.level.lower() else ""
        )
        for player, kind in visit.backend.services.roster.bots()
    ]
    people = [Opponent("link", "A friend", "by a link to share", EVERY_VARIANT)]
    if visit.visitor.registered:
        people.append(Opponent("name", "A player", "whom you invite by name", EVERY_VARIANT))
    return [*people, *bots]


def _begun(chosen: Chosen, opponents: list[Opponent]) -> Chosen:
    """Return the choices with an opponent who plays the variant: by default the weakest bot that plays to win."""
    wanted = "name" if chosen.name else chosen.opponent
    named = next((each for each in opponents if each.value == wanted), None)
    if named is not None and chosen.variant not in named.variants:
        chosen = structs.replace(chosen, variant=named.variants[0])
    able = [each for each in opponents if chosen.variant in each.variants]
    if wanted in [each.value for each in able]:
        return structs.replace(chosen, opponent=wanted)
    bots = [each.value for each in able if each.value.startswith("bot:")]
    usual = bots[1] if len(bots) > 1 else bots[0] if bots else LINK
    return structs.replace(chosen, opponent=usual)


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


def _here(visit: Visit) -> list[tuple[int, str]] | None:
    """Return who is present. Only registered players see it, as over reconchess's API."""
    if not visit.visitor.registered:
        return None
    return [(account.player, account.name) for account in visit.backend.services.lobby.presence.present()[:PRESENT]]


@get("/", include_in_schema=False)
async def home(request: Request[Any, Any, Any], visit: FromVisit) -> Template:
    """Return the home page; for a script that asks for ``?part=mine`` the list of the visitor's games alone."""
    if request.query_params.get("part") == "mine":
        return page(visit, "home_list.html", name="mine", lines=await mine_view(visit))
    return page(visit, "home.html", view=await home_view(visit, read_fields(request, Chosen)))
