"""The event log really cannot be written: nothing is acknowledged that is not in it, and it recovers without help."""

from __future__ import annotations

import resource
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import structlog
import trio

from gmd.event_log.directory import DataError
from tests.helpers import Client, Json, durable_daemon, running_daemon, store_in, troubles
from tests.serving import Served, children_of, served

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")
#: More moves than a log that is meant to fail can store.
MANY = 5_000
PATIENCE_SECONDS = 120


async def play_until_refused(client: Client, game_id: int) -> tuple[int, Json]:
    """Return how many moves were acknowledged, and the refusal of the next one."""
    for ply in range(MANY):
        reply = await move(client, game_id, ply)
        if reply["error"] is not None:
            return ply, reply
    raise AssertionError(f"{MANY} moves fitted into the log")


async def move(client: Client, game_id: int, ply: int) -> Json:
    return await client.ask("move", game_id=game_id, player=1 + ply % 2, move=SHUFFLE[ply % 4], ply=ply, brief=True)


async def moves_of(client: Client, game_id: int) -> int:
    reply = await client.ask("history", game_id=game_id)
    assert reply["error"] is None, reply
    return len(reply["moves"])


async def test_full_database_refuses_moves_and_keeps_acknowledged_ones(tmp_path: Path) -> None:
    with structlog.testing.capture_logs(), store_in(tmp_path, max_page_count=30) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            game_id = (await client.new_game())["game_id"]
            acknowledged, refusal = await play_until_refused(client, game_id)
            assert refusal == {
                "state": None,
                "code": "internal",
                "error": f"game {game_id}: the event log cannot be written; nothing was done",
            }
            assert await moves_of(client, game_id) == acknowledged
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            assert await moves_of(client, game_id) == acknowledged
            assert (await move(client, game_id, acknowledged))["error"] is None


