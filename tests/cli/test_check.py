"""``gmd check`` finds nothing wrong in an undamaged log, and finds, reports and counts every kind of damage."""

from __future__ import annotations

import os
from pathlib import Path
from signal import SIGKILL

import pytest
import trio

from gmd.event_log.checking import problem_of
from gmd.event_log.opening import open_reader
from gmd.event_log.reading import LogReader
from tests.cli.commands import change, client_of, database, gmd, joined
from tests.helpers import Client
from tests.serving import children_of, served

FIRST = "This is the first damage found; use --all to find the rest."


def test_log_left_by_a_daemon_is_undamaged(played_data: Path) -> None:
    before = (played_data / "games.sqlite").read_bytes()
    assert gmd("check", "--data", played_data) == (0, "5 games with 16 events: nothing is damaged.\n", "")
    assert (played_data / "games.sqlite").read_bytes() == before


#: Statements that damage a log, and the problem that is reported for each.
DAMAGES: dict[str, tuple[str, str]] = {
    "an illegal move": (
        """UPDATE events SET event = '{"event":"moved","move":"e2e5"}' WHERE game_id = 1 AND seq = 1""",
        "game 1, event 1: it does not apply: move: 'e2e5' is not legal for white in "
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    ),
    "a gap": ("DELETE FROM events WHERE game_id = 1 AND seq = 2", "game 1, event 2: it is missing; the next one is 3"),
    "no beginning": (
        "DELETE FROM events WHERE game_id = 1 AND seq = 0",
        "game 1, event 0: it is missing; the next one is 1",
    ),
    "no end": (
        "DELETE FROM events WHERE game_id = 1 AND seq = 4",
        "game 1: its row says that status is 'over'; its events say 'live'",
    ),
    "no events": ("DELETE FROM events WHERE game_id = 1", "game 1, event 0: it does not apply: the game has no events"),
    "no JSON": (
        "UPDATE events SET event = '{' WHERE game_id = 1 AND seq = 3",
        "game 1, event 3: it cannot be read: Input data was truncated: '{'",
    ),
    "no text": (
        "UPDATE events SET event = x'ff00' WHERE game_id = 1 AND seq = 3",
        "game 1, event 3: it cannot be read: JSON is malformed: invalid character (byte 0): b'\\xff\\x00'",
    ),
    "no event": (
        """UPDATE events SET event = '{"event":"castled"}' WHERE game_id = 1 AND seq = 3""",
        "game 1, event 3: it cannot be read: Invalid value 'castled' - at `$.event`: '{\"event\":\"castled\"}'",
    ),
    "no game": (
        "DELETE FROM games WHERE game_id = 3",
        "game 3: the log has events or a token of this game, but not the game",
    ),
    "no game at the end": (
        "INSERT INTO events VALUES (77, 5, '{}')",
        "game 77: the log has events or a token of this game, but not the game",
    ),
    "no game at the beginning": (
        "INSERT INTO events VALUES (-1, 5, '{}')",
        "game -1: the log has events or a token of this game, but not the game",
    ),
    "no game of a token": (
        "UPDATE tokens SET game_id = 60",
        "game 60: the log has events or a token of this game, but not the game",
    ),
    "no number of a token": (
        "UPDATE tokens SET game_id = 'x'",
        "game 'x': the log has events or a token of this game, but not the game",
    ),
    **{
        name: (
            f"UPDATE games SET {column} = {value} WHERE game_id = {game_id}",
            f"game {game_id}: its row says that {column} is {said}",
        )
        for name, game_id, column, value, said in [
            ("side to move", 3, "turn", "'black'", "'black'; its events say 'white'"),
            ("seconds left", 2, "seconds_left", "seconds_left + 1", ""),
            ("no seconds left", 2, "seconds_left", "NULL", "None; its events say "),
            ("termination", 4, "termination", "'draw_agreed'", "'draw_agreed'; its events say 'draw_repetition'"),
            ("plies", 4, "ply_index", "7", "7; its events say 8"),
            ("count", 5, "events", "3", "3; its events say 2"),
            ("player", 5, "player_black", "9", "9; its events say 5"),
            ("variant", 3, "variant", "'standard'", "'standard'; its events say 'chess960'"),
            ("clocked", 2, "clocked", "0", "False; its events say True"),
        ]
    },
    "an end of a live game": (
        "UPDATE games SET ended = 5.0 WHERE game_id = 2",
        "game 2: its row says that it ended at 5.0; its events say that it is live",
    ),
    "no time of an end": (
        "UPDATE games SET ended = NULL WHERE game_id = 1",
        "game 1: its row says that it ended at None; its events say that it is over",
    ),
    "told the end of a live game": (
        "UPDATE games SET white_open = 0 WHERE game_id = 2",
        "game 2: its row says that a player has been shown the end; its events say that it is live",
    ),
}


