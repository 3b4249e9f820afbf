"""What clients send is not kept longer than needed, so that no client can fill the daemon's memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator

import pytest

from gm_protocol.framing import FrameDecoder, encode_frame
from tests.helpers import Json, MemoryDaemon, memory_daemon

#: Bytes of text that a request carries, and by how many bytes a game may grow from it.
TEXT = 100_000
KEPT = 20_000
GAMES = 5

NEW_GAME: Json = {"player_white": 1, "player_black": 2}


@pytest.fixture
def memory() -> Iterator[None]:
    """Count what is allocated."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


async def kept_for_each(daemon: MemoryDaemon, *requests: Json) -> float:
    """Return the bytes that each repetition of some requests leaves allocated after its session closed."""

    async def play(number: int) -> None:
        client = await daemon.connect()
        for request in requests:
            text = json.dumps(request).replace("GAME", str(number)).replace('"ID"', str(number))
            await client.send_bytes(encode_frame(text.encode()))
            assert (await client.receive())["error"] is None
        await client.end()
        assert await client.closed()

    await play(1)  # what is made once and kept exists after this
    before, _ = tracemalloc.get_traced_memory()
    for number in range(2, GAMES + 2):
        await play(number)
    after, _ = tracemalloc.get_traced_memory()
    return (after - before) / GAMES


@pytest.mark.parametrize(
    "requests",
    [
        [{"kind": "new_game", **NEW_GAME, "token": "GAME" + "t" * TEXT}],
        [{"kind": "new_game", **NEW_GAME, "token": "GAME", "pgn": "{" + "c" * TEXT + "} e4"}],
        [
            {"kind": "new_game", **NEW_GAME, "illegal_move": "lose"},
            {"kind": "move", "player": 1, "game_id": "ID", "move": "m" * TEXT},
        ],
        [{"kind": "hello", "client": "c" * TEXT}],
        [{"kind": "ping", "id": "i" * TEXT}],
    ],
    ids=["token", "pgn under a token", "forfeiting move", "client", "id"],
)
async def test_no_text_of_a_client_stays_in_memory_with_its_game(requests: list[Json], memory: None) -> None:
    async with memory_daemon() as daemon:
        assert await kept_for_each(daemon, *requests) < KEPT


def test_frame_that_was_taken_from_the_buffer_is_released(memory: None) -> None:
    decoder = FrameDecoder(2 * TEXT)
    before, _ = tracemalloc.get_traced_memory()
    decoder.feed(encode_frame(b"x" * TEXT))
    assert len(decoder.next_frame() or b"") == TEXT
    after, _ = tracemalloc.get_traced_memory()
    assert after - before < KEPT
