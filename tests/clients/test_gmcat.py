"""gmcat as its users run it: a process, its streams and its exit status."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.clients.scripted import OK, PATIENCE, Peer, Script, ScriptedServer, answer_all, answer_once, serving
from tests.tools import require_tool

GMCAT = [sys.executable, "-m", "gm_client.gmcat"]
ROOT = Path(__file__).parents[2]

PING = '{"kind":"ping"}'
NEW_GAME = '{"kind":"new_game","player_white":1,"player_black":2}'
UNKNOWN = '{"kind":"castle_in_the_air"}'


class Server(Protocol):
    """Where something listens: the daemon, or a server of these tests."""

    @property
    def host(self) -> str: ...

    @property
    def port(self) -> int: ...


def address(server: Server) -> list[str]:
    return ["--host", server.host, "--port", str(server.port)]


def gmcat(server: Server, *arguments: str, lines: str | bytes = "") -> subprocess.CompletedProcess[bytes]:
    """Run gmcat to its end; ``lines`` is its standard input."""
    text = lines.encode() if isinstance(lines, str) else lines
    command = [*GMCAT, *address(server), *arguments]
    return subprocess.run(command, input=text, capture_output=True, timeout=PATIENCE)


def replies(run: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run.stdout.splitlines()]


def complaint(run: subprocess.CompletedProcess[bytes]) -> str:
    """The one line that a run with exit status 2 puts on its standard error."""
    assert run.returncode == 2
    (line,) = run.stderr.decode().splitlines()
    assert line.startswith("gmcat: ")
    return line.removeprefix("gmcat: ")


def conversation(server: Server) -> subprocess.Popen[bytes]:
    """A gmcat whose input is written as the test goes along."""
    command = [*GMCAT, *address(server)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


def ask(process: subprocess.Popen[bytes], **request: object) -> dict[str, Any]:
    """Give a conversation one line of input and read one of its output."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    reply: dict[str, Any] = json.loads(process.stdout.readline())
    return reply


# A conversation with the daemon.


def test_one_argument_is_answered_by_one_line(daemon_process: Server) -> None:
    run = gmcat(daemon_process, NEW_GAME)
    assert run.returncode == 0
    assert run.stderr == b""
    (reply,) = replies(run)
    assert reply["error"] is None
    assert reply["state"]["fen"] == "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def test_every_line_of_input_is_answered_in_order(daemon_process: Server) -> None:
    lines = "\n".join(f'{{"kind":"ping","id":{number}}}' for number in range(200))
    run = gmcat(daemon_process, lines=lines)
    assert run.returncode == 0
    assert [reply["id"] for reply in replies(run)] == list(range(200))


def test_several_arguments_are_answered_in_order(daemon_process: Server) -> None:
    run = gmcat(daemon_process, '{"kind":"ping","id":"a"}', NEW_GAME, '{"kind":"ping","id":"b"}')
    assert run.returncode == 0
    assert [reply.get("id") for reply in replies(run)] == ["a", None, "b"]


@pytest.mark.parametrize("requests", [[UNKNOWN], [PING, UNKNOWN, PING], ["[]", PING]])
def test_an_error_in_any_reply_is_exit_1(daemon_process: Server, requests: list[str]) -> None:
    for run in (gmcat(daemon_process, *requests), gmcat(daemon_process, lines="\n".join(requests))):
        assert run.returncode == 1
        assert run.stderr == b""
        assert [reply["error"] is None for reply in replies(run)] == [text == PING for text in requests]


def test_a_reply_is_printed_before_the_next_line_is_read(daemon_process: Server) -> None:
    """As a pipeline has it whose requests depend on the replies: no line comes before its time."""
    with conversation(daemon_process) as process:
        game = ask(process, kind="new_game", player_white=1, player_black=2)["game_id"]
        for player, move in [(1, "f3"), (2, "e5"), (1, "g4"), (2, "Qh4#")]:
            last = ask(process, kind="move", game_id=game, player=player, move=move)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert last["state"]["termination"] == "victory_black"


def test_jq_writes_the_requests_that_the_replies_ask_for(daemon_process: Server) -> None:
    jq = require_tool("jq")
    make_moves = (
        '.game_id as $g | ["f3", "e5", "g4", "Qh4#"] | to_entries[]'
        ' | {kind: "move", game_id: $g, player: (1 + .key % 2), move: .value}'
    )
    new_game = gmcat(daemon_process, NEW_GAME)
    moves = subprocess.run([jq, "-c", make_moves], input=new_game.stdout, capture_output=True, check=True)
    run = gmcat(daemon_process, lines=moves.stdout)
    assert run.returncode == 0
    assert replies(run)[-1]["state"]["pgn"] == "1.f3 e5 2.g4 Qh4#"


