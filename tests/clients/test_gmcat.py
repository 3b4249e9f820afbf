"""gmcat as its users run it: what it sends and prints, its options, its errors, and its exit status.

Its sessions with several servers are in ``test_reconnecting.py``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gmd
from gm_client import gmcat as module
from gmd.background import BackgroundDaemon
from tests.clients.running import (
    GMCAT,
    NEW_GAME,
    OK,
    PATIENCE,
    PING,
    UNKNOWN,
    Server,
    address,
    ask,
    complaint,
    conversation,
    gmcat,
    replies,
)
from tests.clients.scripted import Peer, ScriptedServer, answer_all, answer_once, serving
from tests.ended import ended
from tests.serving import reserved_port
from tests.tls import Certificates, make_certificates

HELLO = {"kind": "hello", "protocol": 2, "client": f"gmcat/{module.VERSION}"}


def alone(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run gmcat with these arguments only."""
    return subprocess.run([*GMCAT, *arguments], capture_output=True, timeout=PATIENCE, cwd=cwd)


# What it sends.


def test_single_argument_is_sent_as_a_version_1_session() -> None:
    with serving(answer_once(OK)) as server:
        run = gmcat(server, PING)
    assert (run.returncode, run.stdout) == (0, OK + b"\n")
    assert server.sessions == [[PING.encode()]]


def test_lines_or_several_arguments_are_one_version_2_session() -> None:
    """Blank lines are skipped, and the reply to gmcat's own hello is not printed."""
    with serving(answer_all) as server:
        runs = [gmcat(server, lines=f"\n  \n{PING}\r\n\n{NEW_GAME}\n\n"), gmcat(server, PING, NEW_GAME)]
    for run, (hello, *requests) in zip(runs, server.sessions, strict=True):
        assert (run.returncode, run.stdout) == (0, 2 * (OK + b"\n"))
        assert json.loads(hello) == HELLO
        assert requests == [PING.encode(), NEW_GAME.encode()]


def test_hello_of_the_user_replaces_the_hello_of_gmcat() -> None:
    hello = b'{ "client" : "mine", "kind" : "hello" }'
    with serving(answer_all) as server:
        run = gmcat(server, lines=hello + b"\n" + PING.encode())
    assert server.sessions == [[hello, PING.encode()]]
    assert len(replies(run)) == 2


def test_json_is_sent_exactly_as_written() -> None:
    texts = [
        '{"kind":"ping","kind":"state"}',
        '  {"a":1.50, "b":1e400, "\\u0041":"\\ud800"} ',
        '{"é":"象"}',
        "9" * 5000,
        "[" * 100_000 + "]" * 100_000,
    ]
    with serving(answer_all) as server:
        assert gmcat(server, lines="\n".join(texts)).returncode == 0
    assert server.sessions[0][1:] == [text.encode() for text in texts]


def test_no_requests_open_no_session() -> None:
    with serving(answer_all) as server:
        run = gmcat(server, lines="\n\n")
    assert (run.returncode, run.stdout, server.sessions) == (0, b"", [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{'kind':'ping'}", "is not JSON: Expecting property name enclosed in double quotes (character 2)"),
        (b'{"x":NaN}', "is not JSON: NaN is not a JSON number"),
        (b'{"x":"\xff"}', "is not JSON: 'utf-8' codec can't decode byte 0xff in position 6"),
    ],
)
def test_text_that_is_not_json_exits_with_2_after_earlier_requests(text: bytes, said: str) -> None:
    with serving(answer_all) as server:
        by_line = gmcat(server, lines=b"\n".join([PING.encode(), b"", text, PING.encode()]))
        by_argument = gmcat(server, PING, os.fsdecode(text), PING)
    assert complaint(by_line).startswith(f"line 3 {said}")
    assert complaint(by_argument).startswith(f"argument 2 {said}")
    assert by_line.stdout == by_argument.stdout == OK + b"\n"
    assert [session[1:] for session in server.sessions] == [[PING.encode()]] * 2


