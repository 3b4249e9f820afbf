"""Handshakes that never end, that break off, or that are too many. The tests use the jumping clock."""

from __future__ import annotations

import dataclasses
import random
import socket
import ssl
import struct
from contextlib import suppress

import pytest
import structlog
import trio
import trio.testing
from trio.testing import MockClock

from gm_protocol.framing import encode_frame
from gmd.net.admission import MAX_TLS_REFUSALS
from gmd.net.fair_scheduler import FairScheduler
from gmd.net.tls import certificate_of
from gmd.tcp.listener import SessionServer
from tests.helpers import Client, MemoryDaemon, memory_daemon, troubles
from tests.proofs import cases
from tests.tls import Certificates, TlsClient, tls_connected, tls_daemon

REQUESTS = encode_frame(b'{"kind":"hello"}') + encode_frame(b'{"kind":"new_game","player_white":1,"player_black":2}')


def first_words() -> bytes:
    """Return the first bytes that a TLS client sends."""
    outgoing = ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


def raw_client(daemon: MemoryDaemon) -> Client:
    """Open a connection to a daemon with TLS that has sent nothing yet."""
    ours, theirs = trio.testing.memory_stream_pair()
    daemon.serve(theirs)
    return Client(ours)


async def tls_client(daemon: MemoryDaemon, certificates: Certificates) -> TlsClient:
    """Open a version 2 session over TLS."""
    client = TlsClient(raw_client(daemon).stream, certificates)
    assert (await client.ask("hello"))["error"] is None
    return client


async def is_closed(client: Client) -> bool:
    """Read all that the server sends; return whether it closed."""
    try:
        while await client.stream.receive_some():
            pass
    except trio.BrokenResourceError:
        pass
    return True


@pytest.mark.parametrize("sent", [0, 5, 100], ids="{} bytes".format)
async def test_handshake_has_the_time_limit_of_a_frame(
    sent: int, certificates: Certificates, autojump_clock: MockClock
) -> None:
    async with memory_daemon(**certificates.settings, frame_timeout=7) as daemon:
        client = raw_client(daemon)
        await client.send_bytes(first_words()[:sent])
        assert await is_closed(client)
        assert trio.current_time() == pytest.approx(7)
        assert daemon.session_server.slots_taken == 0


async def test_handshake_sent_byte_by_byte_has_no_more_time(
    certificates: Certificates, autojump_clock: MockClock
) -> None:
    async with memory_daemon(**certificates.settings) as daemon:
        client = raw_client(daemon)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trickle, client)
            assert await is_closed(client)
            nursery.cancel_scope.cancel()
        assert trio.current_time() == pytest.approx(30)


async def trickle(client: Client) -> None:
    for byte in first_words():
        await client.send_bytes(bytes([byte]))
        await trio.sleep(1)


async def test_handshakes_count_as_connections_and_free_their_places(
    certificates: Certificates, autojump_clock: MockClock
) -> None:
    async with memory_daemon(**certificates.settings, max_connections=3) as daemon:
        inside = await tls_client(daemon, certificates)
        silent = [raw_client(daemon) for _ in range(2)]
        await trio.testing.wait_all_tasks_blocked()
        assert (daemon.session_server.slots_taken, daemon.session_server.sessions) == (3, 1)
        outside = TlsClient(raw_client(daemon).stream, certificates)
        assert (await outside.receive())["code"] == "too_many"
        await silent[0].aclose()
        await trio.testing.wait_all_tasks_blocked()
        await tls_client(daemon, certificates)
        await trio.sleep(31)
        assert await is_closed(silent[1])
        assert daemon.session_server.slots_taken == 2
        assert await inside.ask("ping") == {"error": None}


async def test_refused_client_has_a_second_to_receive_the_refusal_and_many_of_them_have_none(
    certificates: Certificates, autojump_clock: MockClock
) -> None:
    async with memory_daemon(**certificates.settings, max_connections=1) as daemon:
        inside = await tls_client(daemon, certificates)
        crowd = [raw_client(daemon) for _ in range(MAX_TLS_REFUSALS + 10)]
        closed_at: list[float] = []

        async def note_end(client: Client) -> None:
            assert await is_closed(client)
            closed_at.append(round(trio.current_time(), 3))

        async with trio.open_nursery() as nursery:
            for client in crowd:
                nursery.start_soon(note_end, client)
        assert closed_at == [0] * 10 + [1] * MAX_TLS_REFUSALS
        outside = TlsClient(raw_client(daemon).stream, certificates)
        assert (await outside.receive())["code"] == "too_many"
        assert await inside.ask("ping") == {"error": None}


async def test_handshakes_of_refused_clients_wait_for_their_turns(certificates: Certificates) -> None:
    """Otherwise they would be free: nobody is charged for a task that has waited for no turn."""
    waits = list[str]()

    class Recording(FairScheduler):
        async def wait_turn(self, source: str) -> None:
            waits.append(source)
            await super().wait_turn(source)

    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    async with (
        listener,
        memory_daemon(**certificates.settings, max_connections=1) as daemon,
        trio.open_nursery() as nursery,
    ):
        scheduler = Recording(0.0)
        services = dataclasses.replace(daemon.services, scheduler=scheduler)
        certificate = certificate_of(str(certificates.cert), str(certificates.key))
        server = SessionServer(services, certificate)
        async with scheduler.running():
            nursery.start_soon(server.run, [listener], nursery)
            async with await trio.open_tcp_stream(*listener.socket.getsockname()) as first:
                admitted = TlsClient(first, certificates)
                assert (await admitted.ask("hello", protocol=2))["error"] is None
                waits.clear()
                async with await trio.open_tcp_stream(*listener.socket.getsockname()) as second:
                    assert (await TlsClient(second, certificates).receive())["code"] == "too_many"
                assert "127.0.0.1" in waits
        nursery.cancel_scope.cancel()


