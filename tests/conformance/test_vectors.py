"""The vectors agree with this daemon, with this library and with each other."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, cast, get_args

import msgspec
import pytest

from gm_protocol.errors import ERRORS
from gm_protocol.framing import FrameDecoder, encode_frame
from gm_protocol.messages import REQUESTS, AnyReply, Reply
from tests.conformance.script import FOLDER, compact, read_scripts
from tests.conformance.vectors import Exchange, Vector, play, read_vectors, without
from tests.helpers import running_daemon
from tests.named_clients import named_clients

VECTORS = [(f"{file}: {vector.name}", vector) for file, vectors in read_vectors().items() for vector in vectors]
EXCHANGES = [exchange for _, vector in VECTORS for exchange in vector.exchanges]


def unframe(data: bytes) -> bytes:
    """Return the body of the only frame in ``data``."""
    decoder = FrameDecoder()
    decoder.feed(data)
    body = decoder.next_frame()
    assert body is not None
    assert decoder.pending == 0
    return body


@pytest.mark.parametrize("vector", [pytest.param(vector, id=name) for name, vector in VECTORS if vector.live])
async def test_daemon_answers_byte_for_byte(vector: Vector) -> None:
    async with running_daemon(**vector.server) as daemon, named_clients(daemon.port) as clients:
        for exchange in vector.exchanges:
            received = await play(clients, exchange.connection, bytes.fromhex(exchange.send), ends=exchange.ends)
            assert settled(received, exchange.volatile) == settled(bytes.fromhex(exchange.receive), exchange.volatile)
            if exchange.closes:
                await clients.expect_closed(exchange.connection)


def settled(frame: bytes, volatile: list[str]) -> bytes:
    """Return a reply's frame with null for its volatile members and all its other bytes unchanged."""
    if not volatile:
        return frame
    reply = msgspec.json.decode(unframe(frame))
    assert encode_frame(msgspec.json.encode(reply)) == frame  # so that only the volatile members change below
    return encode_frame(msgspec.json.encode(without(reply, volatile)))


def test_library_encodes_the_requests_and_decodes_the_replies() -> None:
    for name, vector in VECTORS:
        for exchange in vector.exchanges:
            if exchange.request is not None and exchange.plain:
                assert encode_frame(compact(exchange.request).encode()).hex() == exchange.send, name
            body = unframe(bytes.fromhex(exchange.receive))
            assert normal(json.loads(body)) == normal(exchange.reply), name
            reply = msgspec.json.decode(body, type=struct_of(exchange))
            assert msgspec.json.encode(reply) == body, name


def struct_of(exchange: Exchange) -> type[Reply]:
    """Return the struct of a reply: the one whose required fields the reply has, and which has all of the reply's
    members.
    """
    members = set(exchange.reply)
    for struct in get_args(AnyReply):
        needed, known = fields_of(struct)
        if needed <= members <= known:
            return cast(type[Reply], struct)
    raise AssertionError(f"no struct is like {exchange.reply}")


@cache
def fields_of(struct: type[Reply]) -> tuple[set[str], set[str]]:
    """Return the names of a struct's required fields, and of all its fields."""
    fields = msgspec.structs.fields(struct)
    return {field.encode_name for field in fields if field.required}, {field.encode_name for field in fields}


def normal(value: Any) -> str:
    """Return a text that distinguishes ``1`` from ``1.0`` and from ``true``."""
    return json.dumps(value, indent=1, sort_keys=True)


def test_every_kind_and_every_code_has_a_vector() -> None:
    requests = [exchange.request for exchange in EXCHANGES if isinstance(exchange.request, dict)]
    assert {request["kind"] for request in requests if "kind" in request} >= set(REQUESTS)
    assert {exchange.reply["code"] for exchange in EXCHANGES if "code" in exchange.reply} == set(ERRORS)


def test_vectors_and_scripts_have_the_same_names() -> None:
    scripts = {path.stem: [script.name for script in read_scripts(path)] for path in FOLDER.glob("*.txt")}
    recorded = {file: [vector.name for vector in vectors if vector.live] for file, vectors in read_vectors().items()}
    assert recorded == scripts