@pytest.mark.parametrize(
    ("arguments", "variable", "fields"),
    [
        (["--player=-7"], None, {"player": -7}),
        (["--player", "4503599627370497", "--key", "abc"], "other", {"player": 2**52 + 1, "key": "abc"}),
        (["--player", "my-bot"], "from the environment", {"name": "my-bot", "key": "from the environment"}),
        (["--player", "my-bot", "--key", "@key file"], "other", {"name": "my-bot", "key": "from the file"}),
        (["--player", "7"], "", {"player": 7}),
        ([], "secret", {}),
    ],
    ids=["id", "key", "variable", "file", "empty variable", "no player"],
)
def test_hello_names_the_player(
    arguments: list[str],
    variable: str | None,
    fields: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "key file").write_text("from the file\n")
    monkeypatch.chdir(tmp_path)
    if variable is not None:
        monkeypatch.setenv("GM_KEY", variable)
    requests = [PING] if arguments else [PING, PING]
    with serving(answer_all) as server:
        run = gmcat(server, *arguments, *requests)
    assert (run.returncode, len(replies(run))) == (0, len(requests))
    ((hello, *_),) = server.sessions
    assert json.loads(hello) == {**HELLO, **fields}


# What it prints.


def test_error_in_any_reply_exits_with_1(daemon_process: Server) -> None:
    run = gmcat(daemon_process, lines="\n".join([PING, UNKNOWN, "[]", PING]))
    assert run.returncode == 1
    assert [reply["error"] is None for reply in replies(run)] == [True, False, False, True]


def test_reply_is_printed_before_the_next_line_is_read(daemon_process: Server) -> None:
    """A pipeline whose requests depend on the replies works this way."""
    with ended(conversation(daemon_process)) as process:
        game = ask(process, kind="new_game", player_white=1, player_black=2)["game_id"]
        for player, move in [(1, "f3"), (2, "e5"), (1, "g4"), (2, "Qh4#")]:
            last = ask(process, kind="move", game_id=game, player=player, move=move, id="Gruß 象棋 \U0001f3f0")
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert (last["state"]["termination"], last["id"]) == ("victory_black", "Gruß 象棋 \U0001f3f0")


def test_too_large_request_is_answered_although_the_server_does_not_read_it(daemon_process: Server) -> None:
    run = gmcat(daemon_process, lines=json.dumps({"kind": "ping", "id": "x" * (5 << 20)}))
    assert run.returncode == 1
    assert [reply["code"] for reply in replies(run)] == ["bad_frame"]


def test_pretty_option_prints_the_same_reply_readably(daemon_process: Server) -> None:
    (game,) = replies(gmcat(daemon_process, NEW_GAME))
    ask = json.dumps({"kind": "state", "game_id": game["game_id"]})
    plain, pretty = gmcat(daemon_process, ask), gmcat(daemon_process, "--pretty", ask)
    assert json.loads(pretty.stdout) == json.loads(plain.stdout)
    assert b'      ["wR", "wN", "wB", "wQ", "wK", "wB", "wN", "wR"],\n' in pretty.stdout
    with serving(answer_once(b'{"error":null,"name":"\\ud800 \\u00e9"}')) as server:
        assert gmcat(server, "--pretty", PING).stdout.decode() == '{"error": null, "name": "\\ud800 é"}\n'


def test_reply_is_printed_as_one_line_whatever_its_layout() -> None:
    with serving(answer_once(b'{\n "error": null,\n "a": "\\n"\n}\0')) as server:
        run = gmcat(server, PING)
    assert run.stdout == b'{  "error": null,  "a": "\\n" }\n'


def test_refused_hello_is_printed_and_no_request_follows() -> None:
    refusal = b'{"error":"this server is full: try again in 5 seconds","code":"too_many","retry_after":5}'
    with serving(answer_once(refusal)) as server:
        run = gmcat(server, "--player", "my-bot", PING)
    assert (run.returncode, run.stdout) == (1, refusal + b"\n")
    assert len(server.sessions[0]) == 1


def test_reply_of_a_full_server_is_printed_if_it_closes_before_a_request() -> None:
    refusal = b'{"error":"this server is full","code":"too_many","retry_after":5}'

    def refuse(peer: Peer, requests: list[bytes]) -> None:
        peer.write(refusal)
        peer.connection.shutdown(socket.SHUT_WR)
        while peer.connection.recv(65536):
            pass

    with serving(refuse) as server:
        run = gmcat(server, PING)
    assert (run.returncode, run.stdout) == (1, refusal + b"\n")


