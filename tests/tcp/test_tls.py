"""The protocol over TLS: the sessions are the same, and no handshake can stop the daemon."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog
import trio
import trio.testing

from gm_protocol.framing import encode_frame
from gmd.daemon import Daemon
from gmd.net.tls import CONNECTION_BYTES, MAX_RECORD, Certificate, TlsStream
from tests.helpers import Client, Json, connected, running_daemon, troubles
from tests.tls import Certificates, TlsClient, tls_connected, tls_daemon

HELLO = encode_frame(b'{"kind":"hello","player":1}')
PING = encode_frame(b'{"kind":"ping"}')
MOVE = encode_frame(b'{"kind":"move","player":1,"game_id":1,"move":"e4","brief":true}')

NOT_TLS: Json = {"code": "bad_frame", "error": "this port speaks TLS, and what came is not: connect with TLS"}


@asynccontextmanager
async def quiet_daemon(certificates: Certificates, **settings: Any) -> AsyncIterator[Daemon]:
    """Run a daemon with one game; it must log no failure and be healthy at the end."""
    with structlog.testing.capture_logs() as logged:
        async with tls_daemon(certificates, **settings) as daemon:
            async with tls_connected(daemon, certificates) as client:
                await client.new_game()
            yield daemon
            while daemon.session_server.slots_taken:
                await trio.testing.wait_all_tasks_blocked()
            async with tls_connected(daemon, certificates) as client:
                assert (await client.ask("state", game_id=1))["error"] is None
    assert troubles(logged) == []


async def rest(client: Client) -> list[Json]:
    """Return all replies until the server closes."""
    replies = []
    while (body := await client.receive_body()) is not None:
        replies.append(json.loads(body))
    return replies


async def test_version_1_session_over_tls_gets_its_reply_and_a_tls_close(certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates, hello=False) as client:
        assert await client.ask("ping") == {"error": None}
        assert await client.closed()  # by a TLS close_notify: anything else would raise


async def test_version_2_session_over_tls_is_answered_in_order_however_its_bytes_are_split(
    certificates: Certificates,
) -> None:
    requests = b"".join(encode_frame(b'{"kind":"ping","id":%d}' % number) for number in range(20))
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates) as client:
        for size in (1, 10, len(requests)):
            data = requests
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send_in_pieces, client, data, size)
                for number in range(20):
                    assert await client.receive() == {"id": number, "error": None}


async def send_in_pieces(client: Client, data: bytes, size: int) -> None:
    for start in range(0, len(data), size):
        await client.send_bytes(data[start : start + size])


async def test_wait_over_tls_ends_when_the_move_or_another_request_comes(certificates: Certificates) -> None:
    async with (
        quiet_daemon(certificates) as daemon,
        tls_connected(daemon, certificates, player=1) as white,
        tls_connected(daemon, certificates, player=2) as black,
    ):
        await black.send({"kind": "wait", "game_id": 1})
        await white.send_bytes(MOVE)
        assert (await white.receive())["error"] is None
        assert (await black.receive())["state"]["last_move"] == "e2e4"
        await white.send({"kind": "wait", "game_id": 1})
        await trio.testing.wait_all_tasks_blocked()
        await white.send({"kind": "ping"})
        assert (await white.receive())["state"]["turn"] == "black"
        assert await white.receive() == {"error": None}


# The end of a connection.


async def test_client_that_ends_the_connection_without_a_tls_close_is_still_answered(
    certificates: Certificates,
) -> None:
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates, hello=False) as client:
        await client.send_bytes(HELLO + PING * 50 + MOVE)
        await client.end()
        replies = await rest(client)
        assert [reply["error"] for reply in replies] == [None] * 52
        assert replies[-1]["state"]["ply_index"] == 1


async def test_client_that_closes_only_its_sending_side_of_tls_is_answered(certificates: Certificates) -> None:
    """Go's CloseWrite and Node's end do so: TLS ends in one direction, and the connection stays open."""
    async with quiet_daemon(certificates) as daemon:
        stream = await trio.open_tcp_stream("127.0.0.1", daemon.port)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = certificates.trust().wrap_bio(incoming, outgoing, server_hostname="localhost")

        async def step(function: Any, *arguments: Any) -> Any:
            while True:
                try:
                    return function(*arguments)
                except ssl.SSLWantReadError:
                    await stream.send_all(outgoing.read())
                    incoming.write(await stream.receive_some())

        await step(tls.do_handshake)
        tls.write(HELLO + PING * 50)
        with pytest.raises(ssl.SSLWantReadError):
            tls.unwrap()
        await stream.send_all(outgoing.read())
        data = b""
        while not data.endswith(encode_frame(b'{"error":null}') * 50):
            data += await step(tls.read, 65536)
        with pytest.raises(ssl.SSLZeroReturnError):  # how Python's ssl reports the end of TLS
            await step(tls.read, 1)
        await stream.aclose()


async def test_client_that_sends_on_over_tls_still_receives_the_last_reply(certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates, hello=False) as client:
        await client.send_bytes(HELLO + PING + b"\xff\xff\xff\xff")
        await client.send_bytes(bytes(900_000))  # more than two socket buffers hold
        await client.end()
        last: Json = {}
        try:
            while (body := await client.receive_body()) is not None:
                last = json.loads(body)
        except trio.BrokenResourceError as error:  # the connection ended without a TLS close
            assert isinstance(error.__cause__, ssl.SSLEOFError)  # noqa: PT017
        assert last.get("code") == "bad_frame"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda version: version.name)
async def test_tls_1_2_is_accepted_and_nothing_older(version: ssl.TLSVersion, certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon:
        client = TlsClient(await trio.open_tcp_stream("127.0.0.1", daemon.port), certificates, version)
        await client.send_bytes(HELLO + PING)
        await client.end()
        assert len(await rest(client)) == 2
        assert client.tls.version() == version.name.replace("_", ".")
        assert daemon.certificate is not None
        assert daemon.certificate.context.minimum_version == ssl.TLSVersion.TLSv1_2
        await client.aclose()


# One side without TLS.


@pytest.mark.parametrize("sent", [PING, b"GET / HTTP/1.1\r\n\r\n", b"\0"], ids=repr)
async def test_plaintext_client_on_a_tls_port_gets_a_plaintext_refusal(sent: bytes, certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon, connected(daemon, hello=False) as client:
        await client.send_bytes(sent)
        assert await client.receive() == NOT_TLS
        assert await client.closed()


async def test_tls_client_on_a_plaintext_port_fails_and_harms_no_other_client(certificates: Certificates) -> None:
    with structlog.testing.capture_logs() as logged:
        async with running_daemon() as daemon, connected(daemon) as other:
            async with tls_connected(daemon, certificates, hello=False) as client:
                with pytest.raises(trio.BrokenResourceError) as caught:
                    await client.ask("ping")
                assert isinstance(caught.value.__cause__, ssl.SSLError)
            assert await other.ask("ping") == {"error": None}
    assert troubles(logged) == []


# Too many clients, and too slow ones.


async def test_client_over_the_limit_gets_a_refusal_over_tls(certificates: Certificates) -> None:
    async with tls_daemon(certificates, max_connections=1) as daemon, tls_connected(daemon, certificates) as inside:
        for _ in range(2):
            async with tls_connected(daemon, certificates, hello=False) as outside:
                reply = await outside.receive()
                assert (reply["code"], reply["retry_after"]) == ("too_many", 5.0)
                assert await outside.closed()
        assert await inside.ask("ping") == {"error": None}
        assert daemon.session_server.slots_taken == 1


async def test_plaintext_client_gets_the_tls_refusal_also_when_the_server_is_full(certificates: Certificates) -> None:
    async with (
        tls_daemon(certificates, max_connections=1) as daemon,
        tls_connected(daemon, certificates),
        connected(daemon, hello=False) as outside,
    ):
        await outside.send_bytes(PING)
        assert await outside.receive() == NOT_TLS


async def test_tls_holds_memory_for_as_long_as_the_connection_is_open(certificates: Certificates) -> None:
    async with tls_daemon(certificates) as daemon:
        async with tls_connected(daemon, certificates) as client:
            assert (await client.ask("ping"))["error"] is None
            assert daemon.memory.held == CONNECTION_BYTES
        while daemon.memory.held:
            await trio.testing.wait_all_tasks_blocked()


class Recorded(trio.abc.Stream):
    """A stream that keeps the sizes of what is sent and asked for."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self.sent, self.asked = list[int](), list[int]()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(len(data))
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        self.asked.append(max_bytes or 0)
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()


async def test_openssl_gets_one_record_at_a_time(certificates: Certificates) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    stream, cert = Recorded(theirs), Certificate(str(certificates.cert), str(certificates.key))
    server = TlsStream(stream, cert.context)
    client = trio.SSLStream(ours, certificates.trust(), server_hostname="localhost")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.do_handshake)
        await client.do_handshake()
    stream.sent.clear()
    data, received = bytes(100_000), bytearray()
    await server.send_all(data)
    while len(received) < len(data):
        received += await client.receive_some()
    assert received == data
    assert (len(stream.sent), max(stream.sent) <= MAX_RECORD, max(stream.asked)) == (7, True, MAX_RECORD)
