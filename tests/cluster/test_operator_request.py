"""``gmd register``, ``rekey``, ``revoke`` and ``players`` with ``--database``: they ask any daemon on it."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import trio

from gmd.cluster.operator_request import NoDaemon, Port, _ask, _read
from tests.cli.commands import gmd
from tests.cluster.test_daemons import Daemons
from tests.tls import make_certificates

KEY = re.compile(r"[\w-]{43}\n")


@pytest.fixture
def daemons(database_url: str, tmp_path: Path) -> Iterator[Daemons]:
    with ExitStack() as stack:
        yield Daemons(database_url, tmp_path, stack)


async def test_accounts_are_changed_by_any_daemon_on_the_database(daemons: Daemons, tmp_path: Path) -> None:
    one, two = daemons.start(), daemons.start()
    await daemons.until(one, two)
    at = ("--database", daemons.url)

    def change() -> tuple[str, str]:
        registered = gmd("register", "first", *at)
        assert KEY.fullmatch(registered.out), registered
        refused = gmd("register", "FIRST", *at)
        assert (refused.status, refused.err.partition(":")[0]) == (1, "Error"), refused
        changed = gmd("rekey", "first", env={"GMD_DATABASE": daemons.url, "GMD_DATA": str(tmp_path / "none")})
        assert KEY.fullmatch(changed.out), changed
        return registered.out.strip(), changed.out.strip()

    old, key = await trio.to_thread.run_sync(change)
    async with one.client() as client:
        assert (await client.ask("hello", name="first", key=old))["code"] == "unauthorized"
    async with two.client() as client:
        assert (await client.ask("hello", name="first", key=key))["error"] is None
        here = await trio.to_thread.run_sync(lambda: gmd("players", "--here", *at))
        assert here.out.endswith("  first  (here)\n"), here
        revoked = await trio.to_thread.run_sync(lambda: gmd("revoke", "first", *at))
        assert revoked.out.startswith("first ("), revoked
    assert gmd("players", *at).out.endswith("  first  (revoked)\n")


async def test_daemon_that_cannot_be_reached_is_passed_over(daemons: Daemons) -> None:
    one = daemons.start()
    await daemons.until(one)
    secret, ports = await trio.to_thread.run_sync(_read, daemons.url)
    assert secret is not None
    ports = [Port(7, "127.0.0.1:1"), *ports]
    request = b'{"kind": "players"}'
    assert b'"error":null' in await _ask(secret, ports, request, 1 << 20, 30.0, None)
    with pytest.raises(NoDaemon, match=r"reached at its port for links: 127\.0\.0\.1:1: "):
        await _ask(secret, ports[:1], request, 1 << 20, 30.0, None)
    with pytest.raises(NoDaemon, match="it ended the connection"):
        await _ask(b"x" * 32, ports[1:], request, 1 << 20, 30.0, None)


def test_command_uses_the_daemons_certificates(daemons: Daemons, tmp_path: Path) -> None:
    files = make_certificates(tmp_path / "tls")
    settings = {"link_cert": str(files.cert), "link_key": str(files.key), "link_ca": str(files.ca)}
    daemons.start(*(part for name, file in settings.items() for part in (f"--{name.replace('_', '-')}", file)))
    env = {f"GMD_{name.upper()}": file for name, file in settings.items()}
    registered = gmd("register", "first", "--database", daemons.url, env=env)
    assert KEY.fullmatch(registered.out), registered
    refused = gmd("register", "second", "--database", daemons.url)
    assert refused.status == 2
    assert "no daemon on it can be reached at its port for links: 127.0.0.1:" in refused.err


def test_database_without_daemons_says_so(database_url: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        assert Daemons(database_url, tmp_path, stack).start().stop(signal.SIGTERM) == 0
    refused = gmd("register", "first", "--database", database_url)
    assert refused.status == 2
    assert refused.err.endswith(": no daemon runs on it; start one with gmd serve --database\n")
    nowhere = gmd("register", "first", "--database", "postgresql://gmd@127.0.0.1:1/games")
    assert nowhere.status == 2
    assert nowhere.err.startswith("Error: database: postgresql://gmd@127.0.0.1:1/games cannot be read: ")
