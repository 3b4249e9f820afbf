"""gmcat as its users run it: a process, its streams and its exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Protocol

GMCAT = [sys.executable, "-m", "gm_client.gmcat"]

#: Seconds after which a process or a thread of these tests counts as hanging.
PATIENCE = 120

PING = '{"kind":"ping"}'
NEW_GAME = '{"kind":"new_game","player_white":1,"player_black":2}'
UNKNOWN = '{"kind":"castle_in_the_air"}'
OK = b'{"error":null}'


class Server(Protocol):
    """Address of a server: the daemon, or a server of these tests."""

    @property
    def host(self) -> str: ...

    @property
    def port(self) -> int: ...


def address(server: Server) -> list[str]:
    return ["--host", server.host, "--port", str(server.port)]


def gmcat(server: Server, *arguments: str, lines: str | bytes = "") -> subprocess.CompletedProcess[bytes]:
    """Run gmcat to its end with ``lines`` as its standard input."""
    text = lines.encode() if isinstance(lines, str) else lines
    command = [*GMCAT, *address(server), *arguments]
    return subprocess.run(command, input=text, capture_output=True, timeout=PATIENCE)


def replies(run: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run.stdout.splitlines()]


def complaint(run: subprocess.CompletedProcess[bytes]) -> str:
    """Return the one line that a run with exit status 2 writes to its standard error."""
    assert run.returncode == 2
    (line,) = run.stderr.decode().splitlines()
    assert line.startswith("gmcat: ")
    return line.removeprefix("gmcat: ")


def conversation(server: Server) -> subprocess.Popen[bytes]:
    """Start a gmcat whose input the test writes step by step."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*GMCAT, *address(server)], stdin=pipe, stdout=pipe, stderr=pipe)


def ask(process: subprocess.Popen[bytes], **request: object) -> dict[str, Any]:
    """Give a conversation one line of input and return one line of its output."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    reply: dict[str, Any] = json.loads(process.stdout.readline())
    return reply
