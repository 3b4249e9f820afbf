"""``/players/17``: a player's ratings with their past, results and games. ``/ranked``: the whole ranked table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from litestar import Request, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter
from litestar.response import Template
from msgspec import Meta, Struct, convert

from gm_protocol.messages import GameRow
from gm_protocol.ranked import INTERVAL, LeaderboardRow
from gmd.event_log.utc import write_time
from gmd.http.pages.answers import read_fields
from gmd.http.pages.chart import Chart, Line, chart
from gmd.http.pages.home import ListedGame, line_of
from gmd.http.pages.rendering import page
from gmd.http.pages.visit import FromVisit, Visit
from gmd.http.pages.words import rating_text
from gmd.lobby.rating_history import Point
from gmd.lobby.ratings import LeaderboardEntry
from gmd.lobby.results import Entrant, Record, Score
from gmd.lobby.roster import BotKind
from gmd.players.account import is_registered

#: Rows of a page of the protocol, the most pages that are read for the results, and rows of a list of games.
GAMES_A_PAGE, RESULT_PAGES, LIVE, FINISHED = 100, 5, 20, 30
#: The most versions with a curve, the newest, and the most opponents that are listed.
CURVES, OPPONENTS = 5, 100


@dataclass(frozen=True, slots=True)
class Rated:
    """A version of a player's bot on the leaderboard, and how its rating came about."""

    place: int
    version: int
    rating: float
    deviation: float
    is_anchor: bool
    score: Score
    points: list[Point]


@dataclass(frozen=True, slots=True)
class Against:
    """The results against one opponent."""

    player: int | None
    name: str | None
    score: Score

    @property
    def share(self) -> str:
        """The points as a percentage of the games."""
        return f"{100 * self.score.points / self.score.games:.0f} %"


@dataclass(frozen=True, slots=True)
class Pointed:
    """A point of a rating's past as a table shows it."""

    version: int
    time: str
    point: Point


@dataclass(frozen=True, slots=True)
class PlayerView:
    """What a player's page shows.

    :ivar bot: what kind of bot of the daemon's the player is; None if it is none.
    :ivar past: whether the past of the ratings has been computed.
    :ivar ranked: results of all ranked games; ``results``: those of the latest games of any kind, ``counted`` in all.
    :ivar older: the number for the next page of finished games; None at the end.
    """

    player: int
    name: str
    bot: BotKind | None
    rated: list[Rated]
    past: bool
    ratings: Chart | None
    ranked: list[Against]
    results: list[Against] = field(default_factory=list)
    counted: int = 0
    live: list[ListedGame] = field(default_factory=list)
    finished: list[ListedGame] = field(default_factory=list)
    older: int | None = None

    @property
    def points(self) -> list[Pointed]:
        """The points of all curves, newest first."""
        shown = [(each.version, point) for each in self.rated[:CURVES] for point in each.points]
        shown.sort(key=lambda each: -each[1].time)
        return [Pointed(version, write_time(point.time), point) for version, point in shown]


async def player_view(visit: Visit, player: int, before: int | None) -> PlayerView | None:
    """Return what a visitor sees on a player's page; None for a player who has played nothing here.

    Nothing says whether such a player is registered.

    :param before: only games with lower numbers, for the list of finished games.
    """
    rated = _rated(visit, player)
    live = await _games(visit, player, "live", LIVE)
    finished = await _games(visit, player, "over", FINISHED + 1, before)
    known = rated or live or finished or await _games(visit, player, "open", 1)
    name = visit.name_of(player)
    if not known or name is None:
        return None
    latest = [] if before is not None else await _latest(visit, player)
    record, history = visit.backend.services.ranked.ratings.record, visit.backend.services.ranked.ratings.history
    counts = ranked_against(record, [Entrant(player, each.version) for each in rated])
    return PlayerView(
        player,
        name,
        dict(visit.backend.services.roster.bots()).get(player),
        rated,
        history.complete,
        ratings_curve(name, rated),
        _named(visit, counts),
        _named(visit, scores_against(player, latest)),
        len(latest),
        [await line_of(row, visit) for row in live],
        [await line_of(row, visit) for row in finished[:FINISHED]],
        finished[FINISHED - 1].game_id if len(finished) > FINISHED else None,
    )


