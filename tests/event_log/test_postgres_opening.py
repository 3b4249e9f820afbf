"""Opening an event log in PostgreSQL: many daemons at once, and what is refused."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from gmd.event_log.directory import DataError
from gmd.event_log.opening import open_log, open_reader, open_store
from tests.postgres import Postgres, database_of, own_postgres, require_postgres


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    require_postgres()
    with own_postgres() as server:
        yield server


def is_of_the_schema(name: str | None, kind: str, _parents: object) -> bool:
    """Return whether alembic is to compare something: the table of the server comes before the schema."""
    return not (kind == "table" and name == "server")


def refusal(data: Path, url: str, **settings: bool) -> str:
    """Return the sentence with which a database is refused, without the end that libpq gives it."""
    with pytest.raises(DataError) as caught, open_log(str(data), database=url, **settings):
        pass
    return str(caught.value)


def test_one_program_at_a_time_opens_a_database(database_url: str, tmp_path: Path) -> None:
    from gmd.event_log.migrations import HEAD

    with open_log(str(tmp_path / "one"), database=database_url) as log:
        assert log.next_game_id() == 1
        sentence = refusal(tmp_path / "two", database_url)
        assert f" is served by {socket.gethostname()}/{os.getpid()} (gmd " in sentence
        assert sentence.endswith("; stop it first")
        with pytest.raises(DataError, match="is served by"), open_store(str(tmp_path / "two"), database_url):
            pass
    with open_store(str(tmp_path / "two"), database_url) as store:
        assert store.newest_game_id() == 0
    with open_reader("", database_url) as engine, engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").all() == [(HEAD,)]


def test_database_is_upgraded(database_url: str, tmp_path: Path) -> None:
    """It has the tables of revision 0007, and the steps from there lead to the same ones as a new database has."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from gmd.event_log.postgres_engine import open_engine
    from gmd.event_log.tables import metadata, postgres_metadata

    engine = open_engine(database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num varchar(32) PRIMARY KEY)")
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('0007')")
        metadata.create_all(connection)
        connection.exec_driver_sql("ALTER TABLE players DROP COLUMN cookie_epoch, DROP COLUMN ended_cookies")

    with open_log(str(tmp_path), database=database_url) as log:
        assert log.next_game_id() == 1
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_server_default": True, "include_name": is_of_the_schema}
        )
        assert compare_metadata(context, [metadata, postgres_metadata]) == []
    engine.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_server_that_may_lose_games_is_refused_unless_that_is_allowed(
    setting: str, server: Postgres, tmp_path: Path
) -> None:
    url = server.new_database()
    server.restart(**{setting: "off"})
    assert refusal(tmp_path, url) == (
        f"database: {url.replace('/tmp/', '%2Ftmp%2F')} has {setting} = off: after a crash it may have lost games "
        "or be damaged. Turn it on in postgresql.conf, or accept that with --allow-unsafe-database"
    )
    with open_log(str(tmp_path), database=url, allow_unsafe=True):
        pass
    server.restart(**{setting: "on"})
    with open_log(str(tmp_path), database=url):
        pass


@pytest.mark.slow
def test_commits_wait_for_the_disk_whatever_the_server_says(server: Postgres, tmp_path: Path) -> None:
    server.restart(synchronous_commit="off")
    with open_store(str(tmp_path), server.new_database()) as store:
        shown = "SELECT current_setting('synchronous_commit')"
        assert store.write_beside(lambda connection: connection.exec_driver_sql(shown).scalar()) == "on"
    server.restart(synchronous_commit="on")


@pytest.mark.slow
def test_password_is_in_no_sentence(server: Postgres, tmp_path: Path) -> None:
    port = server.port
    server.stop()
    try:
        for url in (
            f"postgresql://gmd:hidden@127.0.0.1:{port}/games",
            f"postgresql://gmd@127.0.0.1:{port}/games?password=hidden",
        ):
            sentence = refusal(tmp_path, url)
            assert "hidden" not in sentence
            start = f"database: postgresql://gmd@127.0.0.1:{port}/games cannot be used: connection failed: "
            assert sentence.startswith(start)
            assert "\n" not in sentence
    finally:
        server.start()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (
            "mysql://gmd:hidden@host/games",
            "database: mysql: is not a kind of database that gmd knows; name one such as postgresql://user@host/name, "
            "or keep the games in SQLite with --data",
        ),
        ("hidden", "database: it is not a URL such as postgresql://user@host/name"),
    ],
)
def test_other_urls_are_refused(url: str, sentence: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, url) == sentence


def test_games_are_not_in_memory_and_in_a_database() -> None:
    assert refusal(Path(":memory:"), "postgresql://host/games") == (
        "database: games are kept in it or, with data = :memory:, in memory, not in both; name a directory with "
        "--data, for the operator's socket"
    )


@pytest.mark.slow
def test_database_of_another_encoding_is_refused(server: Postgres, tmp_path: Path) -> None:
    url = server.new_database("ENCODING 'LATIN1'")
    assert refusal(tmp_path, url).endswith("has the encoding LATIN1; create it with ENCODING 'UTF8' TEMPLATE template0")


def test_database_of_a_newer_program_is_refused(database_url: str, tmp_path: Path) -> None:
    with open_store(str(tmp_path), database_url) as store:
        store.write_beside(
            lambda connection: connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'x'")
        )
    name = re.escape(database_of(database_url))
    assert re.fullmatch(f"database: .*/{name}.* was written by a newer gmd: .*", refusal(tmp_path, database_url))


@pytest.mark.slow
def test_schema_does_not_change_under_daemons_of_an_older_version_that_serve(database_url: str, tmp_path: Path) -> None:
    """One whose lease has run out does not count, and finds its tables gone. Secrets and times stay."""
    from gmd.event_log.migrations import HEAD
    from gmd.event_log.postgres_engine import open_engine

    with open_log(str(tmp_path), database=database_url):
        pass
    engine = open_engine(database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE daemons (daemon bigint PRIMARY KEY, game text, version text, began timestamptz, until"
            " timestamptz)"
        )
        connection.exec_driver_sql("CREATE TABLE shards (shard smallint PRIMARY KEY, daemon bigint)")
        connection.exec_driver_sql("CREATE TABLE matches (match bigint PRIMARY KEY)")
        connection.exec_driver_sql("CREATE TABLE match_games (match bigint PRIMARY KEY)")
        connection.exec_driver_sql(
            "INSERT INTO daemons VALUES (7, 'one:7100', '0.1.0', now(), clock_timestamp() + interval '1 hour')"
        )
        connection.exec_driver_sql("INSERT INTO secrets VALUES ('pages', 'kept')")
        connection.exec_driver_sql("INSERT INTO clocks VALUES ('pruned', 7)")
        connection.exec_driver_sql("ALTER TABLE players DROP COLUMN cookie_epoch, DROP COLUMN ended_cookies")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0010'")
    sentence = refusal(tmp_path, database_url)
    assert "daemons that know no newer one serve it: one:7100 (gmd 0.1.0). Stop all of " in sentence
    with engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == "0010"
        connection.exec_driver_sql("UPDATE daemons SET until = clock_timestamp()")
    with open_log(str(tmp_path), database=database_url):
        pass
    with engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == HEAD
        assert connection.exec_driver_sql("SELECT to_regclass('daemons'), to_regclass('shards')").one() == (None, None)
        assert connection.exec_driver_sql("SELECT value FROM secrets").scalar() == b"kept"
        assert connection.exec_driver_sql("SELECT seen FROM clocks").scalar() == 7
    engine.dispose()
