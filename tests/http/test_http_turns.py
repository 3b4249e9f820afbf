"""HTTP connections take turns by address while the loop is loaded, request by request."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import pytest
import trio

from gmd.net.fair_scheduler import FairScheduler
from gmd.net.tls import certificate_of
from tests.http.helpers import port_serving
from tests.tls import Certificates

pytestmark = pytest.mark.usefixtures("separate_loopback")

#: Addresses of this machine, each a client's of its own.
HOG, HONEST = "127.0.0.2", "127.0.0.3"
CONNECTIONS, REQUESTS = 30, 200
#: How often the other one asks.
ASKED = 10
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["plain", "TLS"])
async def test_pipelined_requests_of_one_address_delay_that_of_another_by_a_few(
    wire: str, certificates: Certificates
) -> None:
    answered = dict.fromkeys((HOG, HONEST), 0)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        answered[scope["client"][0]] += 1
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"well", "more_body": False})

    async def connect(local_address: str) -> trio.abc.Stream:
        stream = await trio.open_tcp_stream("127.0.0.1", port, local_address=local_address)
        await stack.enter_async_context(stream)
        return trio.SSLStream(stream, certificates.trust(), server_hostname="localhost") if certificate else stream

    async def read_for_ever(stream: trio.abc.Stream) -> None:
        while await stream.receive_some():
            pass

    scheduler = FairScheduler(0.0)
    certificate = certificate_of(str(certificates.cert), str(certificates.key)) if wire == "TLS" else None
    found = []
    async with (
        scheduler.running(),
        port_serving(application, 200, certificate=certificate, scheduler=scheduler) as (_, port),
        AsyncExitStack() as stack,
        trio.open_nursery() as nursery,
    ):
        for _ in range(CONNECTIONS):
            stream = await connect(HOG)
            await stream.send_all(GET * REQUESTS)
            nursery.start_soon(read_for_ever, stream)
        lone = await connect(HONEST)
        while answered[HOG] < 300:
            await trio.lowlevel.checkpoint()
        for _ in range(ASKED):
            before = answered[HOG]
            await lone.send_all(GET)
            assert (await lone.receive_some()).endswith(b"well")
            found.append(answered[HOG] - before)
        assert answered[HOG] < CONNECTIONS * REQUESTS
        nursery.cancel_scope.cancel()
    assert sum(found) <= 10 * ASKED  # while each time all of the other's connections wait
