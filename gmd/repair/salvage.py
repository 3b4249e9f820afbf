"""The sorting of a damaged log's rows into those that are whole and those to set aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import structs

from gm_protocol.base import LAST_REGISTERED
from gmd.contests.sql import DamagedContest, read_contest
from gmd.event_log.store import LAST_GAME_ID
from gmd.players.account import Account, folded, is_registered
from gmd.players.stored import DamagedPlayer, account_of, without_damage

from .games import GameRows, WholeGame, games_of
from .records import Lost, Record, Source
from .shapes import TABLES, Row, Shapes


class Aside(NamedTuple):
    """A row that is not kept, and why; ``row`` is None if it cannot be read at all."""

    why: str
    page: int
    row: Row | None = None


class Salvaged(NamedTuple):
    """The content that is kept of a log.

    :ivar games: the whole games by their ids.
    :ivar retired: the highest id of a game that is gone; 0 for none.
    :ivar changes: one line, for people, for each row that was changed or not kept.
    """

    games: Mapping[int, WholeGame]
    players: Mapping[int, Account]
    tokens: Mapping[bytes, Row]
    retired: int
    contests: Mapping[int, Row]
    aside: list[Aside]
    changes: list[str]


def salvaged(found: Iterable[Record | Lost], shapes: Shapes) -> Salvaged:
    """Sort the rows that were found on the pages of a log."""
    aside: list[Aside] = []
    rows: dict[str, list[Row]] = {table: [] for table in TABLES}
    for each in found:
        if isinstance(each, Lost):
            aside.append(Aside(f"page {each.page}: {each.why}", each.page))
        elif (row := shapes.row_of(each)) is not None:
            rows[row.table].append(row)
    changes: list[str] = []
    games = _games([*rows["games"], *rows["events"]], aside, changes)
    players = _players(rows["players"], games, aside, changes)
    tokens = _tokens(rows["tokens"], games, aside)
    contests = _contests(rows["contests"], aside, changes)
    ids = [row.columns["game_id"] for table in ("retired", "games") for row in rows[table]]
    gone = [each for each in ids if isinstance(each, int) and 0 < each <= LAST_GAME_ID and each not in games]
    return Salvaged(games, players, tokens, max(gone, default=0), contests, aside, changes)


def _games(rows: list[Row], aside: list[Aside], changes: list[str]) -> dict[int, WholeGame]:
    kept: dict[int, WholeGame] = {}
    for game_id, game in sorted(games_of(rows).items()):
        whole = game.whole() if 0 < game_id <= LAST_GAME_ID else None
        if whole is not None:
            kept[game_id] = whole
            if whole.mended is not None:
                changes.append(f"game {game_id}: {whole.mended}")
        elif game.is_there:
            changes.append(f"game {game_id}: set aside: {game.problem()}")
        aside.extend(_left_over(game, whole))
    return kept


def _left_over(game: GameRows, whole: WholeGame | None) -> Iterator[Aside]:
    """Yield the rows of a game that are not kept."""
    for row in game.rows:
        if row.record.source is Source.FREE_PAGE or (whole is not None and _is_kept(row, whole)):
            continue
        why = "is not whole" if whole is None else "has other rows in the place of this one"
        yield Aside(f"game {game.game_id} {why}", row.record.page, row)


def _is_kept(row: Row, whole: WholeGame) -> bool:
    if row.table == "games":
        return row.columns == whole.row
    seq = row.columns["seq"]
    return isinstance(seq, int) and seq < len(whole.events) and whole.events[seq] == row.columns["event"]


def _contests(rows: list[Row], aside: list[Aside], changes: list[str]) -> dict[int, Row]:
    kept: dict[int, Row] = {}
    for row in sorted(rows, key=lambda row: row.record.source):
        if row.record.source is Source.FREE_PAGE:
            continue
        try:
            number = read_contest(row.columns).contest_id
        except DamagedContest as damaged:
            why = str(damaged)
        else:
            if kept.setdefault(number, row).columns == row.columns:
                continue
            why = f"contest {number} has another row"
        aside.append(Aside(why, row.record.page, row))
        changes.append(f"contests, row {row.record.rowid}: set aside: {why}")
    return kept


class _Players:
    """The players that are kept, including parts of damaged ones."""

    def __init__(self) -> None:
        self.kept: dict[int, Account] = {}
        self._names: set[str] = set()

    def keep(self, account: Account) -> bool:
        """Keep a player; return False if its id or its name belongs to another."""
        if account.player in self.kept or folded(account.name) in self._names:
            return False
        self.kept[account.player] = account
        self._names.add(folded(account.name))
        return True

    def keep_part(self, part: Account | None) -> str:
        """Keep the valid parts of a damaged player; return the text that reports it."""
        if part is None or part.player in self.kept:
            return ""
        if not self.keep(part):
            self.keep(part := _nobody(part.player))
        key = "has its key" if part.key is not None else "has no key"
        return f"; player {part.player} is kept as {part.name!r}, and {key}"


def _players(
    rows: list[Row], games: Mapping[int, WholeGame], aside: list[Aside], changes: list[str]
) -> dict[int, Account]:
    players = _Players()
    damaged: list[tuple[Row, str]] = []
    for row in sorted(rows, key=lambda row: row.record.source):
        if row.record.source is Source.FREE_PAGE:
            continue
        try:
            account = account_of(row.columns)
        except DamagedPlayer as error:
            damaged.append((row, str(error)))
        else:
            if not players.keep(account) and players.kept.get(account.player) != account:
                damaged.append((row, "its id or its name belongs to another player"))
    for row, why in damaged:
        said = f"players, row {row.record.rowid}: set aside: {why}"
        aside.append(Aside(said, row.record.page, row))
        changes.append(said + players.keep_part(without_damage(row.columns)))
    _reserve(players, games, changes)
    return dict(sorted(players.kept.items()))


def _nobody(player: int) -> Account:
    """Return an account that nobody can use, so that its id is not given to another player."""
    return Account(player=player, name=f"damaged-{player}", created="1970-01-01T00:00:00Z", key=None)


def _reserve(players: _Players, games: Mapping[int, WholeGame], changes: list[str]) -> None:
    """Reserve the highest player id in the games, so that no new player gets the id of a lost one."""
    seats = [whole.row[seat] for whole in games.values() for seat in ("player_white", "player_black")]
    newest = max((seat for seat in seats if seat is not None and is_registered(seat)), default=0)
    if max(players.kept, default=0) < newest < LAST_REGISTERED:
        players.keep(_nobody(newest))
        changes.append(f"players: {newest} has games but its row is lost: kept as 'damaged-{newest}', without a key")


def _tokens(rows: list[Row], games: Mapping[int, WholeGame], aside: list[Aside]) -> dict[bytes, Row]:
    kept: dict[bytes, Row] = {}
    for row in sorted(rows, key=lambda row: row.record.source):
        token = row.columns["token"]
        if row.record.source is Source.FREE_PAGE:
            continue
        if isinstance(token, bytes) and row.columns["game_id"] in games and token not in kept:
            kept[token] = row
        elif row.record.source is Source.TABLE:
            aside.append(Aside(f"a token of game {row.columns['game_id']!r}, which is not kept", row.record.page, row))
    return kept


def columns_of(account: Account) -> dict[str, Any]:
    """Return the columns of a player's row."""
    return {**structs.asdict(account), "folded": folded(account.name)}