async def test_move_is_refused_while_another_process_holds_the_database(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logged, store_in(tmp_path, patience=0) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            game_id = (await client.new_game())["game_id"]
            other = sqlite3.connect(tmp_path / "games.sqlite", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            assert (await move(client, game_id, 0))["code"] == "internal"
            assert await moves_of(client, game_id) == 0
            other.execute("ROLLBACK")
            other.close()
            assert (await move(client, game_id, 0))["error"] is None
    assert [entry.get("reason") for entry in troubles(logged)] == ["OperationalError: database is locked", None]


@pytest.mark.slow
async def test_daemon_stops_in_time_while_another_process_holds_the_database(tmp_path: Path) -> None:
    new_game = {"kind": "new_game", "player_white": 1, "player_black": 2, "brief": True}
    with served("--data", str(tmp_path), "--stop-timeout", "1") as daemon:
        client, other = await connect(daemon), await connect(daemon)
        await client.new_game()
        await client.new_game()
        await client.ask("end_game", game_id=1, player=1, termination="resignation_white")
        assert (await client.ask("wait", any=True, player=2, brief=True))["game_id"] == 1
        await client.ask("ping")  # so that the result counts as delivered; that is written last
        with closing(sqlite3.connect(tmp_path / "games.sqlite", isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            await client.send({"kind": "move", "game_id": 2, "player": 1, "move": "Nf3"})
            await other.send(new_game)  # this request is batched while the move waits to be written
            assert daemon.stop(signal.SIGTERM) == 0
            holder.execute("ROLLBACK")
        for each in (client, other):
            assert await unacknowledged(each)
            await each.aclose()
    with store_in(tmp_path) as store:
        assert (len(store.load(2)), store.newest_game_id()) == (1, 2)


async def unacknowledged(client: Client) -> bool:
    """Return whether the connection ended without a reply, or with an error."""
    try:
        return (await client.receive())["error"] is not None
    except (EOFError, trio.BrokenResourceError):
        return True


async def connect(daemon: Served) -> Client:
    client = Client(await trio.open_tcp_stream(daemon.host, daemon.port))
    assert (await client.ask("hello"))["error"] is None
    return client


#: What is said of a game whose events do not apply to each other, and of one that lacks some.
UNPLAYABLE = "its events do not apply to each other, so it cannot be played on; gmd check says where"
INCOMPLETE = "some of its events are missing in the log, so it cannot be continued; gmd check says more"


@pytest.mark.parametrize(
    ("damage", "sentence", "reason"),
    [
        ("UPDATE events SET event = replace(event, 'e2e4', 'e2e5') WHERE game_id = 1", UNPLAYABLE, None),
        (
            "UPDATE events SET event = (SELECT event FROM events WHERE game_id = 1 AND seq = 2) "
            "WHERE game_id = 1 AND seq = 0",
            UNPLAYABLE,
            None,
        ),
        (
            "DELETE FROM events WHERE game_id = 1 AND seq = 2",
            INCOMPLETE,
            "it has 7 events, and event 2 is missing",
        ),
        (
            "UPDATE events SET seq = 9 WHERE game_id = 1 AND seq = 0",
            INCOMPLETE,
            "it has 7 events, and event 0 is missing",
        ),
        ("UPDATE games SET events = 3 WHERE game_id = 1", INCOMPLETE, "it has 3 events, and event 3 is there"),
    ],
)
async def test_damaged_game_is_reported_refused_and_affects_no_other(
    damage: str, sentence: str, reason: str | None, tmp_path: Path
) -> None:
    with structlog.testing.capture_logs() as logged, store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            for game_id in (1, 2):
                await client.new_game(clock={"initial": 1000})
                await client.play(game_id, "e4", "Nf6", "Nf3", "Ng8")  # some could be left out without an illegal move
        with closing(sqlite3.connect(tmp_path / "games.sqlite")) as connection, connection:
            connection.execute(damage)
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            assert await client.ask("state", game_id=1) == {"code": "internal", "error": f"game 1: {sentence}"}
            daemon.arbiter.deadlines.set(1, trio.current_time())  # its clock has run out
            while store.loads.count(1) < 2:
                await trio.testing.wait_all_tasks_blocked()
            assert await moves_of(client, 2) == 4
    event = "a game is damaged" if reason else "a game cannot be replayed"
    found = [(entry["event"], entry["game_id"], entry.get("reason")) for entry in troubles(logged)]
    assert found == [(event, 1, reason)] * 2


def without_page(whole: bytes, page: int, size: int) -> bytes:
    """Return a database's file with one page, counted from 1, overwritten."""
    return whole[: (page - 1) * size] + b"\xff" * size + whole[page * size :]


async def test_daemon_with_unreadable_live_games_does_not_start_and_says_why(tmp_path: Path) -> None:
    async with running_daemon(data=str(tmp_path)):
        pass
    with sqlite3.connect(tmp_path / "games.sqlite") as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'games_with_clocks'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    (tmp_path / "games.sqlite").write_bytes(without_page((tmp_path / "games.sqlite").read_bytes(), page, size))
    with structlog.testing.capture_logs() as logged, pytest.raises(DataError) as refused:
        async with running_daemon(data=str(tmp_path)):
            pass
    assert str(refused.value) == (
        f"data: the live games in {tmp_path} cannot be read (database disk image is malformed). "
        f"`gmd export --data {tmp_path} --all whole.jsonl --replay` exports what is whole, for `gmd import` into a new "
        "directory"
    )
    reason = "DatabaseError: database disk image is malformed"
    assert [(entry["event"], entry["reason"]) for entry in troubles(logged)] == [
        ("the event log cannot be read", reason)
    ]


async def test_damaged_page_is_reported_and_affects_only_what_is_on_it(tmp_path: Path) -> None:
    file = tmp_path / "games.sqlite"
    with structlog.testing.capture_logs(), store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            await client.play((await client.new_game())["game_id"], "e4")
    with sqlite3.connect(file) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_%_events_1'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    whole = file.read_bytes()
    file.write_bytes(without_page(whole, page, size))
    with structlog.testing.capture_logs() as logged, store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            assert [row["game_id"] for row in (await client.ask("games"))["games"]] == [1]
            read = await client.ask("state", game_id=1)
            assert (read["code"], read["error"]) == (
                "internal",
                "game 1: the event log cannot be read; nothing was done",
            )
            made = await client.ask("new_game", player_white=1, player_black=2)
            assert (made["code"], made["game_id"], made["error"]) == (
                "internal",
                None,
                "game 2: the event log cannot be written; nothing was done",
            )
    reason = "DatabaseError: database disk image is malformed"
    assert [(entry["event"], entry["reason"]) for entry in troubles(logged)] == [
        ("the event log cannot be read", reason),
        ("the event log cannot be written", reason),
    ]
    file.write_bytes(whole)
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            assert await moves_of(await daemon.connect(), 1) == 1


def limit(served: Served, size: int) -> None:
    """Limit the size in bytes of files that any process of the daemon writes."""
    for pid in (served.process.pid, *children_of(served.process.pid)):
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


async def test_no_player_loses_on_time_while_the_log_cannot_be_written(tmp_path: Path) -> None:
    seconds = 20.0
    with structlog.testing.capture_logs(), store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect(player=1)
            await client.new_game(1, 1, clock={"initial": seconds})
            await client.ask("state", game_id=1)
            store.fault = OSError("input/output error")
            assert (await move_as_one(client))["code"] == "internal"
            clock = (await client.ask("state", game_id=1))["state"]["clock"]
            assert clock["black"] == seconds
            assert 0 < clock["white"] <= seconds
            store.fault = None
            assert (await move_as_one(client))["error"] is None


async def move_as_one(client: Client) -> Json:
    return await client.ask("move", game_id=1, move="e4", ply=0)
