"""The peer: a bare trio server that only answers every frame with one of a given size.

``python -m bench.echo REPLY_BYTES [--one-shot] [--commit]``: with ``--one-shot`` it closes after the first reply, like
a version 1 session. With ``--commit`` it answers what it has read once that is in an SQLite database: nothing that
acknowledges only what is durable can do less.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import trio

from .committer import Committer

HEADER_BYTES = 4


async def echo(stream: trio.SocketStream, reply: bytes, one_shot: bool, committer: Committer | None) -> None:
    """Answer frames until the client closes."""
    buffer = bytearray()
    async with stream:
        async for chunk in stream:
            buffer += chunk
            frames = _take_frames(buffer)
            if frames and committer is not None:
                await committer.commit(bytes(chunk))
                await stream.send_all(reply * frames)
            else:
                for _ in range(frames):
                    await stream.send_all(reply)
            if frames and one_shot:
                return


def _take_frames(buffer: bytearray) -> int:
    """Remove all whole frames from a buffer, and return their number."""
    count = begin = 0
    while len(buffer) >= begin + HEADER_BYTES:
        end = begin + HEADER_BYTES + int.from_bytes(buffer[begin : begin + HEADER_BYTES], "big")
        if len(buffer) < end:
            break
        begin, count = end, count + 1
    del buffer[:begin]
    return count


async def main(reply_bytes: int, one_shot: bool, commit: bool) -> None:
    """Serve on a free port, and print the port."""
    reply = reply_bytes.to_bytes(HEADER_BYTES, "big") + b"x" * reply_bytes
    with tempfile.TemporaryDirectory(prefix="gmd-bench-") as directory:
        committer = Committer(Path(directory)) if commit else None
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        print(f"echo listening on 127.0.0.1:{listener.socket.getsockname()[1]}", flush=True)
        await trio.serve_listeners(partial(echo, reply=reply, one_shot=one_shot, committer=committer), [listener])


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]), "--one-shot" in sys.argv, "--commit" in sys.argv)