async def test_stopping_server_waits_for_no_handshake(certificates: Certificates, autojump_clock: MockClock) -> None:
    async with memory_daemon(**certificates.settings, max_connections=2) as daemon:
        inside = await tls_client(daemon, certificates)
        raw_clients = [raw_client(daemon) for _ in range(2)]  # one of them is being refused
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(daemon.session_server.stop, 4)
            assert await inside.closed()
            for each in raw_clients:
                assert await is_closed(each)
        assert trio.current_time() == 0
        assert daemon.session_server.slots_taken == 0


async def test_server_does_not_wait_for_a_client_that_reads_nothing_to_receive_the_tls_close(
    certificates: Certificates, autojump_clock: MockClock
) -> None:
    async with memory_daemon(**certificates.settings) as daemon:
        ours, theirs = trio.testing.lockstep_stream_pair()
        daemon.serve(theirs)
        client = TlsClient(ours, certificates)
        await client.tls.do_handshake()
        assert await client.ask("ping") == {"error": None}  # and it reads nothing of what follows
        await trio.sleep(29)
        assert daemon.session_server.slots_taken == 1
        await trio.sleep(2)
        assert daemon.session_server.slots_taken == 0


async def test_connection_that_begins_like_tls_but_is_not_is_closed_and_harms_no_other_client(
    certificates: Certificates,
) -> None:
    draw = random.Random(7100)
    good = first_words()
    with structlog.testing.capture_logs() as logged:
        async with tls_daemon(certificates) as daemon, tls_connected(daemon, certificates) as other:
            for _ in range(cases(50)):
                data = bytearray(draw.choice([good, good[:5] + draw.randbytes(600), good[:1] + draw.randbytes(20)]))
                for _ in range(3):
                    data[draw.randrange(1, len(data))] = draw.randrange(256)
                client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
                await client.send_bytes(bytes(data))
                await client.end()
                assert await is_closed(client)
                await client.aclose()
            assert await other.ask("ping") == {"error": None}
    assert troubles(logged) == []


class Cut(trio.abc.Stream):
    """A connection that ends after this many bytes have been sent."""

    def __init__(self, stream: trio.SocketStream, size: int, reset: bool) -> None:
        self._stream, self._size = stream, size
        self.sent = 0
        if reset:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        data = data[: self._size - self.sent]
        await self._stream.send_all(data)
        self.sent += len(data)
        if self.sent == self._size:
            await self._stream.aclose()
            raise trio.BrokenResourceError

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
async def test_handshake_cut_at_any_byte_harms_no_other_client(reset: bool, certificates: Certificates) -> None:
    with structlog.testing.capture_logs() as logged:
        async with tls_daemon(certificates) as daemon, tls_connected(daemon, certificates) as other:

            async def sent_before(size: int) -> int:
                """Return the bytes that a client sends which makes a game and is cut off after ``size`` bytes."""
                cut = Cut(await trio.open_tcp_stream("127.0.0.1", daemon.port), size, reset)
                client = TlsClient(cut, certificates)
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    await client.send_bytes(REQUESTS)
                    assert [(await client.receive())["error"] for _ in range(2)] == [None, None]
                await client.aclose()
                return cut.sent

            whole = await sent_before(1 << 20)
            assert whole > 600
            for size in random.Random(7100).sample(range(whole), min(whole, cases(30))):
                assert await sent_before(size) == size
            while daemon.session_server.slots_taken > 1:
                await trio.testing.wait_all_tasks_blocked()
            assert len((await other.ask("games"))["games"]) == 1
    assert troubles(logged) == []


async def test_failed_handshake_is_logged_with_its_peer_and_reason(
    certificates: Certificates, mock_clock: MockClock
) -> None:
    with structlog.testing.capture_logs() as logged:
        async with tls_daemon(certificates, frame_timeout=7) as daemon:
            peers = []
            sent_and_after: list[tuple[bytes, str]] = [
                (b"GET / HTTP/1.1\r\n\r\n", ""),
                (first_words()[:40], "end"),
                (b"\x16", "time passes"),
            ]
            for sent, after in sent_and_after:
                client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
                assert isinstance(client.stream, trio.SocketStream)
                peers.append("{}:{}".format(*client.stream.socket.getsockname()))
                await client.send_bytes(sent)
                if after == "end":
                    await client.end()
                elif after == "time passes":
                    while not daemon.session_server.slots_taken:
                        await trio.testing.wait_all_tasks_blocked()
                    await trio.testing.wait_all_tasks_blocked()
                    mock_clock.jump(7)
                assert await is_closed(client)
                await client.aclose()
    reasons = ["what came is not TLS", "the connection ended", "it was not agreed on in time"]
    assert [(entry["reason"], entry["peer"]) for entry in logged if entry["event"] == "no TLS"] == [
        *zip(reasons, peers, strict=True)
    ]