# Servers that are absent, or that disconnect or speak another protocol.


def test_absent_server_exits_with_2() -> None:
    with reserved_port() as port:
        said = complaint(gmcat(ScriptedServer("127.0.0.1", port), PING))
    assert said == f"cannot reach port {port} of 127.0.0.1: Connection refused (is gmd serve running?)"
    assert complaint(gmcat(ScriptedServer("..", 7100), PING)).startswith("cannot reach port 7100 of ..: ")


def test_session_that_ends_early_prints_its_replies_and_exits_with_2() -> None:
    def answer_hello_and_one(peer: Peer, requests: list[bytes]) -> None:
        for _ in ("hello", "ping"):
            peer.read()
            peer.write(OK)
        peer.read()
        peer.connection.sendall(b"\0\0\0\x0e{")

    with serving(answer_hello_and_one) as server:
        run = gmcat(server, PING, PING, PING)
    assert complaint(run) == "the server closed the connection before the reply"
    assert run.stdout == OK + b"\n"


@pytest.mark.parametrize("body", [b"[1]", b"\xff\xfe", b"[" * 100_000], ids=["array", "no UTF-8", "deep"])
def test_reply_that_is_no_json_object_exits_with_2(body: bytes) -> None:
    with serving(answer_once(body)) as server:
        run = gmcat(server, PING)
    assert (complaint(run), run.stdout) == ("the server's reply is not a JSON object", b"")


# The shell around it.


def test_closed_output_pipe_ends_gmcat_quietly() -> None:
    """As with `gmcat ... | head -1`. A shell reports the status 141 for a program that SIGPIPE ended."""
    with serving(answer_all) as server, ended(conversation(server)) as process:
        assert process.stdout is not None
        ask(process, kind="ping")
        process.stdout.close()
        _, errors = process.communicate(PING.encode() + b"\n", timeout=PATIENCE)
    assert (process.returncode, errors) == (-signal.SIGPIPE, b"")


def test_interrupt_ends_gmcat_quietly() -> None:
    """A shell reports the status 130 for a program that SIGINT ended, and stops its own loop."""
    asked = threading.Event()

    def never_answer(peer: Peer, requests: list[bytes]) -> None:
        peer.read()
        asked.set()
        peer.read()

    with serving(never_answer) as server:
        command = [*GMCAT, *address(server), PING]
        with ended(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)) as process:
            assert asked.wait(PATIENCE)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (-signal.SIGINT, b"", b"")


def test_full_disk_exits_with_2() -> None:
    with serving(answer_all) as server, open("/dev/full", "wb") as full:
        run = subprocess.run([*GMCAT, *address(server), PING], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
    assert complaint(run) == "standard input or output failed: No space left on device"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--port", "65536"], "argument --port: '65536' is not a number from 1 to 65535"),
        (["--timeout", "nan"], "argument --timeout: 'nan' is not a number above 0 and at most 86400"),
        (["--key", "k"], "--key needs --player"),
        (["--ca", "ca.pem"], "--ca needs --tls"),
        (["--tls", "--socket", "x"], "--tls cannot be combined with --socket: only the game port has TLS"),
    ],
    ids=str,
)
def test_wrong_option_is_named(arguments: list[str], error: str) -> None:
    run = alone(*arguments, PING)
    assert (run.returncode, run.stderr.decode().splitlines()[-1]) == (2, f"gmcat: error: {error}")


@pytest.mark.parametrize(
    ("file", "error"),
    [("nowhere", "No such file or directory"), ("/dev/null", "the file is empty; it should hold the key")],
)
def test_key_file_that_holds_no_key_exits_with_2(file: str, error: str) -> None:
    assert complaint(alone("--player", "1", "--key", f"@{file}", PING)) == f"--key: {file}: {error}"


def test_copy_of_the_file_runs_without_any_installed_package_and_loads_fast(tmp_path: Path) -> None:
    """gmcat is started once for each request; asyncio alone would double its start time."""
    copied = Path(shutil.copy(module.__file__, tmp_path / "copied.py")).stem
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from {copied} import main; main(); print(*sys.modules)"
    with serving(answer_all) as server:
        command = [sys.executable, "-I", "-S", "-c", code, *address(server), "--pretty", PING]
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    reply, modules = run.stdout.splitlines()
    loaded = {name.partition(".")[0] for name in modules.split()}
    assert (reply, loaded - sys.stdlib_module_names) == ('{"error": null}', {copied, "__main__"})
    assert loaded.isdisjoint({"asyncio", "dataclasses", "http", "inspect", "multiprocessing", "ssl", "typing"})