def _rated(visit: Visit, player: int) -> list[Rated]:
    """Return the versions of a player's bot that have a rating, newest first."""
    ratings = visit.backend.services.ranked.ratings
    found = [(place, entry) for place, entry in enumerate(ratings.ladder.entries, 1) if entry.entrant.player == player]
    return sorted((_rated_as(place, entry, ratings.history.of(entry.entrant)) for place, entry in found), key=_age)


def _rated_as(place: int, entry: LeaderboardEntry, points: list[Point]) -> Rated:
    rating = entry.rating
    return Rated(place, entry.entrant.version, rating.rating, rating.deviation, rating.is_anchor, entry.score, points)


def _age(rated: Rated) -> int:
    return -rated.version


async def _games(visit: Visit, player: int, status: str, limit: int, before: int | None = None) -> list[GameRow]:
    reply = await visit.ask("games", player=player, status=status, limit=limit, before=before)
    return convert(reply["games"], list[GameRow])


async def _latest(visit: Visit, player: int) -> list[GameRow]:
    """Return a player's latest finished games, as many as its results are computed from."""
    found: list[GameRow] = []
    for _ in range(RESULT_PAGES):
        rows = await _games(visit, player, "over", GAMES_A_PAGE, found[-1].game_id if found else None)
        found += rows
        if len(rows) < GAMES_A_PAGE:
            break
    return found


def ranked_against(record: Record, entrants: Iterable[Entrant]) -> dict[int | None, Score]:
    """Return the results of a player's entrants against each opponent, with all versions."""
    found: dict[int | None, Score] = {}
    for entrant in entrants:
        for other, score in record.against(entrant).items():
            found[other.player] = found.get(other.player, Score()).plus(score)
    return found


def scores_against(player: int, rows: Iterable[GameRow]) -> dict[int | None, Score]:
    """Return the results of some games against each opponent. Games called off, and those with oneself, are none."""
    counts: dict[int | None, Counter[str]] = {}
    for row in rows:
        if row.result == "*" or row.player_white == row.player_black:
            continue
        white = row.player_white == player
        opponent = row.player_black if white else row.player_white
        won = {"1-0": white, "0-1": not white}.get(row.result)
        counts.setdefault(opponent, Counter())["drawn" if won is None else "won" if won else "lost"] += 1
    return {opponent: Score(each["won"], each["drawn"], each["lost"]) for opponent, each in counts.items()}


def _named(visit: Visit, scores: Mapping[int | None, Score]) -> list[Against]:
    """Return results with the opponents' names, the most frequent opponents first."""
    most = sorted(scores.items(), key=lambda each: (-each[1].games, each[0] or 0))[:OPPONENTS]
    return [Against(player, visit.name_of(player), score) for player, score in most]


def ratings_curve(name: str, rated: Sequence[Rated]) -> Chart | None:
    """Return the curve of the ratings of a player's newest versions, with their intervals."""
    lines = [
        Line(
            f"Version {each.version}" if each.version else "Without a version",
            [(point.time, point.rating) for point in each.points],
            [
                (point.time, point.rating - INTERVAL * point.deviation, point.rating + INTERVAL * point.deviation)
                for point in each.points
            ],
        )
        for each in rated[:CURVES]
    ]
    if not rated:
        return None
    newest = rated[0]
    return chart(
        "Rating over time, with its 95 % interval",
        lines,
        x_label="Time (UTC)",
        y_label="Rating",
        words=f"Curve of the rating of {name} over time: now {rating_text(newest.rating, newest.deviation)}.",
        times=True,
    )


#: Rows on a page of the ranked table, and of the list of players; players of whom it is asked whether they have played.
A_PAGE, LISTED, ASKED = 100, 50, 200
#: The highest id of a player.
LAST_ID = 2**63 - 1


class TableQuery(Struct, frozen=True):
    """What the query of the ranked table may hold: how many rows to skip."""

    after: Annotated[int, Meta(ge=0, le=10**9)] = 0


class PlayerQuery(Struct, frozen=True):
    """What the query of a player's page may hold: only finished games with lower numbers."""

    before: Annotated[int, Meta(ge=0, le=2**53 - 1)] | None = None


class PlayersQuery(Struct, frozen=True):
    """What the query of the list of players may hold: a part of the name, who, and only those with lower numbers."""

    name: Annotated[str, Meta(max_length=100)] = ""
    kind: Literal["", "bots", "guests"] = ""
    before: Annotated[int, Meta(ge=0, le=LAST_ID)] | None = None


