"""``gmd export --all`` and ``gmd import`` move a whole log between SQLite and PostgreSQL, row by row, or not at all."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    Integer,
    LargeBinary,
    String,
    Table,
    insert,
    select,
    text,
)

from gm_protocol.options import VARIANT_TRAITS
from gmd.archive.whole_log import OF_GAMES, READERS, is_whole_log, write_log
from gmd.daemon import Daemon
from gmd.event_log.directory import BOTS_TOKEN, SESSION_KEY, locked_directory
from gmd.event_log.opening import open_log, open_reader, open_store
from gmd.event_log.tables import metadata, retired
from tests.cli.commands import Ran, change, gmd, joined
from tests.helpers import connected, running_daemon
from tests.postgres import new_database, require_postgres
from tests.proofs import cases
from tests.serving import environment

TOKEN = "0123456789abcdef"
KEY = bytes(range(31)) + b"\n"
PASSWORD = "correct horse"
#: Imports, and is killed within the transaction.
KILLED = """
import os, signal, sys
from pathlib import Path
from gmd.archive import whole_log
from gmd.event_log.opening import open_store
whole_log.BATCH_BYTES = 1
left = 8
def advance(count):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
directory, database = (None, sys.argv[2]) if "://" in sys.argv[2] else (Path(sys.argv[2]), None)
with open_store(str(directory), database) as store:
    whole_log.restore_log(store, directory, Path(sys.argv[1]), advance)
"""


async def registered(daemon: Daemon, name: str, **fields: Any) -> dict[str, Any]:
    reply = await daemon.ask("register", name=name, **fields)
    player = {"player": reply["player"], "key": reply["key"]}
    await daemon.ask("settings", ranked=name == "ann", max_games=7, version=1, **player)
    return player


async def fill(data: Path) -> None:
    """Keep something of everything that a daemon keeps."""
    async with running_daemon(data=str(data)) as daemon:
        for _ in range(2):
            made = await daemon.ask("new_game", player_white=1, player_black=2)
            await daemon.ask("end_game", game_id=made["game_id"], player=1, termination="resignation_white")
    with open_store(str(data)) as store:
        assert len(store.prune(0)) == 2
    async with running_daemon(data=str(data)) as daemon:
        ann = await registered(daemon, "Ann", password=PASSWORD)
        bob = await registered(daemon, "Bob", token="again")
        gone = await registered(daemon, "gone")
        await daemon.ask_as_operator("revoke", player=gone["player"])
        paired = await daemon.ask_as_operator(
            "pair", white=ann["player"], black=bob["player"], variant="rbc", ranked=True
        )
        for player in (ann, bob):
            await daemon.ask("accept", game_id=paired["game_id"], **player)
        await daemon.ask("sense", game_id=paired["game_id"], square="e7", **ann)
        await daemon.ask("move", game_id=paired["game_id"], move="e2e4", **ann)
        await daemon.ask("end_game", game_id=paired["game_id"], termination="resignation_black", **bob)
        invited = {"player_white": bob["player"], "player_black": ann["player"]}
        await daemon.ask("new_game", **invited, **bob)  # stays open
        for variant in VARIANT_TRAITS:
            made = await daemon.ask("new_game", player_white=3, player_black=4, variant=variant, token=f"new {variant}")
            if variant != "rbc":
                await daemon.ask("move", game_id=made["game_id"], player=3, move="e4")
        report = {"title": "new v old", "form": "match", "variant": "rbc", "players": [{"name": "a"}, {"name": "b"}]}
        await daemon.ask("contest", token=TOKEN, report=report, **ann)
        await daemon.ask_as_operator("contest", token=TOKEN, report=report)
        clocked = await daemon.ask(
            "new_game", player_white=1, player_black=2, clock={"initial": 100, "increment": 1}, token="clock"
        )
        for player, move in ((1, "e4"), (2, "e5")):
            await daemon.ask("move", game_id=clocked["game_id"], player=player, move=move)
    (data / BOTS_TOKEN).write_text("geheim\n")
    (data / SESSION_KEY).write_bytes(KEY)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a log of everything. Tests must not change it."""
    data = tmp_path_factory.mktemp("played")
    trio.run(fill, data)
    return data


