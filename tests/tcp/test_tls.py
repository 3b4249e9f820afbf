"""The protocol under TLS: the same sessions, and none that the handshake could bring down."""

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

from gm_protocol.framing import DEFAULT_MAX_MESSAGE, encode_frame
from gmd.daemon import Daemon
from gmd.tls import HANDSHAKE_RECORD
from tests.helpers import Client, Json, connected, running_daemon, troubles
from tests.tls import Certificates, TlsClient, tls_connected, tls_daemon

HELLO = encode_frame(b'{"kind":"hello","player":1}')
PING = encode_frame(b'{"kind":"ping"}')
MOVE = encode_frame(b'{"kind":"move","player":1,"game_id":1,"move":"e4","brief":true}')

NOT_TLS: Json = {"code": "bad_frame", "error": "this port speaks TLS, and what came is not: connect with TLS"}


@asynccontextmanager
async def quiet_daemon(certificates: Certificates, **settings: Any) -> AsyncIterator[Daemon]:
    """A daemon with one game that is to log nothing that went wrong, and to be well at the end."""
    with structlog.testing.capture_logs() as logged:
        async with tls_daemon(certificates, **settings) as daemon:
            async with tls_connected(daemon, certificates) as client:
                await client.new_game()
            yield daemon
            while daemon.session_server.places_taken:
                await trio.testing.wait_all_tasks_blocked()
            async with tls_connected(daemon, certificates) as client:
                assert (await client.ask("state", game_id=1))["error"] is None
    assert troubles(logged) == []


async def rest(client: Client) -> list[Json]:
    """All replies until the server closes."""
    replies = []
    while (body := await client.receive_body()) is not None:
        replies.append(json.loads(body))
    return replies


async def test_a_version_1_session_gets_its_reply_and_is_told_the_end(certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates, hello=False) as client:
        assert await client.ask("ping") == {"error": None}
        assert await client.closed()  # by TLS's own word: anything else would raise


async def test_a_version_2_session_is_answered_in_order_whatever_the_pieces(certificates: Certificates) -> None:
    requests = b"".join(encode_frame(b'{"kind":"ping","id":%d}' % number) for number in range(500))
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates) as client:
        for size in (1, 10, 5_000, len(requests)):
            data = requests
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send_in_pieces, client, data, size)
                for number in range(500):
                    assert await client.receive() == {"id": number, "error": None}


async def send_in_pieces(client: Client, data: bytes, size: int) -> None:
    for start in range(0, len(data), size):
        await client.send_bytes(data[start : start + size])


async def test_the_longest_message_fits(certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates) as client:
        text = "x" * ((1 << 20) - 50)
        assert (await client.ask("ping", id=text))["id"] == text


async def test_a_wait_ends_when_the_move_comes_and_when_another_request_does(certificates: Certificates) -> None:
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


async def test_who_ends_the_connection_without_a_word_of_tls_is_answered_all_the_same(
    certificates: Certificates,
) -> None:
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates, hello=False) as client:
        await client.send_bytes(HELLO + PING * 50 + MOVE)
        await client.end()
        replies = await rest(client)
        assert [reply["error"] for reply in replies] == [None] * 52
        assert replies[-1]["state"]["ply_index"] == 1


async def test_who_ends_it_inside_a_frame_is_told_so(certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates) as client:
        await client.send_bytes(PING + MOVE[:9])
        await client.end()
        assert await client.receive() == {"error": None}
        assert await client.receive() == {
            "code": "bad_frame",
            "error": "the connection ended inside a frame, 9 bytes into it",
        }
        assert await client.closed()


async def test_who_ends_tls_and_reads_on_is_answered(certificates: Certificates) -> None:
    """As Go's CloseWrite and Node's end do: TLS's end one way, the connection open."""
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
        with pytest.raises(ssl.SSLZeroReturnError):  # TLS's word for the end
            await step(tls.read, 1)
        await stream.aclose()