# The operator's socket.


@pytest.mark.slow
def test_operator_ends_a_game_by_directory_or_socket_path(tmp_path: Path) -> None:
    data = tmp_path / ("d" * 200)  # longer than the address of a socket may be
    end = '{"kind":"end_game","game_id":1,"termination":"resignation_black"}'
    with gmd.background_daemon(gmd.Config(port=0, data=str(data))):
        runs = [
            alone("--socket", str(data), NEW_GAME),
            alone("--socket", str(data / "operator.sock"), PING, PING),
            alone("--socket", ".", end, cwd=data),
        ]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert replies(runs[-1])[0]["state"]["termination"] == "resignation_black"


def test_missing_socket_exits_with_2(tmp_path: Path) -> None:
    for path, named in ((tmp_path / "none", tmp_path / "none"), (tmp_path, tmp_path / "operator.sock")):
        said = complaint(alone("--socket", str(path), PING))
        why = "No such file or directory (is gmd serve running, and as this user?)"
        assert said == f"cannot reach {named}: {why}"


# TLS.


@pytest.fixture(scope="module")
def secure(certificates: Certificates) -> Iterator[BackgroundDaemon]:
    """Yield a daemon with TLS."""
    with gmd.background_daemon(gmd.Config(port=0, data=":memory:", **certificates.settings)) as daemon:
        yield daemon


def test_requests_are_answered_under_tls(secure: BackgroundDaemon, certificates: Certificates) -> None:
    for host in ("localhost", "127.0.0.1"):
        run = gmcat(ScriptedServer(host, secure.port), "--tls", "--ca", str(certificates.ca), PING, NEW_GAME)
        assert run.returncode == 0, run
        assert [reply["error"] for reply in replies(run)] == [None, None]


@pytest.mark.slow
def test_server_that_is_not_trusted_exits_with_2(secure: BackgroundDaemon, tmp_path: Path) -> None:
    server = ScriptedServer("127.0.0.1", secure.port)
    said = "the server is not verified as 127.0.0.1: unable to get local issuer certificate"
    hint = "; use --ca FILE to trust your own certificate"
    assert complaint(gmcat(server, "--tls", PING)) == said + hint
    other = make_certificates(tmp_path)
    assert complaint(gmcat(server, "--tls", "--ca", str(other.ca), PING)) == said
    (tmp_path / "ca.pem").write_text("nonsense")
    said = complaint(gmcat(server, "--tls", "--ca", str(tmp_path / "ca.pem"), PING))
    assert said == f"--ca: {tmp_path / 'ca.pem'}: holds no certificate in PEM"


def test_certificate_of_another_host_exits_with_2(certificates: Certificates) -> None:
    config = gmd.Config(host="127.0.0.2", port=0, data=":memory:", **certificates.settings)
    with gmd.background_daemon(config) as daemon:
        server = ScriptedServer("127.0.0.2", daemon.port)
        said = complaint(gmcat(server, "--tls", "--ca", str(certificates.ca), PING))
    assert said.startswith("the server is not verified as 127.0.0.2: IP address mismatch")


@pytest.mark.slow
def test_port_with_and_client_without_tls_or_the_other_way_round_is_explained(
    secure: BackgroundDaemon, daemon_process: Server
) -> None:
    run = gmcat(ScriptedServer("127.0.0.1", secure.port), PING)
    assert (run.returncode, replies(run)[0]["error"]) == (
        1,
        "this port speaks TLS, and what came is not: connect with TLS",
    )
    said = complaint(gmcat(daemon_process, "--tls", PING))
    assert said.startswith("TLS with 127.0.0.1 failed: ")
    assert said.endswith(" (does the server use TLS?)")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = complaint(gmcat(ScriptedServer(*silent.getsockname()), "--tls", "--timeout", "0.2", PING))
    assert said == "TLS with 127.0.0.1 failed: it did not answer in time"