@pytest.fixture(scope="module")
def exported(played: Path) -> Path:
    """Return a file of that log."""
    file = played / "whole.jsonl"
    assert gmd("export", "--data", played, "--all", file) == (0, "", "")
    return file


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return an empty place."""
    if request.param == "sqlite":
        yield str(tmp_path / "empty")
        return
    require_postgres()
    with new_database() as url:
        yield url


def at(place: str | Path) -> tuple[str, str | Path]:
    return ("--database" if "://" in str(place) else "--data", place)


def imported(file: Path, place: str | Path) -> Ran:
    return gmd("import", *at(place), file)


def limited(size: int, *arguments: object) -> Ran:
    """Run a subcommand that can make no file longer than a number of bytes."""
    command = ["sh", "-c", f'ulimit -f {size // 512} && exec "$@"', "sh", sys.executable, "-m", "gmd"]
    ran = subprocess.run(
        [*command, *map(str, arguments)], env=environment(), capture_output=True, text=True, check=False
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def rows_in(place: str | Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of a log by its table."""
    directory, database = ("", str(place)) if "://" in str(place) else (str(place), None)

    def read(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
        ordered = {each.name: select(each).order_by(*each.primary_key.columns) for each in metadata.sorted_tables}
        return {name: [tuple(row) for row in connection.execute(query)] for name, query in ordered.items()}

    with open_store(directory, database) as store:
        return store.write_beside(read)


# --- There and back ---------------------------------------------------------------------------------------------


def test_every_table_is_of_games_or_has_a_reader() -> None:
    assert {*metadata.sorted_tables} == {*OF_GAMES, *READERS, retired}


def test_log_is_the_same_row_by_row_there_and_back(played: Path, exported: Path, target: str, tmp_path: Path) -> None:
    rows = rows_in(played)
    assert [name for name, found in rows.items() if not found] == []
    said = "Imported a whole log with 8 games, 3 players and 2 contests\n"
    assert imported(exported, target) == (0, said, "")
    assert rows_in(target) == rows
    back, again = tmp_path / "back.jsonl", tmp_path / "again.jsonl"
    assert gmd("export", *at(target), "--all", back) == (0, "", "")
    assert gmd("import", "--data", tmp_path / "new", back) == (0, said, "")
    assert rows_in(tmp_path / "new") == rows
    assert (tmp_path / "new" / BOTS_TOKEN).read_text() == "geheim"
    assert (tmp_path / "new" / SESSION_KEY).read_bytes() == KEY
    for name in ("games.sqlite", BOTS_TOKEN, SESSION_KEY):
        assert stat.S_IMODE((tmp_path / "new" / name).stat().st_mode) == 0o600
    assert gmd("export", "--data", tmp_path / "new", "--all", again) == (0, "", "")
    assert exported.read_bytes() == back.read_bytes() == again.read_bytes()
    assert gmd("check", "--data", tmp_path / "new").status == 0


async def test_restored_server_goes_on(exported: Path, tmp_path: Path) -> None:
    imported(exported, tmp_path)
    async with (
        running_daemon(data=str(tmp_path)) as daemon,
        connected(daemon) as guest,
        connected(daemon, hello=False) as ann,
        connected(daemon, hello=False) as gone,
    ):
        assert (await guest.ask("leaderboard"))["games"] == 1
        hello = await ann.ask("hello", name="ann", password=PASSWORD)
        assert hello["error"] is None, hello
        assert [row["game_id"] for row in (await ann.ask("invitations"))["received"]] == [4]
        assert (await gone.ask("hello", name="gone", password=PASSWORD))["code"] == "unauthorized"
        # The log has the token of this request already, so the reply names the same game.
        clocked = {"clock": {"initial": 100, "increment": 1}, "token": "clock"}
        before = (await guest.new_game(1, 2, **clocked))["state"]
        assert before["game_id"] == 10
        while (now := (await guest.ask("state", game_id=10))["state"])["clock"]["white"] > 100.9:
            pass
        assert (now["clock"]["black"], now["ply_index"]) == (before["clock"]["black"], 2)
        assert (await guest.play(10, "Nf3"))["ply_index"] == 3
        assert (await guest.new_game())["game_id"] == 11  # not that of a removed game


def test_export_is_of_one_moment(exported: Path, target: str, tmp_path: Path) -> None:
    imported(exported, target)
    directory, database = (None, target) if "://" in target else (Path(target), None)
    with (
        open_store(str(directory), database) as store,
        open_reader(str(directory), database) as reader,
        reader.connect() as connection,
    ):

        def advance(games: int) -> None:  # after rows of some tables, and before others
            for table in metadata.tables:
                store.write_beside(lambda connection, table=table: connection.execute(text(f"DELETE FROM {table}")))

        with (tmp_path / "moment.jsonl").open("wb") as out:
            write_log(connection, directory, out, pytest.fail, advance)
    assert (tmp_path / "moment.jsonl").read_bytes() == exported.read_bytes()
    assert not any(rows_in(target).values())


# --- The file ---------------------------------------------------------------------------------------------------


def test_file_is_readable_by_its_owner_only(exported: Path, played: Path, tmp_path: Path) -> None:
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    file = tmp_path / "whole.jsonl"
    for old in (file, tmp_path / "whole.jsonl.part"):  # of an export that was killed
        old.write_text("old")
        old.chmod(0o644)
    before = os.umask(0)
    try:
        assert gmd("export", "--data", played, "--all", file).status == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["whole.jsonl"]


def test_truncated_file_is_refused_and_the_whole_one_accepted_afterwards(
    exported: Path, target: str, tmp_path: Path
) -> None:
    lines = exported.read_bytes().splitlines(keepends=True)
    file = tmp_path / "part.jsonl"
    for content, sentence in (
        (b"".join(lines[:-1]), " ends before its last line; nothing was imported"),
        (b"".join(lines)[:-9], f", line {len(lines)}: Input data was truncated; nothing was imported"),
        (lines[0], " ends before its last line; nothing was imported"),
        (b"".join([*lines[:2], *lines[3:]]), " has lost rows, or has others; nothing was imported"),
        (b"".join([*lines, lines[1]]), f", line {len(lines) + 1}: it is after the last line; nothing was imported"),
    ):
        file.write_bytes(content)
        assert imported(file, target) == (2, "", f"Error: {file}{sentence}\n")
        assert not any(rows_in(target).values())
    assert imported(exported, target).status == 0


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"gmd_log": 2, "gmd": "9.1"}, " has the format 2, and this gmd reads 1: use gmd 9.1"),
        ({"revision": "0001", "gmd": "0.1"}, " has the schema 0001, and this gmd "),
        ({"gmd": 5}, ", line 1: Expected `str`, got `int` - at `$.gmd`; nothing was imported"),
    ],
)
def test_file_for_another_version_is_refused(
    changed: dict[str, Any], sentence: str, exported: Path, tmp_path: Path
) -> None:
    header, _, rest = exported.read_text().partition("\n")
    file = tmp_path / "other.jsonl"
    file.write_text(json.dumps(json.loads(header) | changed, separators=(",", ":")) + "\n" + rest)
    ran = imported(file, tmp_path / "new")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"Error: {file}{sentence}")
    assert not any(rows_in(tmp_path / "new").values())


