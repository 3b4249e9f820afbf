"""The PostgreSQL server that tests use."""

from __future__ import annotations

from tests.postgres import new_database, own_postgres
from tests.tools import require_module


def test_databases_of_the_shared_server_are_empty_and_durable(database_url: str) -> None:
    psycopg = require_module("psycopg")
    with new_database() as other, psycopg.connect(database_url) as one, psycopg.connect(other) as two:
        one.execute("CREATE TABLE here (i int)")
        assert two.execute("SELECT to_regclass('here')").fetchone() == (None,)
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            assert one.execute(f"SHOW {name}").fetchone() == ("on",)


def test_commits_are_there_after_a_crash() -> None:
    psycopg = require_module("psycopg")
    with own_postgres() as server:
        url = server.new_database()
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE here AS SELECT 7 AS i")
        server.restart("immediate", fsync="off")
        with psycopg.connect(server.tcp_url(url)) as connection:
            assert connection.execute("SELECT i FROM here").fetchone() == (7,)
            assert connection.execute("SHOW fsync").fetchone() == ("off",)
