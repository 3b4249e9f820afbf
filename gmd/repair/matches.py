"""The shared matches of a damaged log: those with whole rows are kept, with the games that others could play again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from gm_protocol.work import GameCount, GameNumber, PlayedGame

from .records import Source
from .shapes import Row

#: Bytes of the digest of a match's owner and token.
_DIGEST = 32


class SetAside(NamedTuple):
    """A row that is not kept, and why."""

    why: str
    row: Row


class SalvagedMatches(NamedTuple):
    """The shared matches that are kept.

    :ivar matches: the columns of each.
    :ivar games: the columns of each game in their tables.
    :ivar changes: one line, for people, for each row that is not kept, and each match with lost games.
    """

    matches: list[Mapping[str, Any]]
    games: list[Mapping[str, Any]]
    aside: list[SetAside]
    changes: list[str]


class _Match(Struct):
    match_id: int
    player: int | None
    operator: Literal[0, 1]
    token: Annotated[bytes, Meta(min_length=_DIGEST, max_length=_DIGEST)]
    arguments: str
    planned: GameNumber
    listed: GameCount
    decided: GameNumber | None
    began: float
    changed: float


class _Game(Struct):
    match_id: int
    number: GameNumber
    worker: Annotated[str, Meta(max_length=64)] | None
    until: float


class _Damaged(Exception):
    """A fault of a row."""


def matches_of(rows: Iterable[Row], rows_of_games: Iterable[Row]) -> SalvagedMatches:
    """Sort the rows of both tables of shared matches.

    A game whose row is lost is played again, unless the match is decided: then it is set aside, since its verdict rests
    on all of its results.
    """
    found = SalvagedMatches([], [], [], [])
    games = _games(rows_of_games, found)
    tokens: dict[object, Row] = {}
    for match_id, row in _matches(rows, found).items():
        of_it, known = games.pop(match_id, {}), tokens.setdefault(row.columns["token"], row)
        fault = "another match has its token" if known is not row else _fault(row.columns, of_it)
        if fault is not None:
            _set_aside(found, [row, *of_it.values()], f"match {match_id}: {fault}")
            continue
        found.matches.append(row.columns)
        found.games.extend(_all_games(row.columns, of_it))
        if lost := row.columns["listed"] - len(of_it):  # type: ignore[operator]
            found.changes.append(f"match {match_id}: {lost} of its games are lost, and are played again")
    for match_id, of_it in games.items():
        _set_aside(found, list(of_it.values()), f"match {match_id}: its own row is lost, or it was forgotten")
    return found


def _matches(rows: Iterable[Row], found: SalvagedMatches) -> dict[int, Row]:
    kept: dict[int, Row] = {}
    for row in _by_trust(rows):
        try:
            match = _read(row, _Match)
            msgspec.json.decode(match.arguments, type=list[str])
        except (_Damaged, msgspec.MsgspecError) as error:
            _set_aside(found, [row], f"matches, row {row.record.rowid}: {error}")
        else:
            if kept.setdefault(match.match_id, row).columns != row.columns:
                _set_aside(found, [row], f"match {match.match_id} has another row")
    return kept


def _games(rows: Iterable[Row], found: SalvagedMatches) -> dict[int, dict[int, Row]]:
    """Return the whole rows of games by their matches and numbers."""
    kept: defaultdict[int, dict[int, Row]] = defaultdict(dict)
    for row in _by_trust(rows):
        try:
            game = _read(row, _Game)
            if row.columns["result"] is not None:
                given = {name: row.columns[name] for name in ("number", "result", "game_id")}
                msgspec.convert(given | {"detail": row.columns["detail"] or ""}, PlayedGame)
        except (_Damaged, msgspec.MsgspecError) as error:
            _set_aside(found, [row], f"match_games, row {row.record.rowid}: {error}")
        else:
            if kept[game.match_id].setdefault(game.number, row).columns != row.columns:
                _set_aside(found, [row], f"game {game.number} of match {game.match_id} has another row")
    return dict(kept)


def _fault(match: Mapping[str, Any], games: Mapping[int, Row]) -> str | None:
    """Return why a match cannot be kept with these of its games; None if it can."""
    listed, decided = match["listed"], match["decided"]
    if not max(games, default=0) <= listed <= match["planned"] or (decided or 0) > listed:
        return f"{match['planned']} games are planned, {listed} listed, and it is decided after {decided}"
    over = {number for number, row in games.items() if row.columns["result"] is not None}
    if decided is not None and not over.issuperset(range(1, decided + 1)):
        return f"it is decided after {decided} games, and not all of their results are there"
    return None


def _all_games(match: Mapping[str, Any], games: Mapping[int, Row]) -> Iterable[Mapping[str, Any]]:
    """Yield the columns of each game that has to be in the match's table; a lost one has not been handed out."""
    nothing = dict.fromkeys(("worker", "result", "game_id", "detail"))
    for number in range(1, match["listed"] + 1):
        lost = {"match_id": match["match_id"], "number": number, "until": 0.0, **nothing}
        yield games[number].columns if number in games else lost


def _by_trust(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that were in a table, the most trustworthy ones first."""
    in_tables = (row for row in rows if row.record.source is not Source.FREE_PAGE)
    return sorted(in_tables, key=lambda row: row.record.source)


def _read(row: Row, kind: type[Any]) -> Any:
    """Return a row as a struct.

    :raises _Damaged: a column cannot have this value.
    """
    try:
        return msgspec.convert({name: row.columns[name] for name in kind.__struct_fields__}, kind)
    except msgspec.ValidationError as error:
        raise _Damaged(str(error)) from None


def _set_aside(found: SalvagedMatches, rows: list[Row], why: str) -> None:
    found.aside.extend(SetAside(why, row) for row in rows)
    found.changes.append(f"{why}: set aside" + (f", with {len(rows) - 1} games" if len(rows) > 1 else ""))
