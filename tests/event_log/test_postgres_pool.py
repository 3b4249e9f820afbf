"""PostgreSQL by way of pgbouncer: a pool of sessions can be used, and one of transactions is refused."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gmd.event_log.directory import DataError
from gmd.event_log.opening import open_log
from tests.postgres import ROLE, Postgres, database_of, own_postgres, require_postgres, run_as_owner
from tests.serving import reserved_port
from tests.tools import require_program_of

pytestmark = pytest.mark.slow

SETTINGS = """
[databases]
{name} = host=127.0.0.1 port={server.port} user={role}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
so_reuseport = 1
auth_type = any
pool_mode = {mode}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    require_postgres()
    require_program_of("pgbouncer", [Path("/usr/sbin")])
    with own_postgres() as server:
        yield server


@contextmanager
def pool(server: Postgres, url: str, mode: str) -> Iterator[str]:
    """Run pgbouncer before a database; give its URL."""
    with reserved_port() as port:
        file = server.directory / f"{mode}.ini"
        file.write_text(SETTINGS.format(name=database_of(url), server=server, role=ROLE, port=port, mode=mode))
        program = str(require_program_of("pgbouncer", [Path("/usr/sbin")]))
        options = run_as_owner(server.directory) | {"stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([program, str(file)], **options) as process:
            try:
                lines = []
                for line in process.stderr or ():
                    lines.append(line)
                    if "process up" in line:
                        break
                assert process.poll() is None, lines
                yield f"postgresql://{ROLE}@127.0.0.1:{port}/{database_of(url)}"
            finally:
                process.kill()
                process.communicate()


def test_pool_of_sessions_can_be_used(server: Postgres, tmp_path: Path) -> None:
    with (
        pool(server, server.new_database(), "session") as url,
        open_log(str(tmp_path), database=url) as log,
    ):
        assert log.next_game_id() == 1


def test_pool_of_transactions_is_refused(server: Postgres, tmp_path: Path) -> None:
    with pool(server, server.new_database(), "transaction") as url:
        with pytest.raises(DataError) as caught, open_log(str(tmp_path), database=url):
            pass
        assert str(caught.value) == (
            f"database: {url} is reached by a pool that shares sessions between clients (pgbouncer with pool_mode = "
            "transaction or statement); connect to the server itself, or set pool_mode = session"
        )