def problems(data: Path) -> list[str]:
    """Return the problems found in a log, without running the command in its own process."""
    with open_reader(str(data)) as engine:
        return [problem for stored in LogReader(engine).everything() if (problem := problem_of(stored))]


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_and_reported(name: str, data: Path) -> None:
    statement, said = DAMAGES[name]
    change(data, statement)
    (problem,) = problems(data)
    assert problem[: len(said)] == said


def test_damaged_rows_beside_the_games_are_reported(data: Path) -> None:
    change(
        data,
        "INSERT INTO players (player, name, folded, created) VALUES (7, 'x', 'x', '')",
        *(f"INSERT INTO contests VALUES ({number}, NULL, 0, x'00', 0.0, 0.0, '')" for number in (1, 2)),
    )
    row = "contests, row {}: token is not a digest of 32 bytes"
    status, out, _ = gmd("check", "--data", data, "--all")
    assert (status, out.splitlines()[1:]) == (
        1,
        [row.format(1), row.format(2), "1 damaged player.", "2 damaged contests."],
    )
    assert out.startswith("players, row 7: ")
    change(data, "DELETE FROM players")
    assert gmd("check", "--data", data) == (1, joined([row.format(1), FIRST]), "")


def test_check_stops_at_the_first_damage(data: Path) -> None:
    change(data, DAMAGES["plies"][0], DAMAGES["an illegal move"][0])
    assert gmd("check", "--data", data) == (1, joined([DAMAGES["an illegal move"][1], FIRST]), "")


def test_all_option_reports_and_counts_every_damaged_game(data: Path) -> None:
    change(data, DAMAGES["a gap"][0], DAMAGES["plies"][0], DAMAGES["no game at the end"][0])
    assert gmd("check", "--data", data, "--all") == (
        1,
        joined(
            [
                "game 1, event 2: it is missing; the next one is 3",
                "game 4: its row says that ply_index is 7; its events say 8",
                "game 77: the log has events or a token of this game, but not the game",
                "3 damaged games, of 5 games.",
            ]
        ),
        "",
    )


@pytest.mark.slow
def test_check_reads_more_games_than_one_batch_holds(data: Path, tmp_path: Path) -> None:
    exported = tmp_path / "games.jsonl"
    assert gmd("export", "--data", data, "--format", "jsonl", "--game", 1, "--output", exported).status == 0
    line = exported.read_text()
    exported.write_text("".join(line.replace('"game_id":1,', f'"game_id":{number},') for number in range(100, 200)))
    assert gmd("import", "--data", data, exported).status == 0
    assert gmd("check", "--data", data).out == "105 games with 516 events: nothing is damaged.\n"
    change(data, "UPDATE games SET ply_index = 5 WHERE game_id = 199", "DELETE FROM games WHERE game_id = 150")
    assert gmd("check", "--data", data, "--all").out.splitlines() == [
        "game 150: the log has events or a token of this game, but not the game",
        "game 199: its row says that ply_index is 5; its events say 4",
        "2 damaged games, of 104 games.",
    ]


def test_damaged_index_page_is_reported_as_damage(data: Path) -> None:
    with database(data) as connection:
        size, root = connection.execute(
            "SELECT page_size, rootpage FROM pragma_page_size, sqlite_schema WHERE name = 'games_by_status'"
        ).fetchone()
    file = data / "games.sqlite"
    content = bytearray(file.read_bytes())
    content[(root - 1) * size + 8 : root * size] = bytes(size - 8)
    file.write_bytes(content)
    status, out, err = gmd("check", "--data", data)
    assert (status, err) == (1, "")
    assert out.startswith("file: ")
    assert out.splitlines()[-1] == FIRST
    assert gmd("check", "--data", data, "--all").status == 1


def test_damaged_page_of_events_is_reported_as_damage(data: Path) -> None:
    with database(data) as connection:
        size, root = connection.execute(
            "SELECT page_size, rootpage FROM pragma_page_size, sqlite_schema WHERE name = 'events'"
        ).fetchone()
    file = data / "games.sqlite"
    content = bytearray(file.read_bytes())
    content[(root - 1) * size : root * size] = b"\xff" * size
    file.write_bytes(content)
    status, out, err = gmd("check", "--data", data, "--all")
    assert (status, err) == (1, "")
    assert out.splitlines()[-1] == "file: nothing can be read after the first 0 games: database disk image is malformed"


