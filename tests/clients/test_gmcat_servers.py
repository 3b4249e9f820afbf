"""Servers that are absent, disconnect, or speak another protocol."""

from __future__ import annotations

import socket
import struct
import subprocess

import pytest

from tests.clients.running import GMCAT, OK, PATIENCE, PING, complaint, gmcat, several
from tests.clients.scripted import Peer, Script, ScriptedServer, answer_all, answer_once, serving
from tests.serving import reserved_port


def test_absent_server_exits_with_2() -> None:
    with reserved_port() as port:
        nowhere = ScriptedServer("127.0.0.1", port)
        said = f"cannot reach port {port} of 127.0.0.1: Connection refused (is gmd serve running?)"
        assert complaint(gmcat(nowhere, PING)) == said
        assert complaint(gmcat(nowhere, lines=PING)) == said


@pytest.mark.parametrize("host", ["a" * 80, "..", "256.256.256.256"])
def test_impossible_host_exits_with_2(host: str) -> None:
    assert complaint(gmcat(ScriptedServer(host, 7100), PING)).startswith(f"cannot reach port 7100 of {host}: ")


def reset(peer: Peer, requests: list[bytes]) -> None:
    """End the connection as a crash does."""
    peer.read()
    peer.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def close_inside_a_reply(peer: Peer, requests: list[bytes]) -> None:
    peer.read()
    peer.connection.sendall(struct.pack(">i", 14) + OK[:7])


def close_inside_a_header(peer: Peer, requests: list[bytes]) -> None:
    peer.read()
    peer.connection.sendall(b"\0\0")


@pytest.mark.parametrize("script", [reset, answer_once(), close_inside_a_reply, close_inside_a_header])
def test_connection_lost_before_the_reply_exits_with_2(script: Script) -> None:
    with serving(script) as server:
        run = gmcat(server, PING)
    assert "the connection" in complaint(run)
    assert run.stdout == b""


def test_session_that_ends_early_prints_its_replies_and_exits_with_2() -> None:
    def answer_two(peer: Peer, requests: list[bytes]) -> None:
        for _ in ("hello", "ping"):
            peer.read()
            peer.write(OK)

    with serving(answer_two) as server:
        run = gmcat(server, PING, PING, PING)
    assert complaint(run).endswith("before the reply") or "connection was lost" in complaint(run)
    assert run.stdout == OK + b"\n"


@pytest.mark.parametrize(
    "garbage",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\0", b"\xff\xff\xff\xff", b"SSH-2.0-OpenSSH_9.2\r\n"],
)
def test_another_protocol_exits_with_2(garbage: bytes) -> None:
    def answer_garbage(peer: Peer, requests: list[bytes]) -> None:
        peer.read()
        peer.connection.sendall(garbage)

    with serving(answer_garbage) as server:
        assert complaint(gmcat(server, PING)).startswith("this is not a gm server")


@pytest.mark.parametrize(
    "body", [b"hello", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000, '{"error":null}'.encode("utf-16")]
)
def test_reply_that_is_no_json_object_exits_with_2(body: bytes) -> None:
    with serving(answer_once(body)) as server:
        run = gmcat(server, PING)
    assert complaint(run) == "the server's reply is not a JSON object"
    assert run.stdout == b""


def test_refused_hello_is_printed_and_no_request_follows() -> None:
    refusal = b'{"error":"this server is full: try again in 5 seconds","code":"too_many","retry_after":5}'
    with serving(answer_once(refusal)) as server:
        run = gmcat(server, lines=PING)
    assert (run.returncode, run.stdout, run.stderr) == (1, refusal + b"\n", b"")
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
    assert (run.returncode, run.stdout, run.stderr) == (1, refusal + b"\n", b"")


def test_reply_is_printed_as_one_line_whatever_its_layout() -> None:
    with serving(answer_once(b'{\n "error": null,\n "a": "\\n"\n}\0')) as server:
        run = gmcat(server, PING)
    assert run.stdout == b'{  "error": null,  "a": "\\n" }\n'


def test_pretty_option_keeps_lone_surrogates_escaped() -> None:
    with serving(answer_once(b'{"error":null,"name":"\\ud800 \\u00e9"}')) as server:
        run = gmcat(server, "--pretty", PING)
    assert run.stdout.decode() == '{"error": null, "name": "\\ud800 é"}\n'


# Several servers.


def test_session_begins_with_the_first_server_that_answers() -> None:
    """The first refuses connections, the second accepts them and never answers, the third is stopping."""
    stopping = b'{"error":"stopping","code":"shutting_down"}'
    with (
        reserved_port() as closed,
        socket.create_server(("127.0.0.1", 0)) as frozen,
        serving(answer_once(stopping)) as stops,
        serving(answer_all) as server,
    ):
        ports = (closed, frozen.getsockname()[1], stops.port, server.port)
        run = several(*ports, options=("--timeout", "0.5", PING))
    assert (run.returncode, run.stdout, run.stderr) == (0, OK + b"\n", b"")
    assert [len(session) for session in server.sessions] == [2]


def test_absent_servers_are_tried_until_the_time_is_over() -> None:
    with reserved_port() as one, reserved_port() as two:
        said = complaint(several(one, two, options=("--timeout", "0.2", PING)))
    assert [part.split(":")[0] for part in said.split("; ")] == [
        f"cannot reach port {port} of 127.0.0.1" for port in (one, two)
    ]


def test_wrong_address_among_several_is_named() -> None:
    run = subprocess.run([*GMCAT, "--server", "a,b:x", PING], capture_output=True, text=True, timeout=PATIENCE)
    assert (run.returncode, run.stderr) == (
        2,
        "gmcat: --server: 'b:x' is not HOST:PORT, with a port from 1 to 65535\n",
    )