def test_utf_8_goes_there_and_back(daemon_process: Server) -> None:
    request = '{"kind":"ping","id":"Gruß 象棋 ♞ \U0001f3f0"}'
    for run in (gmcat(daemon_process, request), gmcat(daemon_process, lines=request)):
        assert run.returncode == 0
        assert [reply["id"] for reply in replies(run)] == ["Gruß 象棋 ♞ \U0001f3f0"]


def test_the_user_s_own_hello_is_answered(daemon_process: Server) -> None:
    hello = '{"kind":"hello","protocol":2,"client":"by hand"}'
    for run in (gmcat(daemon_process, hello, PING), gmcat(daemon_process, lines=f"{hello}\n{PING}\n")):
        assert run.returncode == 0
        greeting, pong = replies(run)
        assert greeting["protocol"] == 2
        assert pong == {"error": None}


def test_a_request_too_large_is_answered_though_the_server_does_not_read_it(daemon_process: Server) -> None:
    run = gmcat(daemon_process, lines=json.dumps({"kind": "ping", "id": "x" * (5 << 20)}))
    assert run.returncode == 1
    assert [reply["code"] for reply in replies(run)] == ["bad_frame"]


def test_pretty_prints_the_same_reply_for_people(daemon_process: Server) -> None:
    (game,) = replies(gmcat(daemon_process, NEW_GAME))
    ask = json.dumps({"kind": "state", "game_id": game["game_id"]})
    plain, pretty = gmcat(daemon_process, ask), gmcat(daemon_process, "--pretty", ask)
    assert pretty.returncode == 0
    assert json.loads(pretty.stdout) == json.loads(plain.stdout)
    assert b'      ["wR", "wN", "wB", "wQ", "wK", "wB", "wN", "wR"],\n' in pretty.stdout
    assert max(map(len, pretty.stdout.splitlines())) <= 110


# What is sent, byte for byte.


def test_a_single_argument_is_a_version_1_session() -> None:
    with serving(answer_once(OK)) as server:
        assert gmcat(server, PING).returncode == 0
    assert server.sessions == [[PING.encode()]]


@pytest.mark.parametrize("lines", [PING, PING + "\n", f"\n  \n{PING}\r\n\n{PING}\n\n"])
def test_lines_are_one_version_2_session_and_blank_ones_are_skipped(lines: str) -> None:
    with serving(answer_all) as server:
        run = gmcat(server, lines=lines)
    hello, *requests = server.sessions[0]
    assert len(server.sessions) == 1
    assert json.loads(hello)["kind"] == "hello"
    assert json.loads(hello)["protocol"] == 2
    assert requests == [PING.encode()] * lines.count("kind")
    assert run.stdout == (OK + b"\n") * len(requests)


def test_several_arguments_are_one_version_2_session() -> None:
    with serving(answer_all) as server:
        gmcat(server, PING, NEW_GAME)
    assert [session[1:] for session in server.sessions] == [[PING.encode(), NEW_GAME.encode()]]


def test_a_hello_of_the_user_s_is_the_only_one() -> None:
    hello = b'{ "client" : "mine", "kind" : "hello" }'
    with serving(answer_all) as server:
        run = gmcat(server, lines=hello + b"\n" + PING.encode())
    assert server.sessions == [[hello, PING.encode()]]
    assert len(replies(run)) == 2


@pytest.mark.parametrize(
    "request_text",
    [
        '{"kind":"ping","kind":"state"}',
        '  {"a":1.50, "b":1e400, "\\u0041":"\\ud800"} ',
        '{"é":"象"}',
        "17",
        "9" * 5000,
        "[" * 100_000 + "]" * 100_000,
    ],
    ids=["duplicate keys", "spaces and escapes", "utf-8", "no object", "a long number", "deep"],
)
def test_json_reaches_the_server_as_it_was_written(request_text: str) -> None:
    with serving(answer_all) as server:
        assert gmcat(server, lines=request_text).returncode == 0
    assert server.sessions[0][1:] == [request_text.encode()]


def test_no_requests_are_no_session() -> None:
    with serving(answer_all) as server:
        run = gmcat(server, lines="\n\n")
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    assert server.sessions == []