@dataclass(frozen=True, slots=True)
class ListedPlayer:
    """A player in the list.

    :ivar kind: who it is, in words; ``bot``: whether it is one of this server's.
    :ivar rating: its best version's, with the interval; empty for none.
    :ivar latest: its newest game.
    """

    player: int
    name: str
    kind: str
    bot: bool
    rating: str
    latest: GameRow


@dataclass(frozen=True, slots=True)
class PlayersView:
    """What the list of players shows.

    :ivar older: the number for the next page; None at the end.
    """

    query: PlayersQuery
    lines: list[ListedPlayer]
    older: int | None

    @property
    def fields(self) -> dict[str, str]:
        """The filter without what it leaves open."""
        return {name: value for name, value in (("name", self.query.name), ("kind", self.query.kind)) if value}


async def players_view(visit: Visit, query: PlayersQuery) -> PlayersView:
    """Return a page of the players who have played here: nothing says who else is registered."""
    return await (_guests if query.kind == "guests" else _registered)(visit, query)


async def _registered(visit: Visit, query: PlayersQuery) -> PlayersView:
    """Return a page of registered players, the newest first."""
    bots, lines, part = dict(visit.backend.services.roster.bots()), list[ListedPlayer](), query.name.strip().lower()
    entries = visit.backend.services.ranked.ratings.ladder.entries
    ratings = {entry.entrant.player: entry.rating for entry in reversed(entries)}  # the best version's, which is first
    asked, last = 0, None
    for account in list(visit.backend.services.authenticator.registry.newest_first(query.before)):
        if part not in account.name.lower() or (query.kind == "bots" and account.player not in bots):
            continue
        if len(lines) == LISTED or asked == ASKED:
            return PlayersView(query, lines, last)
        asked, last = asked + 1, account.player
        if latest := (await visit.ask("games", player=account.player, limit=1))["games"]:
            rating, bot = ratings.get(account.player), account.player in bots
            shown = "" if rating is None else rating_text(rating.rating, rating.deviation, rating.is_anchor)
            who = f"Bot of this server, {bots[account.player].level}" if bot else "Registered"
            lines.append(ListedPlayer(account.player, account.name, who, bot, shown, convert(latest[0], GameRow)))
    return PlayersView(query, lines, None)


async def _guests(visit: Visit, query: PlayersQuery) -> PlayersView:
    """Return the guests of a page of games, in the order of their latest one."""
    reply = await visit.ask_as_spectator("games", limit=GAMES_A_PAGE, before=query.before)
    lines, part = dict[int, ListedPlayer](), query.name.strip().lower()
    for row in convert(reply["games"], list[GameRow]):
        for player in (row.player_white, row.player_black):
            if player is not None and player not in lines and not is_registered(player):
                lines[player] = ListedPlayer(player, visit.name_of(player) or "", "Guest", False, "", row)
    return PlayersView(query, [each for each in lines.values() if part in each.name.lower()], reply["before"])


@get("/players", include_in_schema=False)
async def players(request: Request[Any, Any, Any], visit: FromVisit) -> Template:
    """Return a page of the list of players."""
    return page(visit, "players.html", view=await players_view(visit, read_fields(request, PlayersQuery)))


@get("/ranked", include_in_schema=False)
async def ranked(request: Request[Any, Any, Any], visit: FromVisit) -> Template:
    """Return a page of the ranked table."""
    after = read_fields(request, TableQuery).after
    reply = await visit.ask("leaderboard", limit=A_PAGE, after=after)
    rows = convert(reply["leaderboard"], list[LeaderboardRow])
    return page(visit, "ranked.html", rows=rows, games=reply["games"], after=after, more=reply["after"], size=A_PAGE)


@get("/players/{player:int}", include_in_schema=False)
async def player(
    request: Request[Any, Any, Any], visit: FromVisit, player: Annotated[int, PathParameter()]
) -> Template:
    """Return a player's page. A player without a game or a rating has none, registered or not."""
    query = read_fields(request, PlayerQuery)
    view = await player_view(visit, player, query.before) if player <= LAST_ID else None
    if view is None:
        raise NotFoundException
    return page(visit, "player.html", view=view, first=query.before is None)
