"""Reader of the scripts from which the vectors are recorded.

A script file is plain text. A line ``# name: about`` begins a script; each line below is a request, sent in a frame
exactly as written. Each request has its own connection, except in a script that begins with a ``hello``: its
requests share one connection. A request with a number in front (``2: {...}``) belongs to the connection of that number,
which must begin with a ``hello`` too. Other lines of a script:

``server: {...}``
    settings of the daemon;
``volatile: path ...``
    members of replies whose values do not matter (see the README of the vectors);
``bytes: 00 00 ...``
    bytes to send in place of a frame, in hexadecimal, after which the client sends no more;
``elsewhere:``
    a new connection, on which nothing is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from gm_protocol.framing import encode_frame

FOLDER = Path(__file__).parent / "scripts"

_NUMBERED = re.compile(r"(?P<connection>[0-9]+): (?P<request>\{.*)")


class Step(Struct, frozen=True):
    """Bytes that are sent at once.

    :ivar request: the JSON value that the bytes stand for, if they are JSON.
    :ivar plain: whether most encoders would write that value in this way.
    """

    connection: int
    sent: bytes
    request: Any = None
    plain: bool = False
    ends: bool = False


class Script(Struct):
    name: str
    about: str
    server: dict[str, int | float | str]
    volatile: list[str]
    lines: list[str]

    @property
    def session(self) -> bool:
        """Whether the requests share one connection."""
        return '"kind":"hello"' in self.lines[0]

    def steps(self) -> Iterator[Step]:
        for number, line in enumerate(self.lines, 1):
            connection = 1 if self.session else number
            if line == "elsewhere:":
                yield Step(number, b"")
            elif line.startswith("bytes: "):
                sent = bytes.fromhex(line.removeprefix("bytes: "))
                is_frame = sent == encode_frame(sent[4:])
                yield Step(connection, sent, meaning(sent[4:]) if is_frame else None, ends=True)
            else:
                if self.session and (numbered := _NUMBERED.fullmatch(line)):
                    connection, line = int(numbered["connection"]), numbered["request"]
                request = meaning(line.encode())
                yield Step(connection, encode_frame(line.encode()), request, plain=line == compact(request))


def read_scripts(path: Path) -> list[Script]:
    """Return the scripts of one file."""
    scripts: list[Script] = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# "):
            name, _, about = line.removeprefix("# ").partition(": ")
            scripts.append(Script(name, about, {}, [], []))
        elif line.startswith("server: "):
            scripts[-1].server = json.loads(line.removeprefix("server: "))
        elif line.startswith("volatile: "):
            scripts[-1].volatile = line.removeprefix("volatile: ").split()
        elif line:
            scripts[-1].lines.append(line)
    return scripts


def meaning(body: bytes) -> Any:
    """Return the JSON value that a body stands for, or None."""
    try:
        return json.loads(body.rstrip(b"\0").decode())
    except ValueError:
        return None


def compact(value: Any) -> str:
    """Return the plainest encoding: no spaces, members in order, no unnecessary escapes."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