# --- Where it goes ----------------------------------------------------------------------------------------------


def test_log_that_holds_anything_is_refused(exported: Path, target: str) -> None:
    imported(exported, target)
    rows = rows_in(target)
    ran = imported(exported, target)
    had = [name for name in metadata.tables if rows[name]]
    said = f"the log has {', '.join(had)} already; a whole log is imported into an empty one"
    assert (ran.status, ran.err) == (2, f"Error: {said}\n")
    assert rows_in(target) == rows


@pytest.mark.slow
def test_killed_import_leaves_an_empty_log_and_can_be_repeated(exported: Path, target: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(exported), target]
    assert subprocess.run(command, env=environment(), check=False).returncode == -signal.SIGKILL
    directory, database = (str(tmp_path / "own"), target) if "://" in target else (target, None)
    with open_log(directory, database=database):
        pass
    assert not any(rows_in(target).values())
    assert imported(exported, target).status == 0


@pytest.mark.slow
def test_import_without_room_leaves_an_empty_log(exported: Path, tmp_path: Path) -> None:
    rows = [{"contest_id": number, "operator": True, "began": 1, "changed": 1} for number in range(100, 120)]
    more = [{**row, "player": None, "token": "A" * 42 + "A=", "report": "x" * 20_000} for row in rows]
    *lines, end = exported.read_text().splitlines()
    ended = json.loads(end)
    ended["end"]["contests"] += len(more)
    file = tmp_path / "long.jsonl"
    file.write_text(joined([*lines, *(json.dumps({"contests": [row]}) for row in more), json.dumps(ended)]))
    ran = limited(400_000, "import", "--data", tmp_path / "new", file)
    assert ran.status == 2
    assert ran.err.startswith("Error: data: the log cannot be written: "), ran
    assert not any(rows_in(tmp_path / "new").values())
    assert imported(file, tmp_path / "new").status == 0


