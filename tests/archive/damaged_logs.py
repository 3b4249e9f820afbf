"""A real log with everything that a log can contain, and ways to damage it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
import trio

from gmd.config import Config
from gmd.daemon import Daemon, open_daemon
from gmd.event_log.opening import open_store
from gmd.event_log.recovery import rows_of as rows_on_pages
from gmd.event_log.recovery import table_of

FILE = "games.sqlite"
#: The size of its pages.
PAGE = 4_096
TABLES = ("games", "events", "tokens", "players", "retired")
#: Long enough for its event to continue on other pages.
LONG_PGN = "1. Nf3 Nf6 2. Ng1 Ng8 " * 250

#: Rows of each table, as SQL reads them.
Rows = dict[str, list[tuple[Any, ...]]]


class Stored(NamedTuple):
    """A log: its directory, its rows, its players' keys, and each game as a daemon shows it."""

    directory: Path
    rows: Rows
    keys: dict[int, str]
    shown: dict[int, Any]


def made_in(directory: Path) -> Stored:
    """Make a log as a daemon leaves it: games of every kind, live and over, registered players, tokens, removed
    games.
    """
    keys = trio.run(_play, directory)
    with open_store(str(directory)) as store:
        store.prune(0)
    # these requests count as White's first contact
    shown_games = trio.run(_shown, directory, list(games_of(rows_of(directory))))
    return Stored(directory, rows_of(directory), keys, shown_games)


async def _shown(directory: Path, game_ids: list[int]) -> dict[int, Any]:
    async with open_daemon(Config(data=str(directory), port=0)) as daemon:
        return {game_id: await shown(daemon, game_id) for game_id in game_ids}


async def shown(daemon: Daemon, game_id: int) -> Any:
    """Return a game as a daemon shows it to White, without the clocks, which are running."""
    state = (await daemon.ask("state", game_id=game_id, player=1))["state"]
    return {name: value for name, value in state.items() if name != "clock"}


async def _play(directory: Path) -> dict[int, str]:
    async with open_daemon(Config(data=str(directory), port=0)) as daemon:
        for number in range(4):  # these games are removed: the game that ended first is removed first
            await _ended(daemon, number)
        keys = {}
        for number in range(12):
            reply = await daemon.ask("register", name=f"player-{number}", token=f"{number:032}")
            keys[reply["player"]] = reply["key"]
        for number in range(30):
            await _begun(daemon, number)
        await daemon.ask("new_game", player_white=1, player_black=2, pgn=LONG_PGN)
    return keys


async def _ended(daemon: Daemon, number: int) -> None:
    game = await daemon.ask("new_game", player_white=1, player_black=2, token=f"gone-{number}")
    await daemon.ask("end_game", game_id=game["game_id"], player=1, termination="resignation_white")


async def _begun(daemon: Daemon, number: int) -> None:
    """Play as many plies as the game's number, or none in Chess960, where no move is known to be legal."""
    variant = ("standard", "rbc", "crazyhouse", "chess960")[number % 4]
    options: dict[str, Any] = {"clock": {"initial": 600 + number, "increment": 1}} if number % 3 == 0 else {}
    made = await daemon.ask(
        "new_game", player_white=1, player_black=2, token=f"token-{number}", variant=variant, **options
    )
    for ply in range(number if variant != "chess960" else 0):
        asked = {"game_id": made["game_id"], "player": 1 + ply % 2}
        if variant == "rbc":
            await daemon.ask("sense", square="e4", **asked)
        await daemon.ask("move", move=_pawn_move(ply), **asked)


def _pawn_move(ply: int) -> str:
    """Return a pawn move: pawns advance one square each from the a-file on, White and Black in turn; then once more."""
    step, file = divmod(ply // 2, 8)
    begin, end = (2 + step, 3 + step) if ply % 2 == 0 else (7 - step, 6 - step)
    return f"{'abcdefgh'[file]}{begin}{'abcdefgh'[file]}{end}"


def rows_of(directory: Path) -> Rows:
    with sqlite3.connect(directory / FILE) as connection:
        found = {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES[:4]}
        found["retired"] = connection.execute("SELECT * FROM retired").fetchall()
    connection.close()
    return found


def games_of(rows: Rows) -> dict[int, tuple[Any, list[Any]]]:
    """Return the row of each game with the rows of its events."""
    return {row[0]: (row, [each for each in rows["events"] if each[0] == row[0]]) for row in rows["games"]}


def games_by_page(directory: Path, tmp_path: Path) -> dict[int, set[int]]:
    """Return the games that have rows on each page of an undamaged log."""
    copy = shutil.copy(directory / FILE, tmp_path / "pages.sqlite")
    content = copy.read_bytes()
    found: dict[int, set[int]] = {}
    for row in rows_on_pages(copy):
        table = table_of(row)
        if table is not None and table.name in ("games", "events"):
            found.setdefault(row.page, set()).add(row.rowid if table.name == "games" else row.values[0])
    longest = max(max(games) for games in found.values())
    for page in range(len(content) // PAGE):
        if content[page * PAGE] == 0:  # only the longest game continues on such pages
            found[page + 1] = {longest}
    return found


def seeds(values: Sequence[Any], ordinary: int = 1) -> list[Any]:
    """Return the parameters of a test of which the first ones show what it promises; the others are slow."""
    return [*values[:ordinary], *(pytest.param(value, marks=pytest.mark.slow) for value in values[ordinary:])]


def zero(random: Random, content: bytearray) -> tuple[int, int]:
    """Zero some bytes; return the position of the first and the position after the last."""
    size = random.choice([16, 512, 4_096, 8_192])
    start = random.randrange(0, len(content) - size)
    content[start : start + size] = bytes(size)
    return start, start + size


def flip(random: Random, content: bytearray) -> tuple[int, int]:
    """Flip bits of some bytes close to each other; return the start and end of the range."""
    start = random.randrange(0, len(content) - 2_000)
    for _ in range(random.choice([1, 5, 50])):
        content[start + random.randrange(2_000)] ^= 1 << random.randrange(8)
    return start, start + 2_000


#: Names of the ways to damage a file.
WAYS: dict[str, Callable[[Random, bytearray], tuple[int, int]]] = {"zeroed": zero, "flipped": flip}


def damage(directory: Path, seed: int) -> range:
    """Damage the file of a log; return the pages that may be damaged."""
    random = Random(seed)
    file = directory / FILE
    content = bytearray(file.read_bytes())
    start, end = random.choice(list(WAYS.values()))(random, content)
    file.write_bytes(content)
    return range(start // PAGE + 1, (end - 1) // PAGE + 2)


#: Values that no column contains.
GARBAGE = (None, b"\xff\x00", "", "\0", -1, 1 << 60, 3.7, "x" * 300)


def spoil_row(directory: Path, seed: int) -> tuple[str, Any]:
    """Give one column of one row an impossible value; return the table and the row's first column."""
    random = Random(seed)
    table = random.choice(("games", "events", "players", "tokens"))
    connection = sqlite3.connect(directory / FILE)
    rowids = [row for (row,) in connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
    names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    while True:
        rowid, name, value = random.choice(rowids), random.choice(names), random.choice(GARBAGE)
        (key,) = connection.execute(f"SELECT {names[0]} FROM {table} WHERE rowid = ?", (rowid,)).fetchone()
        try:
            connection.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (value, rowid))
        except sqlite3.Error:
            continue  # the schema refuses this value
        connection.commit()
        connection.close()
        return table, key