def test_check_of_games_out_of_order_ends(data: Path, tmp_path: Path) -> None:
    """The row of the last game has the number 1, so that reading on after it begins again."""
    exported = tmp_path / "games.jsonl"
    assert gmd("export", "--data", data, "--format", "jsonl", "--game", 1, "--output", exported).status == 0
    line = exported.read_text()
    exported.write_text("".join(line.replace('"game_id":1,', f'"game_id":{number},') for number in range(6, 31)))
    assert gmd("import", "--data", data, exported).status == 0
    with database(data) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'games'").fetchone()
    content = bytearray((data / "games.sqlite").read_bytes())
    page = (root - 1) * 4_096
    cells = [int.from_bytes(content[page + at : page + at + 2], "big") for at in range(8, 8 + 2 * 30, 2)]
    (row,) = (page + cell + 1 for cell in cells if content[page + cell + 1] == 30)
    content[row] = 1
    (data / "games.sqlite").write_bytes(content)
    ran = gmd("check", "--data", data, "--all")
    assert ran.status == 1
    assert ran.out.splitlines()[-1] == (
        "file: nothing can be read after the first 16 games: OutOfOrder: game 1 follows game 29"
    )


def test_unreadable_log_is_reported(tmp_path: Path, data: Path) -> None:
    file = tmp_path / "games.sqlite"
    missing = gmd("check", "--data", tmp_path)
    assert missing == (2, "", f"Error: data: there is no log of games: {file} does not exist\n")
    file.write_bytes(b"my novel" * 1_000)
    novel = gmd("check", "--data", tmp_path)
    command = f"gmd export --data {tmp_path} --all whole.jsonl --replay"
    advice = f"`{command}` exports what is whole, for `gmd import` into a new directory"
    said = f"Error: data: {file} cannot be read as a log of games: file is not a database. {advice}\n"
    assert novel == (2, "", said)
    file.write_bytes(b"")
    assert gmd("check", "--data", tmp_path) == (2, "", f"Error: data: {file} has no games in it, nor tables for them\n")
    name = "x" * 300
    unseen = gmd("check", "--data", tmp_path / name)
    reason = "cannot be read: File name too long"  # for any user but root, a directory that only the daemon may read
    assert unseen == (2, "", f"Error: data: {tmp_path / name / 'games.sqlite'} {reason}\n")
    memory = gmd("check", "--data", ":memory:")
    assert (memory.status, memory.err.splitlines()[-1]) == (
        2,
        "Error: data: :memory: has no files; name a directory with --data",
    )


@pytest.mark.parametrize("revision", ["0001", "9999"])
def test_log_of_another_schema_revision_is_left_unchanged(revision: str, data: Path) -> None:
    change(data, f"UPDATE alembic_version SET version_num = '{revision}'")
    status, out, err = gmd("check", "--data", data)
    assert (status, out) == (2, "")
    assert err.startswith(f"Error: data: {data}/games.sqlite is at revision {revision} of its schema, and this program")
    with database(data) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (revision,)


async def test_log_is_checked_while_a_daemon_writes_it(tmp_path: Path) -> None:
    async with client_of(tmp_path) as client:
        await client.new_game()
        await client.play(1, "e4", "e5")
        checked = gmd("check", "--data", tmp_path)
        assert checked == (0, "1 game with 3 events: nothing is damaged.\n", "")
        await client.play(1, "Nf3")
        assert gmd("check", "--data", tmp_path).out == "1 game with 4 events: nothing is damaged.\n"


@pytest.mark.slow
async def test_log_of_a_killed_daemon_is_checked(tmp_path: Path) -> None:
    with served("--data", str(tmp_path)) as daemon:
        client = Client(await trio.open_tcp_stream(daemon.host, daemon.port))
        await client.ask("hello")
        await client.new_game()
        for process in (
            *children_of(daemon.process.pid),
            daemon.process.pid,
        ):  # the commit process would tidy up the WAL
            os.kill(process, SIGKILL)
        daemon.process.wait()
        await client.aclose()
    assert (tmp_path / "games.sqlite-wal").stat().st_size
    assert gmd("check", "--data", tmp_path).out == "1 game with 1 event: nothing is damaged.\n"


def test_daemon_settings_choose_the_log_to_check(played_data: Path, tmp_path: Path) -> None:
    file = tmp_path / "gmd.toml"
    file.write_text(f'data = "{played_data}"\nport = 7200\n', "utf-8")
    environment_wins = gmd("check", "--config", file)
    assert environment_wins.err.splitlines()[-1].startswith("Error: data: :memory: has no files")
    assert gmd("check", "--config", file, "--data", played_data).status == 0
    file.write_text("prot = 7200\n", "utf-8")
    assert gmd("check", "--config", file).status == 2
