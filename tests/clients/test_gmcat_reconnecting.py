"""Sessions of gmcat with several servers, which outlive their connections."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from signal import SIGKILL
from typing import IO, Any

import pytest

from gm_client import blocking, gmcat
from tests.clients.running import OK, PATIENCE, PING, ask, complaint, conversation_with_several, several
from tests.clients.scripted import Peer, Script, answer_all, answer_once, serving
from tests.ended import ended
from tests.serving import reserved_port, served

HELLO = '{"kind":"hello","player":1}'
MOVE = '{"kind":"move","game_id":1,"move":"e4"}'
MOVE_WITH_PLY = '{"kind":"move","game_id":1,"move":"e4","ply":0}'
STOPPING = b'{"error":"stopping","code":"shutting_down"}'


def answering(*bodies: bytes) -> Script:
    """Return a script that gives these answers, reads one more request, and then closes."""

    def script(peer: Peer, requests: list[bytes]) -> None:
        for body in bodies:
            requests.append(peer.read() or b"")
            peer.write(body)
        requests.append(peer.read() or b"")

    return script


def once(*bodies: bytes) -> Script:
    """Return a script that does the same on the first connection, and closes further ones at once."""
    scripts = [answering(*bodies)]

    def script(peer: Peer, requests: list[bytes]) -> None:
        if scripts:
            scripts.pop()(peer, requests)

    return script


@pytest.mark.parametrize("request_", [PING, MOVE_WITH_PLY, '{"kind":"seek","token":"a"}'])
def test_lost_request_is_sent_again_if_that_is_safe(request_: str) -> None:
    with serving(once(OK)) as first, serving(answer_all) as second:
        run = several(first.port, second.port, lines=f"{HELLO}\n{request_}\n{PING}\n")
    assert (run.returncode, run.stdout, run.stderr) == (0, 3 * (OK + b"\n"), b"")
    assert first.sessions[0] == [HELLO.encode(), request_.encode()]
    assert second.sessions == [[HELLO.encode(), request_.encode(), PING.encode()]]


@pytest.mark.parametrize(
    "request_",
    [MOVE, '{"kind":"seek"}', '{"kind":"move","ply":null}', '{"kind":"unheard_of"}', "[1]", "[" * 9999 + "]" * 9999],
)
def test_lost_request_that_may_not_be_repeated_ends_the_run(request_: str) -> None:
    with serving(once(OK)) as first, serving(answer_all) as second:
        run = several(first.port, second.port, lines=f"{HELLO}\n{request_}\n{PING}\n")
    assert (complaint(run), run.stdout) == ("the server closed the connection before the reply", OK + b"\n")
    assert (len(first.sessions), second.sessions) == (1, [])


def test_kinds_that_may_be_repeated_are_those_of_the_python_client() -> None:
    assert gmcat.READING == blocking.READING
    expected = {**dict.fromkeys(blocking.ACTING, "ply"), **dict.fromkeys(blocking.MAKING, "token")}
    assert expected == gmcat.ONCE_BY


def test_request_refused_by_a_stopping_server_was_not_carried_out() -> None:
    with serving(once(OK, STOPPING)) as first, serving(answer_all) as second:
        run = several(first.port, second.port, lines=f"{HELLO}\n{MOVE}\n")
    assert (run.returncode, run.stdout) == (0, 2 * (OK + b"\n"))
    assert second.sessions == [[HELLO.encode(), MOVE.encode()]]


def test_connection_that_was_closed_before_a_request_is_not_used_for_it() -> None:
    """So it is certain that the request was not carried out."""
    closed = threading.Event()

    def stop_after_hello(peer: Peer, requests: list[bytes]) -> None:
        if closed.is_set():
            return
        answer_once(OK)(peer, requests)
        peer.write(STOPPING)
        peer.close()
        closed.set()

    with serving(stop_after_hello) as first, serving(answer_all) as second:
        with ended(conversation_with_several(first.port, second.port)) as process:
            assert ask(process, kind="hello", player=1) == json.loads(OK)
            assert closed.wait(PATIENCE)
            assert ask(process, kind="move", game_id=1, move="e4") == json.loads(OK)
            process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    assert [json.loads(each)["kind"] for each in second.sessions[0]] == ["hello", "move"]


def test_latest_hello_is_repeated_and_after_a_refused_one_a_session_is_nobodys() -> None:
    refusal = b'{"error":"no","code":"unauthorized"}'
    other = HELLO.replace("1", "2")
    with serving(once(OK, OK)) as first, serving(answering(OK, OK, refusal)) as second:
        run = several(first.port, second.port, lines="\n".join([HELLO, other, PING, HELLO, PING]))
    assert (run.returncode, run.stderr) == (1, b"")
    assert run.stdout.splitlines() == [OK, OK, OK, refusal, OK]
    assert second.sessions[0] == [each.encode() for each in (other, PING, HELLO, PING)]
    nobody = json.loads(second.sessions[1][0])
    assert (nobody["kind"], "player" in nobody) == ("hello", False)


#: Options for a run that fails soon.
QUICK = ("--timeout", "0.3")


def test_run_ends_when_requests_are_lost_for_the_whole_time() -> None:
    with serving(answering(OK)) as first, serving(answering(OK)) as second:
        run = several(first.port, second.port, lines=f"{HELLO}\n{PING}\n", options=QUICK)
    assert (complaint(run), run.stdout) == ("the server closed the connection before the reply", OK + b"\n")
    assert 1 < len(first.sessions) + len(second.sessions) < 10


def test_run_ends_when_no_server_answers_for_the_whole_time() -> None:
    full = b'{"error":"this server is full","code":"too_many"}'

    def full_later(peer: Peer, requests: list[bytes]) -> None:
        (answering(OK) if len(server.sessions) == 1 else answer_once(full))(peer, requests)

    with reserved_port() as closed, serving(full_later) as server:
        said = complaint(several(closed, server.port, lines=f"{HELLO}\n{PING}\n", options=QUICK))
    refused, absent = said.split("; ")
    assert refused == f"port {server.port} of 127.0.0.1 refuses connections: this server is full"
    assert absent.startswith(f"cannot reach port {closed} of 127.0.0.1: ")


def test_refused_hello_of_a_reconnect_ends_the_run() -> None:
    with serving(once(OK)) as first, serving(answer_once(b'{"error":"no","code":"unauthorized"}')) as second:
        run = several(first.port, second.port, lines=f"{HELLO}\n{PING}\n")
    assert complaint(run) == "the connection was lost, and another is refused: no"


def test_session_goes_on_at_a_daemon_on_the_second_port(tmp_path: Path) -> None:
    """The first daemon is killed between two requests, and the second one while a ``wait`` is under way."""
    data = ("--data", str(tmp_path), "--port")
    with (
        reserved_port() as one,
        reserved_port() as two,
        ended(conversation_with_several(one, two, options=("--player", "1", "--timeout", "100"))) as process,
    ):
        with served(*data, str(one)) as daemon:
            game = ask(process, kind="new_game", player_white=1, player_black=2, token="a")["game_id"]
            daemon.stop(SIGKILL)
        with served(*data, str(two)) as daemon:
            played = ask(process, kind="move", game_id=game, move="e4", ply=0)
            assert played["state"]["last_move"] == "e2e4"
            write(process.stdin, kind="wait", game_id=game)
            daemon.stop(SIGKILL)
        with served(*data, str(one)):
            move = json.dumps({"kind": "move", "game_id": game, "move": "e5", "ply": 1})
            assert several(two, one, options=("--player", "2", move)).returncode == 0
            output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, b"")
    assert json.loads(output)["state"]["last_move"] == "e7e5"


def write(stream: IO[bytes] | None, **request: Any) -> None:
    assert stream is not None
    stream.write(json.dumps(request).encode() + b"\n")
    stream.flush()
