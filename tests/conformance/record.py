"""Recorder of the vectors: run ``python -m tests.conformance.record``, then review the changes.

It plays every script against a new daemon and writes the replies. Each code that no client can provoke gets a vector
that is there only to be decoded.
"""

from __future__ import annotations

import json

import trio

from gm_protocol.codec import encode, error_reply
from gm_protocol.errors import GmError, Internal, ShuttingDown
from gm_protocol.framing import encode_frame
from tests.conformance.script import FOLDER as SCRIPTS
from tests.conformance.script import Script, Step, read_scripts
from tests.conformance.vectors import FOLDER, Exchange, Vector, has, play, render
from tests.helpers import running_daemon
from tests.named_clients import NamedClients, named_clients

#: Errors that no script can provoke, each with the kind of the request that it answers.
UNPROVOKED: list[tuple[GmError, str | None, str]] = [
    (ShuttingDown("the server is stopping"), None, "In answer to a message that is incomplete when the server stops."),
    (Internal("the server failed"), "move", "When the server fails."),
]


async def record(script: Script) -> Vector:
    """Play a script and return its vector."""
    async with running_daemon(**script.server) as daemon, named_clients(daemon.port) as clients:
        exchanges = [await _exchange(clients, script, step) for step in script.steps()]
    return Vector(name=script.name, about=script.about, server=script.server, exchanges=exchanges)


async def _exchange(clients: NamedClients, script: Script, step: Step) -> Exchange:
    received = await play(clients, step.connection, step.sent, ends=step.ends)
    reply = json.loads(received[4:])
    closes = not script.session or step.ends or not step.sent or reply.get("code") == "bad_frame"
    if closes:
        await clients.expect_closed(step.connection)
    return Exchange(
        connection=step.connection,
        request=step.request,
        send=step.sent.hex(),
        plain=step.plain or step.request is None,
        ends=step.ends,
        reply=reply,
        receive=received.hex(),
        volatile=[path for path in script.volatile if has(reply, path)],
        closes=closes,
    )


def unprovoked() -> list[Vector]:
    """Return the vectors of the errors that no script can provoke."""
    vectors = []
    for error, kind, about in UNPROVOKED:
        body = encode(error_reply(error, kind, None))
        exchange = Exchange(connection=1, reply=json.loads(body), receive=encode_frame(body).hex())
        vectors.append(Vector(name=error.code, about=about, live=False, exchanges=[exchange]))
    return vectors


async def main() -> None:
    for path in sorted(SCRIPTS.glob("*.txt")):
        vectors = [await record(script) for script in read_scripts(path)]
        if path.stem == "errors":
            vectors += unprovoked()
        (FOLDER / path.name).with_suffix(".json").write_text(render(vectors), "utf-8")
        print(f"{path.stem}: {len(vectors)} vectors")


if __name__ == "__main__":
    trio.run(main)