# Input that is not JSON.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "is not JSON: Expecting property name enclosed in double quotes (character 2)"),
        (b"{'kind':'ping'}", "is not JSON: Expecting property name enclosed in double quotes (character 2)"),
        (b"{} {}", "is not JSON: Extra data (character 4)"),
        (b'{"x":NaN}', "is not JSON: NaN is not a JSON number"),
        (b'{"x":"\xff"}', "is not JSON: 'utf-8' codec can't decode byte 0xff in position 6"),
        (b'{"x":"\xed\xa0\x80"}', "is not JSON: 'utf-8' codec can't decode byte 0xed in position 6"),
    ],
)
def test_what_is_not_json_is_exit_2_after_the_requests_before_it(text: bytes, said: str) -> None:
    with serving(answer_all) as server:
        by_line = gmcat(server, lines=b"\n".join([PING.encode(), b"", text, PING.encode()]))
        by_argument = gmcat(server, PING, os.fsdecode(text), PING)
    assert complaint(by_line).startswith(f"line 3 {said}")
    assert complaint(by_argument).startswith(f"argument 2 {said}")
    assert by_line.stdout == by_argument.stdout == OK + b"\n"
    assert [session[1:] for session in server.sessions] == [[PING.encode()]] * 2


def test_an_empty_argument_is_not_json() -> None:
    with serving(answer_all) as server:
        assert complaint(gmcat(server, "")) == "argument 1 is not JSON: Expecting value (character 1)"
    assert server.sessions == []


# Servers that are not there, or go, or are something else.


