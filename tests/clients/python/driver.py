"""The Python clients' connections for tests that drive clients of any language.

It takes the commands "open", "ask" and "close" of the driver in C. Requests and replies go through the client's own
JSON both ways.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

import trio

from gm_client import blocking, trio_connection
from gm_client.blocking import SILENCE_SECONDS, decode, encode


async def settled(result: Any) -> Any:
    """Return the result of a method, awaited if necessary."""
    return await result if inspect.isawaitable(result) else result


async def main(connection: Any) -> None:
    """Execute one line after the other."""
    connections: dict[str, Any] = {}
    for line in sys.stdin:
        command, name, *words = line.split()
        if command == "open":
            connections[name] = await settled(connection.open(words[0], int(words[1])))
            answer = "ok"
        elif command == "ask":
            await settled(connections[name].send(encode(decode(bytes.fromhex(words[0])))))
            answer = encode(decode(await settled(connections[name].receive(SILENCE_SECONDS)))).hex()
        else:
            await settled(connections[name].close())
            answer = "ok"
        print(answer, flush=True)


trio.run(main, trio_connection.Connection if sys.argv[1] == "trio" else blocking.Connection)
