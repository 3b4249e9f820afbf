"""The peer: a bare trio server that only answers every frame with one of a given size.

``python -m bench.echo REPLY_BYTES [--one-shot]``: with ``--one-shot`` it closes after the first reply, like a version 1
session.
"""

from __future__ import annotations

import sys
from functools import partial

import trio

HEADER_BYTES = 4


async def echo(stream: trio.SocketStream, reply: bytes, one_shot: bool) -> None:
    """Answer frames until the client closes."""
    buffer = bytearray()
    async with stream:
        async for chunk in stream:
            buffer += chunk
            while len(buffer) >= HEADER_BYTES:
                end = HEADER_BYTES + int.from_bytes(buffer[:HEADER_BYTES], "big")
                if len(buffer) < end:
                    break
                del buffer[:end]
                await stream.send_all(reply)
                if one_shot:
                    return


async def main(reply_bytes: int, one_shot: bool) -> None:
    """Serve on a free port, and print the port."""
    reply = reply_bytes.to_bytes(HEADER_BYTES, "big") + b"x" * reply_bytes
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    print(f"echo listening on 127.0.0.1:{listener.socket.getsockname()[1]}", flush=True)
    await trio.serve_listeners(partial(echo, reply=reply, one_shot=one_shot), [listener])


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]), "--one-shot" in sys.argv)
