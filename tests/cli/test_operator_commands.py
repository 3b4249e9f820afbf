"""``gmd register``, ``players``, ``rekey`` and ``revoke`` work against a running daemon."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gm_protocol.framing import FrameDecoder, encode_frame
from gmd import Config, Daemon, background_daemon
from gmd.background import BackgroundDaemon
from gmd.cli import main
from gmd.players.account import FIRST_PLAYER
from tests.cli.commands import gmd
from tests.helpers import cheap_passwords

KEY = re.compile(r"[\w-]{43}\n")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def daemon(directory: Path) -> Iterator[BackgroundDaemon]:
    """Yield one daemon for the tests of this module, which register players of different names."""
    with background_daemon(Config(port=0, data=str(directory))) as running:
        running.run(_cheapen)
        yield running


async def _cheapen(daemon: Daemon) -> None:
    daemon.authenticator.passwords = cheap_passwords()


def hello(daemon: BackgroundDaemon, **fields: Any) -> Any:
    """Return the player that a hello on the game port is accepted as, or the code of its refusal."""
    with socket.create_connection(("127.0.0.1", daemon.port)) as connection:
        connection.sendall(encode_frame(json.dumps({"kind": "hello", **fields}).encode()))
        decoder = FrameDecoder()
        while (body := decoder.next_frame()) is None:
            decoder.feed(connection.recv(1 << 16))
        reply = json.loads(body)
        return reply.get("code", reply.get("player"))


def test_register_prints_a_valid_key(daemon: BackgroundDaemon, directory: Path) -> None:
    ran = gmd("register", "first", "--data", directory)
    assert ran.status == 0
    assert KEY.fullmatch(ran.out)
    assert ran.err == f"first is player {FIRST_PLAYER}. Keep its key, which is shown only once.\n"
    assert hello(daemon, name="FIRST", key=ran.out.strip()) == FIRST_PLAYER


def test_password_is_read_from_standard_input(daemon: BackgroundDaemon, directory: Path) -> None:
    arguments = ["register", "with-password", "--password", "--data", str(directory)]
    assert CliRunner().invoke(main, arguments, input="correct horse\n").exit_code == 0
    assert hello(daemon, name="with-password", password="correct horse") in range(FIRST_PLAYER, FIRST_PLAYER + 9)
    refused = CliRunner().invoke(main, ["register", "other", *arguments[2:]], input="short\n")
    assert refused.exit_code == 1
    assert refused.stderr == "Error: password: 5 characters are not between 8 and 256\n"


def test_rekey_and_revoke_accept_a_name_or_an_id(daemon: BackgroundDaemon, directory: Path) -> None:
    key = gmd("register", "changing", "--data", directory).out.strip()
    player = hello(daemon, name="changing", key=key)
    assert player >= FIRST_PLAYER
    for who in ("Changing", player):
        ran = gmd("rekey", who, "--data", directory)
        assert hello(daemon, player=player, key=key) == "unauthorized"
        key = ran.out.strip()
        assert hello(daemon, player=player, key=key) == player
    ran = gmd("revoke", player, "--data", directory)
    assert (ran.status, ran.out) == (0, f"changing ({player}) no longer has a key.\n")
    assert hello(daemon, player=player, key=key) == "unauthorized"
    assert f"{player}  " in gmd("players", "--data", directory).out
    assert gmd("players", "--data", directory).out.splitlines()[0].endswith("  changing  (revoked)")


@pytest.mark.slow
def test_players_lists_more_players_than_a_page_holds(daemon: BackgroundDaemon, directory: Path) -> None:
    names = [f"many-{number}" for number in range(150)]
    for name in names:
        daemon.ask_as_operator("register", name=name)
    listed = [line.split()[2] for line in gmd("players", "--data", directory).out.splitlines()]
    assert listed[:150] == names[::-1]


def test_refusal_by_the_daemon_is_reported(daemon: BackgroundDaemon, directory: Path) -> None:
    gmd("register", "taken", "--data", directory)
    for command, why in {
        ("register", "taken"): "name: 'taken' is taken; choose another",
        ("register", "a  b"): 'name: "a  b": a name has 1 to 64 letters',
        ("rekey", "nobody"): "name: nobody is registered as 'nobody'",
        ("revoke", 2**53 - 1): f"player: nobody is registered as {2**53 - 1}",
    }.items():
        ran = gmd(*command, "--data", directory)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith(f"Error: {why}")


def test_missing_daemon_is_reported(tmp_path: Path) -> None:
    for command in (("register", "bot"), ("players",), ("rekey", "bot"), ("revoke", "bot")):
        ran = gmd(*command, "--data", tmp_path)
        assert (ran.status, ran.out) == (2, "")
        assert (
            ran.err
            == f"Error: no daemon runs in {tmp_path}: start one with gmd serve, or run this command on the machine of "
            "the daemon that serves, with its --data\n"
        )


def test_daemon_without_a_data_directory_has_no_operator_socket() -> None:
    ran = gmd("players")
    assert ran.status == 2
    assert "data: :memory: has no files; name a directory with --data" in ran.err