def test_directory_in_use_is_refused(exported: Path, tmp_path: Path) -> None:
    with locked_directory(tmp_path / "new"):
        assert "is in use by another gmd: process" in imported(exported, tmp_path / "new").err


def test_directory_with_the_record_of_a_lost_log_is_refused(exported: Path, played: Path, tmp_path: Path) -> None:
    shutil.copy(played / "last-commit", tmp_path)
    assert "has the file last-commit of a log whose games are gone" in imported(exported, tmp_path).err


# --- Options ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option", [("--format", "jsonl"), ("--output", "games.pgn"), ("--game", 1), ("--status", "all")]
)
def test_export_of_everything_selects_nothing(option: tuple[str, object], tmp_path: Path) -> None:
    ran = gmd("export", "--data", tmp_path, "--all", tmp_path / "whole.jsonl", *option)
    assert ran.status == 2
    assert ran.err.endswith(f"Error: --all writes the whole log to its file; leave out {option[0]}\n")


def test_whole_log_is_recognised_whatever_its_name(exported: Path, tmp_path: Path) -> None:
    file = shutil.copy(exported, tmp_path / "backup")
    assert is_whole_log(file)
    assert imported(file, tmp_path / "new").status == 0
    (tmp_path / "games.jsonl").write_text('{"game_id":1}\n')
    assert not is_whole_log(tmp_path / "games.jsonl")


def test_password_of_the_database_is_not_shown(tmp_path: Path) -> None:
    ran = gmd("export", "--database", "postgresql://gmd:secret@127.0.0.1:1/gmd", "--all", tmp_path / "whole")
    assert ran.status == 2
    assert "secret" not in ran.out + ran.err
    assert list(tmp_path.iterdir()) == []


# --- Damage -----------------------------------------------------------------------------------------------------


