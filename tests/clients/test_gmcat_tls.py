"""gmcat under TLS: the servers that it trusts, and its errors about others."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL

import pytest

from tests.clients.running import (
    GMCAT,
    NEW_GAME,
    PATIENCE,
    PING,
    Server,
    address,
    ask,
    complaint,
    conversation_with_several,
    gmcat,
    replies,
)
from tests.clients.scripted import ScriptedServer
from tests.ended import ended
from tests.serving import Served, reserved_port, served
from tests.tls import Certificates, make_certificates


@pytest.fixture(scope="module")
def tls_process(certificates: Certificates) -> Iterator[Served]:
    """Yield a daemon with TLS."""
    with served(*certificates.flags) as daemon:
        yield daemon


def test_requests_are_answered_under_tls(tls_process: Served, certificates: Certificates) -> None:
    trusting = ("--tls", "--ca", str(certificates.ca))
    for run in (gmcat(tls_process, *trusting, NEW_GAME), gmcat(tls_process, *trusting, lines=f"{PING}\n{PING}\n")):
        assert (run.returncode, run.stderr) == (0, b"")
        assert {reply["error"] for reply in replies(run)} == {None}


def test_session_with_several_servers_goes_on_under_tls(certificates: Certificates, tmp_path: Path) -> None:
    data = ("--data", str(tmp_path), *certificates.flags, "--port")
    trusting = ("--tls", "--ca", str(certificates.ca))
    with (
        reserved_port() as one,
        reserved_port() as two,
        ended(conversation_with_several(one, two, options=(*trusting, "--timeout", "100"))) as process,
    ):
        with served(*data, str(one)) as daemon:
            assert ask(process, kind="ping")["error"] is None
            daemon.stop(SIGKILL)
        with served(*data, str(two)):
            made = [ask(process, kind="new_game", player_white=1, player_black=2)["game_id"] for _ in range(2)]
            process.communicate(timeout=PATIENCE)
    assert (process.returncode, made) == (0, [1, 2])


def test_certificate_is_valid_for_the_host_name_too(tls_process: Served, certificates: Certificates) -> None:
    named = ScriptedServer("localhost", tls_process.port)
    assert gmcat(named, "--tls", "--ca", str(certificates.ca), PING).returncode == 0


def test_untrusted_certificate_exits_with_2(tls_process: Served, tmp_path: Path) -> None:
    said = complaint(gmcat(tls_process, "--tls", PING))
    assert said == (
        "the server is not verified as 127.0.0.1: unable to get local issuer certificate"
        "; use --ca FILE to trust your own certificate"
    )
    other = make_certificates(tmp_path)
    said = complaint(gmcat(tls_process, "--tls", "--ca", str(other.ca), PING))
    assert said == "the server is not verified as 127.0.0.1: unable to get local issuer certificate"


def test_certificate_of_another_host_exits_with_2(certificates: Certificates) -> None:
    with served("--host", "127.0.0.2", *certificates.flags) as daemon:
        said = complaint(gmcat(daemon, "--tls", "--ca", str(certificates.ca), PING))
    assert said == (
        "the server is not verified as 127.0.0.2: IP address mismatch, certificate is not valid for '127.0.0.2'"
    )


@pytest.mark.parametrize(
    ("text", "reason"), [(None, "No such file or directory"), ("nonsense", "holds no certificate in PEM")]
)
def test_unusable_ca_file_exits_with_2(text: str | None, reason: str, tls_process: Served, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text, "utf-8")
    assert complaint(gmcat(tls_process, "--tls", "--ca", str(file), PING)) == f"--ca: {file}: {reason}"


def test_plaintext_to_a_tls_port_prints_the_reply_of_the_server(tls_process: Served) -> None:
    for run in (gmcat(tls_process, PING), gmcat(tls_process, lines=PING)):
        assert run.returncode == 1
        assert [reply["error"] for reply in replies(run)] == [
            "this port speaks TLS, and what came is not: connect with TLS"
        ]


def test_tls_to_a_port_without_tls_exits_with_2(daemon_process: Server) -> None:
    said = complaint(gmcat(daemon_process, "--tls", PING))
    assert said.startswith("TLS with 127.0.0.1 failed: ")
    assert said.endswith(" (does the server use TLS?)")


def test_server_that_stalls_the_handshake_exits_with_2() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = ScriptedServer(*silent.getsockname())
        said = complaint(gmcat(server, "--tls", "--timeout", "0.2", PING))
    assert said == "TLS with 127.0.0.1 failed: it did not answer in time"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--ca", "ca.pem"], "--ca needs --tls"),
        (["--tls", "--socket", "x"], "--tls cannot be combined with --socket: only the game port has TLS"),
    ],
)
def test_options_that_exclude_each_other_exit_with_2(arguments: list[str], error: str) -> None:
    run = subprocess.run([*GMCAT, *arguments, PING], capture_output=True, text=True, timeout=PATIENCE)
    assert (run.returncode, run.stderr.splitlines()[-1]) == (2, f"gmcat: error: {error}")


def test_tls_needs_only_the_standard_library(tls_process: Served, certificates: Certificates) -> None:
    code = (
        "import sys; before = set(sys.modules); from gm_client.gmcat import main; status = main();"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr); sys.exit(status)"
    )
    command = [sys.executable, "-c", code, *address(tls_process), "--tls", "--ca", str(certificates.ca), PING]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0
    loaded = {name.partition(".")[0] for name in run.stderr.split()}
    assert loaded - sys.stdlib_module_names == {"gm_client"}
    assert loaded.isdisjoint({"asyncio", "dataclasses", "http", "inspect", "multiprocessing", "typing"})
