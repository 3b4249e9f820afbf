"""A session of valid and invalid requests gets one reply to each, in order, however its bytes are split."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import trio
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.framing import encode_frame
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon

#: Seconds of the jumping clock within which every test must end; the longest wait is shorter.
LIMIT_SECONDS = 50_000


class Item(NamedTuple):
    """A message of a session: what is sent, and what is known of its reply."""

    body: bytes
    id: int | str | None
    code: str | None = None


games = st.integers(1, 4)
players = st.integers(1, 3)
moves = st.sampled_from(["e4", "e5", "Nf3", "g8f6", "d4", "Qh5", "Ke2", "nonsense", "0000"])

valid = st.one_of(
    st.fixed_dictionaries({"kind": st.just("ping")}),
    st.fixed_dictionaries({"kind": st.just("hello")}, optional={"player": players}),
    st.fixed_dictionaries(
        {"kind": st.just("new_game"), "player_white": players, "player_black": players},
        optional={"variant": st.just("crazyhouse"), "token": st.sampled_from("ab"), "pgn": st.just("1. e4 e5")},
    ),
    st.fixed_dictionaries(
        {"kind": st.just("move"), "game_id": games, "move": moves, "player": players},
        optional={"ply": st.integers(0, 4), "seat": st.sampled_from(["white", "black"])},
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("end_game"),
            "game_id": games,
            "player": players,
            "termination": st.sampled_from(["resignation_white", "resignation_black", "draw_agreed"]),
        },
    ),
    st.fixed_dictionaries({"kind": st.just("state"), "game_id": games}, optional={"actions": st.booleans()}),
    st.fixed_dictionaries({"kind": st.just("wait"), "game_id": games, "player": players}),
    st.fixed_dictionaries({"kind": st.just("wait"), "game_id": games, "timeout": st.just(3), "ply": st.integers(0, 9)}),
    st.fixed_dictionaries({"kind": st.just("wait"), "any": st.just(True), "player": players}),
    st.fixed_dictionaries({"kind": st.just("actions"), "game_id": games, "player": players}),
    st.fixed_dictionaries({"kind": st.just("games")}, optional={"limit": st.integers(1, 3)}),
    st.fixed_dictionaries({"kind": st.just("history"), "game_id": games}),
)
ids = st.none() | st.integers() | st.text(max_size=5)

requests = st.builds(
    lambda request, id, brief: Item(json.dumps({**request, "id": id, "brief": brief}).encode(), id),
    valid,
    ids,
    st.booleans(),
)
no_requests = st.one_of(
    st.builds(lambda id: Item(json.dumps({"id": id}).encode(), id, "bad_request"), ids),
    st.builds(lambda id: Item(json.dumps({"kind": "nothing", "id": id}).encode(), id, "unknown_kind"), ids),
    st.builds(lambda id: Item(json.dumps({"kind": "move", "id": id}).encode(), id, "bad_request"), ids),
    st.sampled_from([b"{", b"\xff", b"[1]", b"[" * 5000, b'{"kind":"ping"}}', b"\0"]).map(
        lambda body: Item(body, None, "bad_json")
    ),
)
sessions = st.lists(requests | no_requests, min_size=5, max_size=25)
piece_sizes = st.lists(st.integers(1, 700), min_size=5, max_size=30)


async def replies_in_pieces(daemon: MemoryDaemon, items: Iterable[Item], sizes: list[int]) -> list[Json]:
    """Return all replies to a session sent in pieces of these sizes, with the rest in one piece."""
    client = await daemon.connect()
    data = b"".join(encode_frame(item.body) for item in items)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(send_in_pieces, client, data, sizes)
        return await all_replies(client)


async def send_in_pieces(client: Client, data: bytes, sizes: list[int]) -> None:
    for size in sizes:
        await client.send_bytes(data[:size])
        data = data[size:]
        await trio.sleep(0.01)
    await client.send_bytes(data)
    await client.end()


async def replies_one_by_one(daemon: MemoryDaemon, items: Iterable[Item]) -> list[Json]:
    """Return the replies to a session whose client waits for each reply before it goes on."""
    client = await daemon.connect()
    replies = []
    for item in items:
        await client.send_bytes(encode_frame(item.body))
        replies.append(await client.receive())
    await client.end()
    assert await client.closed()
    return replies


async def all_replies(client: Client) -> list[Json]:
    replies = []
    while (body := await client.receive_body()) is not None:
        replies.append(json.loads(body))
    return replies


def without_times(reply: Json) -> Json:
    """Return the reply without its wall-clock times."""
    if "games" in reply:
        return {**reply, "games": [{**row, "created": "", "changed": ""} for row in reply["games"]]}
    return {**reply, "pgn": ""} if "moves" in reply else reply


def run(items: list[Item], sizes: list[int] | None) -> list[Json]:
    """Return the replies to a session with a new daemon."""

    async def main() -> list[Json]:
        with trio.fail_after(LIMIT_SECONDS):
            async with memory_daemon() as daemon:
                if sizes is None:
                    return await replies_one_by_one(daemon, items)
                return await replies_in_pieces(daemon, items, sizes)

    return [without_times(reply) for reply in trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))]


@given(sessions, piece_sizes)
def test_every_message_gets_exactly_one_reply_in_order_however_the_session_is_split(
    items: list[Item], sizes: list[int]
) -> None:
    replies = run(items, sizes)
    assert replies == run(items, None)
    assert [reply.get("id") for reply in replies] == [item.id for item in items]
    for item, reply in zip(items, replies, strict=True):
        check_reply(item, reply)


def check_reply(item: Item, reply: dict[str, Any]) -> None:
    assert "error" in reply
    assert ("code" in reply) == (reply["error"] is not None)
    if item.code is not None:
        assert reply["code"] == item.code
    assert reply.get("code") not in {"internal", "bad_frame", "shutting_down", "too_many"}