def test_damaged_rows_are_named_and_their_games_are_left_out_whole(played: Path, tmp_path: Path) -> None:
    data, file = shutil.copytree(played, tmp_path / "data"), tmp_path / "whole.jsonl"
    change(
        data,
        "UPDATE games SET seconds_left = 'soon' WHERE game_id = 10",
        "UPDATE events SET event = x'ff00' WHERE game_id = 5 AND seq = 1",
        "UPDATE players SET name = 'a' || char(0) || 'b' WHERE folded = 'gone'",
    )
    assert gmd("export", "--data", data, "--all", file) == (
        1,
        "",
        "row 4503599627370499 of players is left out: players: Expected `str` matching regex '\\\\A[^\\\\0]*\\\\Z' - "
        "at `$.name`\n"
        "game 5 is left out: events: Expected `str`, got `bytes` - at `$.event`\n"
        "game 10 is left out: games: Expected `float | null`, got `str` - at `$.seconds_left`\n",
    )
    assert imported(file, tmp_path / "new").out.startswith("Imported a whole log with 6 games, 2 players and ")
    rows, before = rows_in(tmp_path / "new"), rows_in(played)
    assert rows["retired"] == [(10,)]  # no other game gets the id of the one that was left out
    for name in ("games", "events", "tokens"):
        position = metadata.tables[name].c.keys().index("game_id")
        assert rows[name] == [row for row in before[name] if row[position] not in (5, 10)]


# --- Any rows ---------------------------------------------------------------------------------------------------


def values_of(column: Column[Any]) -> st.SearchStrategy[Any]:
    found = _values(column)
    return st.none() | found if column.nullable else found


def _values(column: Column[Any]) -> st.SearchStrategy[Any]:
    kind = column.type
    if isinstance(kind, Boolean):
        return st.booleans()
    if isinstance(kind, Float):
        return st.floats(allow_nan=False, allow_infinity=False)
    if isinstance(kind, Integer):
        bits = 63 if isinstance(kind, BigInteger) else 31
        return st.integers(-(1 << bits), (1 << bits) - 1) | st.integers(0, 3)
    if isinstance(kind, LargeBinary):
        return st.binary(max_size=40)
    assert isinstance(kind, String)
    letters = st.characters(codec="utf-8", exclude_characters="\0")
    return st.text(letters, max_size=min(kind.length or 300, 40)) | st.just("\\N\t\r\n\\u0000\\"[: kind.length])


def rows_of(table: Table) -> st.SearchStrategy[list[dict[str, Any]]]:
    if table.name == "retired":  # has one row at most
        return st.lists(st.fixed_dictionaries({"game_id": st.integers(1, 2**53 - 1)}), max_size=1)
    row = st.fixed_dictionaries({column.name: values_of(column) for column in table.columns})
    keys = table.primary_key.columns.keys()
    unique: list[Any] = [lambda row: tuple(row[key] for key in keys)]
    unique += [
        lambda row, name=column.name: row[name] for column in table.columns if column.unique and not column.primary_key
    ]
    return st.lists(row, max_size=6, unique_by=tuple(unique))


LOGS = st.fixed_dictionaries({table.name: rows_of(table) for table in metadata.sorted_tables})


def insert_all(log: dict[str, list[dict[str, Any]]], connection: Connection) -> None:
    for table in metadata.sorted_tables:
        if log[table.name]:
            connection.execute(insert(table), log[table.name])


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    require_postgres()
    with new_database() as url:
        yield url


@pytest.mark.slow
@settings(max_examples=cases(8))
@given(log=LOGS)
def test_rows_with_any_values_are_the_same_there_and_back(log: dict[str, list[dict[str, Any]]], database: str) -> None:
    with open_store("", database) as store:
        truncate = text(f"TRUNCATE {', '.join(metadata.tables)}")
        store.write_beside(lambda connection: connection.execute(truncate))
    with TemporaryDirectory() as folder:
        first, last = Path(folder) / "first", Path(folder) / "last"
        with open_store(str(first)) as store:
            store.write_beside(partial(insert_all, log))
        files = [Path(folder) / f"{number}.jsonl" for number in range(3)]
        for source, file, target in zip((first, database, last), files, (database, last, None), strict=True):
            assert gmd("export", *at(source), "--all", file) == (0, "", "")
            if target is not None:
                assert imported(file, target).status == 0
                assert rows_in(target) == rows_in(first)
        assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()
