"""``gmd serve`` with TLS, as an operator runs it: start, renewal of the certificate, stop."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from typing import IO

import pytest
import trio

from tests.ended import ended
from tests.serving import SERVE, STOP_SECONDS, Served, environment, first_lines, served
from tests.tls import Certificates, TlsClient, make_certificates

pytestmark = pytest.mark.slow


async def connect(port: int, certificates: Certificates) -> TlsClient:
    client = TlsClient(await trio.open_tcp_stream("127.0.0.1", port), certificates)
    await client.ask("hello")
    return client


JSON_LOG = {"GMD_LOG_FORMAT": "json"}


def said(daemon: Served) -> tuple[str, str | None]:
    """Return what the daemon's log says next about a SIGHUP, and the reason that it gives."""
    errors: IO[str] | None = daemon.process.stderr
    assert errors is not None
    for line in errors:
        entry = json.loads(line)
        if entry["event"].startswith("SIGHUP"):
            return entry["event"], entry.get("reason")
    raise AssertionError("the log has ended")


async def test_daemon_finishes_requests_in_progress_and_waits_for_no_handshake(certificates: Certificates) -> None:
    with served(*certificates.flags) as daemon:
        assert f" --tls --server NAME:{daemon.port} '" in daemon.lines[-1]
        silent = socket.create_connection(("127.0.0.1", daemon.port))
        player, idle = [await connect(daemon.port, certificates) for _ in range(2)]
        await player.send(
            {"kind": "new_game", "player_white": 1, "player_black": 2, "brief": True},
            {"kind": "wait", "game_id": 1, "player": 2, "brief": True},
        )
        assert (await player.receive())["game_id"] == 1
        daemon.process.send_signal(signal.SIGTERM)
        assert (await player.receive())["state"]["turn"] == "white"
        for client in (player, idle):
            assert await client.closed()
            await client.aclose()
        assert daemon.process.wait(STOP_SECONDS) == 0
        silent.close()


async def test_sighup_reads_certificate_and_key_again(certificates: Certificates, tmp_path: Path) -> None:
    used = make_certificates(tmp_path / "used")
    old = Certificates(shutil.copy(used.ca, tmp_path / "old.pem"), used.cert, used.key)
    with served(*used.flags, env=JSON_LOG) as daemon:
        before = await connect(daemon.port, old)
        new = make_certificates(tmp_path / "used")
        daemon.process.send_signal(signal.SIGHUP)
        assert said(daemon) == ("SIGHUP: certificate and key are read again, for connections from now on", None)
        after = await connect(daemon.port, new)
        new.key.unlink()
        daemon.process.send_signal(signal.SIGHUP)
        reason = f"tls_key: {new.key} cannot be read: No such file or directory"
        assert said(daemon) == ("SIGHUP: the certificate stays as it was", reason)
        for client in (before, after, await connect(daemon.port, new)):
            assert await client.ask("ping") == {"error": None}
            await client.aclose()
        assert daemon.stop(signal.SIGTERM) == 0


def test_sighup_without_a_certificate_changes_nothing() -> None:
    with served(env=JSON_LOG) as daemon:
        daemon.process.send_signal(signal.SIGHUP)
        assert said(daemon) == ("SIGHUP: there is no certificate to read again", None)
        assert daemon.stop(signal.SIGTERM) == 0


def test_sighup_from_its_own_terminal_stops_the_daemon() -> None:
    """Closing the window is meant to end what runs in it."""
    ours, theirs = pty.openpty()
    pipe = subprocess.PIPE
    command = [*SERVE, "--port", "0"]
    started = subprocess.Popen(command, env=environment(), stdin=theirs, stdout=pipe, stderr=theirs, text=True)
    with ended(started) as process:
        first_lines(process)
        os.close(theirs)
        os.close(ours)  # its output has nowhere to go
        process.send_signal(signal.SIGHUP)
        assert process.wait(STOP_SECONDS) == 0