def unused_port() -> ScriptedServer:
    """Where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return ScriptedServer(*listener.getsockname())


def test_a_server_that_is_not_there_is_exit_2() -> None:
    nowhere = unused_port()
    said = f"cannot reach port {nowhere.port} of 127.0.0.1: Connection refused (is gmd serve running?)"
    assert complaint(gmcat(nowhere, PING)) == said
    assert complaint(gmcat(nowhere, lines=PING)) == said


@pytest.mark.parametrize("host", ["a" * 80, "..", "256.256.256.256"])
def test_a_host_that_cannot_be_is_exit_2(host: str) -> None:
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
def test_a_connection_lost_before_the_reply_is_exit_2(script: Script) -> None:
    with serving(script) as server:
        run = gmcat(server, PING)
    assert "the connection" in complaint(run)
    assert run.stdout == b""


def test_a_session_that_ends_early_is_exit_2_and_the_replies_that_came_are_printed() -> None:
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
def test_another_protocol_is_exit_2(garbage: bytes) -> None:
    def answer_garbage(peer: Peer, requests: list[bytes]) -> None:
        peer.read()
        peer.connection.sendall(garbage)

    with serving(answer_garbage) as server:
        assert complaint(gmcat(server, PING)).startswith("this is no gm server")


@pytest.mark.parametrize(
    "body", [b"hello", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000, '{"error":null}'.encode("utf-16")]
)
def test_a_reply_that_is_no_json_object_is_exit_2(body: bytes) -> None:
    with serving(answer_once(body)) as server:
        run = gmcat(server, PING)
    assert complaint(run) == "the server's reply is not a JSON object"
    assert run.stdout == b""


def test_a_refused_hello_is_printed_and_nothing_is_sent_behind_it() -> None:
    refusal = b'{"error":"this server is full: try again in 5 seconds","code":"too_many","retry_after":5}'
    with serving(answer_once(refusal)) as server:
        run = gmcat(server, lines=PING)
    assert (run.returncode, run.stdout, run.stderr) == (1, refusal + b"\n", b"")
    assert len(server.sessions[0]) == 1


def test_the_reply_of_a_full_server_is_printed_though_it_closed_unasked() -> None:
    refusal = b'{"error":"this server is full","code":"too_many","retry_after":5}'

    def refuse(peer: Peer, requests: list[bytes]) -> None:
        peer.write(refusal)
        peer.connection.shutdown(socket.SHUT_WR)
        while peer.connection.recv(65536):
            pass

    with serving(refuse) as server:
        run = gmcat(server, PING)
    assert (run.returncode, run.stdout, run.stderr) == (1, refusal + b"\n", b"")


def test_a_reply_is_one_line_however_the_server_lays_it_out() -> None:
    with serving(answer_once(b'{\n "error": null,\n "a": "\\n"\n}\0')) as server:
        run = gmcat(server, PING)
    assert run.stdout == b'{  "error": null,  "a": "\\n" }\n'


def test_pretty_keeps_what_is_no_unicode_an_escape() -> None:
    with serving(answer_once(b'{"error":null,"name":"\\ud800 \\u00e9"}')) as server:
        run = gmcat(server, "--pretty", PING)
    assert run.stdout.decode() == '{"error": null, "name": "\\ud800 é"}\n'


# The shell around it.


def test_a_reader_that_has_seen_enough_ends_it_quietly() -> None:
    """As `gmcat ... | head -1` does. A shell shows the status of a program that SIGPIPE ended as 141."""
    with serving(answer_all) as server, conversation(server) as process:
        assert process.stdout is not None
        ask(process, kind="ping")
        process.stdout.close()
        _, errors = process.communicate(PING.encode() + b"\n", timeout=PATIENCE)
    assert (process.returncode, errors) == (-signal.SIGPIPE, b"")


def test_an_interrupt_ends_it_quietly() -> None:
    """A shell shows the status of a program that SIGINT ended as 130, and stops its own loop."""
    asked = threading.Event()

    def never_answer(peer: Peer, requests: list[bytes]) -> None:
        peer.read()
        asked.set()
        peer.read()

    with serving(never_answer) as server:
        command = [*GMCAT, *address(server), PING]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert asked.wait(PATIENCE)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (-signal.SIGINT, b"", b"")


def test_a_full_disk_is_exit_2() -> None:
    with serving(answer_all) as server, open("/dev/full", "wb") as full:
        run = subprocess.run([*GMCAT, *address(server), PING], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
    assert complaint(run) == "standard input or output failed: No space left on device"


@pytest.mark.parametrize(
    "arguments",
    [["--port", "0"], ["--port", "65536"], ["--port", "x"], ["--timeout", "0"], ["--timeout", "nan"]],
)
def test_an_option_out_of_range_is_exit_2(arguments: list[str]) -> None:
    run = subprocess.run([*GMCAT, *arguments, PING], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1].startswith(f"gmcat: error: argument {arguments[0]}: '{arguments[1]}' is not")


# The file.


def test_its_version_is_the_project_s() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    run = subprocess.run([*GMCAT, "--version"], capture_output=True, text=True, timeout=PATIENCE)
    assert (run.returncode, run.stdout) == (0, f"gmcat {version}\n")


def source() -> Path:
    spec = importlib.util.find_spec("gm_client.gmcat")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def test_a_copy_of_the_file_runs_without_anything_installed(tmp_path: Path) -> None:
    copy = shutil.copy(source(), tmp_path / "copied.py")
    with serving(answer_all) as server:
        command = [sys.executable, "-I", "-S", str(copy), *address(server)]
        run = subprocess.run(command, input=PING.encode(), capture_output=True, timeout=PATIENCE)
    assert (run.returncode, run.stdout, run.stderr) == (0, OK + b"\n", b"")


def test_a_run_imports_only_what_starts_fast() -> None:
    """gmcat is run once for each request; asyncio alone would double the time that takes."""
    code = (
        "import sys; before = set(sys.modules); from gm_client.gmcat import main; status = main();"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr); sys.exit(status)"
    )
    with serving(answer_all) as server:
        command = [sys.executable, "-c", code, *address(server), "--pretty", PING]
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0
    loaded = {name.partition(".")[0] for name in run.stderr.split()}
    assert loaded - sys.stdlib_module_names == {"gm_client"}
    assert loaded.isdisjoint({"asyncio", "dataclasses", "http", "inspect", "multiprocessing", "ssl", "typing"})


def test_a_real_game_is_played_to_its_end(daemon_process: Server) -> None:
    """Kasparov against Topalov, 1999: loaded, and played move by move as a user of the shell would."""
    text = (Path(__file__).parent.parent / "data" / "pgn" / "kasparov-topalov.pgn").read_text()
    players = {"player_white": 1, "player_black": 2}
    (made,) = replies(gmcat(daemon_process, json.dumps({"kind": "game_from_pgn", "pgn": text, **players})))
    (history,) = replies(gmcat(daemon_process, json.dumps({"kind": "history", "game_id": made["game_id"]})))
    (played,) = replies(gmcat(daemon_process, NEW_GAME))
    moves = [
        {"kind": "move", "game_id": played["game_id"], "player": 1 + ply % 2, "move": move}
        for ply, move in enumerate(history["moves"])
    ]
    run = gmcat(daemon_process, lines="\n".join(map(json.dumps, moves)))
    assert run.returncode == 0
    *_, last = replies(run)
    assert len(moves) == made["state"]["ply_index"] > 80
    assert {**last["state"], "game_id": None} == {**made["state"], "game_id": None}