async def test_who_just_closes_has_had_its_requests_executed(certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon:
        async with tls_connected(daemon, certificates) as client:
            await client.send_bytes(MOVE)
        while (await daemon.arbiter.live_game(1)).game.now.ply == 0:
            await trio.testing.wait_all_tasks_blocked()


@pytest.mark.parametrize(
    ("sent", "code"),
    [(PING, None), (b"\0\0\0\0", "bad_frame"), (HELLO + PING + b"\xff\xff\xff\xff", "bad_frame")],
    ids=["version 1", "bad frame", "bad frame in a session"],
)
async def test_the_last_reply_is_not_lost_on_a_client_that_sends_on(
    sent: bytes, code: str | None, certificates: Certificates
) -> None:
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates, hello=False) as client:
        await client.send_bytes(sent)
        await client.send_bytes(bytes(900_000))  # more than the buffers of two sockets hold
        await client.end()
        last: Json = {}
        try:
            while (body := await client.receive_body()) is not None:
                last = json.loads(body)
        except trio.BrokenResourceError as error:  # the connection has ended, and TLS has not said so
            assert isinstance(error.__cause__, ssl.SSLEOFError)  # noqa: PT017
        assert last.get("code") == code


async def test_bytes_that_are_no_tls_in_a_session_end_it_and_nothing_else(certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon, tls_connected(daemon, certificates) as client:
        await client.tls.transport_stream.send_all(PING)
        with pytest.raises(trio.BrokenResourceError):
            await client.receive()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda version: version.name)
async def test_tls_1_2_does_as_well_and_nothing_older(version: ssl.TLSVersion, certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon:
        client = TlsClient(await trio.open_tcp_stream("127.0.0.1", daemon.port), certificates, version)
        await client.send_bytes(HELLO + PING)
        await client.end()
        assert len(await rest(client)) == 2
        assert client.tls.version() == version.name.replace("_", ".")
        assert daemon.certificate is not None
        assert daemon.certificate.context.minimum_version == ssl.TLSVersion.TLSv1_2
        await client.aclose()


# Two that do not speak the same.


@pytest.mark.parametrize("sent", [PING, HELLO + PING, b"GET / HTTP/1.1\r\n\r\n", b"\0"], ids=repr)
async def test_plaintext_on_a_port_with_tls_is_told_so_in_plaintext(sent: bytes, certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon, connected(daemon, hello=False) as client:
        await client.send_bytes(sent)
        assert await client.receive() == NOT_TLS
        assert await client.closed()


async def test_tls_on_a_port_without_it_fails_and_costs_nobody_anything(certificates: Certificates) -> None:
    with structlog.testing.capture_logs() as logged:
        async with running_daemon() as daemon, connected(daemon) as other:
            async with tls_connected(daemon, certificates, hello=False) as client:
                with pytest.raises(trio.BrokenResourceError) as caught:
                    await client.ask("ping")
                assert isinstance(caught.value.__cause__, ssl.SSLError)
            assert await other.ask("ping") == {"error": None}
    assert troubles(logged) == []


def test_what_tells_a_frame_from_tls_is_its_first_byte() -> None:
    """A frame that begins as TLS does would be of 350 MB, which no server takes unless it is told to."""
    assert HANDSHAKE_RECORD << 24 > DEFAULT_MAX_MESSAGE * 300


async def test_who_does_not_trust_the_certificate_leaves_and_costs_nobody_anything(certificates: Certificates) -> None:
    async with quiet_daemon(certificates) as daemon:
        transport = await trio.open_tcp_stream("127.0.0.1", daemon.port)
        stranger = trio.SSLStream(transport, ssl.create_default_context(), server_hostname="localhost")
        with pytest.raises(trio.BrokenResourceError) as caught:
            await stranger.do_handshake()
        assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)
        await stranger.aclose()


# Too many, and too slow.


async def test_over_the_limit_a_client_is_told_so_under_tls(certificates: Certificates) -> None:
    async with tls_daemon(certificates, max_connections=1) as daemon, tls_connected(daemon, certificates) as inside:
        for _ in range(2):
            async with tls_connected(daemon, certificates, hello=False) as outside:
                reply = await outside.receive()
                assert (reply["code"], reply["retry_after"]) == ("too_many", 5.0)
                assert await outside.closed()
        assert await inside.ask("ping") == {"error": None}
        assert daemon.session_server.places_taken == 1


async def test_plaintext_is_told_of_tls_also_when_the_server_is_full(certificates: Certificates) -> None:
    async with (
        tls_daemon(certificates, max_connections=1) as daemon,
        tls_connected(daemon, certificates),
        connected(daemon, hello=False) as outside,
    ):
        await outside.send_bytes(PING)
        assert await outside.receive() == NOT_TLS
