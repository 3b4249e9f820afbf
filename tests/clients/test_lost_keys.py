"""The clients for C and Node get a player's key even if the daemon's replies are lost on the way."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from gm_protocol.framing import FrameDecoder, encode_frame
from tests.clients.other_languages import NODE, client_of, compile_c, driving
from tests.helpers import Json
from tests.serving import Served, served
from tests.tools import require_tool

HERE = Path(__file__).parent
PATIENCE = 60
MAX_FRAME = 1 << 24


class LossyProxy:
    """Proxy to the daemon that loses some replies, and closes their connections.

    :ivar kinds: the kinds of request whose replies it loses, one each, in that order.
    """

    def __init__(self, port: int, *kinds: str) -> None:
        self._port = port
        self.kinds = list(kinds)

    async def serve(self, client: trio.SocketStream) -> None:
        daemon = await trio.open_tcp_stream("127.0.0.1", self._port)
        asked: list[str] = []
        async with client, daemon, trio.open_nursery() as nursery:
            nursery.start_soon(self._forward, client, daemon, asked)
            await self._answer(daemon, client, asked)
            nursery.cancel_scope.cancel()

    async def _forward(self, client: trio.SocketStream, daemon: trio.SocketStream, asked: list[str]) -> None:
        requests = Frames(client)
        while (body := await requests.next()) is not None:
            asked.append(json.loads(body)["kind"])
            await daemon.send_all(encode_frame(body))
        await daemon.send_eof()

    async def _answer(self, daemon: trio.SocketStream, client: trio.SocketStream, asked: list[str]) -> None:
        replies = Frames(daemon)
        while (body := await replies.next()) is not None:
            if self.kinds and asked.pop(0) == self.kinds[0]:
                del self.kinds[0]
                return
            await client.send_all(encode_frame(body))


class Frames:
    """The frames that arrive on a stream."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._decoder = FrameDecoder(MAX_FRAME)

    async def next(self) -> bytes | None:
        """Return the body of the next frame, or None at the end of the stream."""
        while (body := self._decoder.next_frame()) is None:
            chunk = await self._stream.receive_some()
            if not chunk:
                return None
            self._decoder.feed(chunk)
        return body


@asynccontextmanager
async def losing_replies(daemon: Served, *kinds: str) -> AsyncIterator[int]:
    """Yield the port of a lossy proxy, which must have lost all replies that it was to lose."""
    proxy = LossyProxy(daemon.port, *kinds)
    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, proxy.serve, 0, host="127.0.0.1"))
        yield listener.socket.getsockname()[1]
        nursery.cancel_scope.cancel()
    assert proxy.kinds == []


async def may_act(daemon: Served, player: int, key: str) -> bool:
    """Return whether a key belongs to a player."""
    async with client_of(daemon.port) as client:
        return (await client.ask("hello", player=player, key=key))["error"] is None


NODE_CLIENT = """
import { connect } from "./index.js";

const [port, greeting, requests] = process.argv.slice(1).map((text) => JSON.parse(text));
const client = await connect({ port, patience: 20, ...greeting });
const replies = await Promise.all(requests.map(({ kind, ...fields }) => client.request(kind, fields)));
console.log(JSON.stringify(replies));
client.close();
"""


async def by_node(port: int, greeting: Json, *requests: Json) -> list[Any]:
    """Return the replies that Node's client gets to requests that it sends at once."""
    arguments = [json.dumps(each) for each in (port, greeting, requests)]
    command = [require_tool("node"), "--input-type=module", "--eval", NODE_CLIENT, *arguments]
    with trio.fail_after(PATIENCE):
        done = await trio.run_process(command, cwd=NODE, capture_stdout=True)
    replies: list[Any] = json.loads(done.stdout)
    return replies


async def test_node_registers_one_player_and_gets_its_key(daemon_process: Served) -> None:
    name, password = "robbed-node", "a long secret"
    async with losing_replies(daemon_process, "register", "register") as port:
        (reply,) = await by_node(port, {}, {"kind": "register", "name": name, "password": password})
    assert reply["name"] == name
    assert await may_act(daemon_process, reply["player"], reply["key"])


@pytest.mark.parametrize("named", ["by id and key", "by name and key", "by name and password"])
async def test_node_gets_its_new_key_and_continues_with_it(daemon_process: Served, named: str) -> None:
    """A join follows the rekey and is repeated too."""
    name, password = f"rekeyed-node-{named.replace(' ', '-')}", "a long secret"
    async with client_of(daemon_process.port) as client:
        reply = await client.ask("register", name=name, password=password)
        player, key = reply["player"], reply["key"]
        game_id = (await client.ask("new_game", player_white=1, player_black=player))["game_id"]
    greeting = {
        "by id and key": {"player": player, "key": key},
        "by name and key": {"name": name, "key": key},
        "by name and password": {"name": name, "password": password},
    }[named]
    requests: list[Json] = [{"kind": "rekey"}, {"kind": "join", "game_id": game_id}]
    async with losing_replies(daemon_process, "rekey", "rekey", "join") as port:
        rekeyed, joined = await by_node(port, greeting, *requests)
    assert (rekeyed["player"], rekeyed["name"], joined["seat"]) == (player, name, "black")
    assert await may_act(daemon_process, player, rekeyed["key"])
    assert not await may_act(daemon_process, player, key)


async def test_c_registers_rekeys_and_joins_with_tokens(daemon_process: Served, tmp_path: Path) -> None:
    """The session has no player, as the client's header recommends."""
    program = compile_c(tmp_path / "driver", HERE / "c" / "driver.c")
    async with losing_replies(daemon_process, "register", "rekey", "join") as port:
        await trio.to_thread.run_sync(_register_rekey_and_join, program, str(port))


def _register_rekey_and_join(program: Path, port: str) -> None:
    with driving(program) as driver:
        assert driver.ask("session", port, "20000") == "ok"

        def ask(kind: str, **fields: Any) -> Json:
            text = json.dumps({"kind": kind, **fields}).encode().hex()
            reply: Json = json.loads(bytes.fromhex(driver.ask("session_ask", text)))
            assert reply["error"] is None
            return reply

        registered = ask("register", name="robbed-c", token="2b1c")
        old = {"player": registered["player"], "key": registered["key"]}
        new = {**old, "key": ask("rekey", **old, token="9d4e")["key"]}
        assert new != old
        game_id = ask("new_game", player_white=1, player_black=None, token="open for robbed-c")["game_id"]
        assert ask("join", game_id=game_id, **new)["seat"] == "black"
        driver.ask("session", "1", "0")  # this closes the previous session


async def test_key_that_was_used_is_not_shown_again(tmp_path: Path) -> None:
    """A bot may repeat its registration after a restart, with a token that it kept, when its key is already in use."""
    fields = {"kind": "register", "name": "bot", "token": "kept in a file"}
    with served("--data", str(tmp_path)) as daemon:
        (first,) = await by_node(daemon.port, {}, fields)
        assert await may_act(daemon, first["player"], first["key"])
        (again,) = await by_node(daemon.port, {}, fields)
    assert again == {**first, "key": None}
