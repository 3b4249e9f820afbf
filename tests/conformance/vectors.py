"""The vectors that ``protocol/vectors/README.md`` describes: reading, writing and playing them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, to_builtins

from gm_protocol.framing import encode_frame
from tests.named_clients import NamedClients

FOLDER = Path(__file__).parents[2] / "protocol" / "vectors"


class Exchange(Struct, kw_only=True, omit_defaults=True):
    """A frame sent and the frame that answers it. The README explains each member."""

    connection: int
    request: Any = None
    send: str = ""
    plain: bool = True
    ends: bool = False
    reply: Any
    receive: str
    volatile: list[str] = []
    closes: bool = False


class Vector(Struct, kw_only=True, omit_defaults=True):
    """Exchanges with a new server."""

    name: str
    about: str
    server: dict[str, int | float | str] = {}
    live: bool = True
    exchanges: list[Exchange]


def read_vectors() -> dict[str, list[Vector]]:
    """Return all vectors, by the name of their file."""
    paths = sorted(FOLDER.glob("*.json"))
    return {path.stem: convert(json.loads(path.read_text("utf-8")), list[Vector]) for path in paths}


def render(vectors: list[Vector]) -> str:
    """Return the text of one file, laid out for reading, with each message on a line."""
    return "[\n" + ",\n".join(_block(to_builtins(vector), "  ") for vector in vectors) + "\n]\n"


def _block(members: dict[str, Any], indent: str) -> str:
    lines = [f"{indent}  {json.dumps(name)}: {_value(name, value, indent)}" for name, value in members.items()]
    return f"{indent}{{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _value(name: str, value: Any, indent: str) -> str:
    if name != "exchanges":
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(_block(exchange, indent + "    ") for exchange in value) + f"\n{indent}  ]"


def without(reply: Any, volatile: list[str]) -> Any:
    """Return a reply with null for its volatile members."""
    for path in volatile:
        reply = _blank(reply, path.split("."))
    return reply


def _blank(value: Any, path: list[str]) -> Any:
    if not path:
        return None
    name, *rest = path
    if name == "*":
        return [_blank(element, rest) for element in value]
    return value | {name: _blank(value[name], rest)}


def has(reply: Any, path: str) -> bool:
    """Return whether a reply has a volatile member."""
    name, _, rest = path.partition(".")
    if name == "*":
        return bool(reply)
    return isinstance(reply, dict) and reply.get(name) is not None and (not rest or has(reply[name], rest))


async def play(clients: NamedClients, connection: int, send: bytes, *, ends: bool) -> bytes:
    """Send bytes on a connection, which is opened if necessary, and return the frame that answers them."""
    client = await clients.client(connection)
    if send:
        await client.send_bytes(send)
    if ends:
        await client.end()
    return encode_frame(await clients.receive_body(connection))
