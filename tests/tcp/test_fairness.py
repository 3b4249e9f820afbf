"""A large request yields to other clients. No test measures time: each counts who gets a turn, and when."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
import trio

from gm_protocol.codec import MAX_BESIDE_PGN, InvalidRequest, decode_request
from gm_protocol.errors import BadPgn
from gm_protocol.messages import GameFromPgn, Ping
from gmd.games.notation import run_through
from gmd.games.pgn_text import MAX_TAG, read_pgn
from gmd.tcp.conversation import BATCH
from tests.helpers import Client, Json, connected, memory_daemon, running_daemon
from tests.work import calls_during, calls_of_steps

MEBIBYTE = 1 << 20
#: Allows for a text of a mebibyte, even when JSON escapes every other byte of it.
MAX_MESSAGE = 2 * MEBIBYTE
#: The greatest number of plies of such a text that is loaded.
PLIES = 6_000
#: Function calls in one step of reading, which covers some hundred tokens.
CALLS_A_STEP = 10_000
#: The least number of turns others must get while such a text is read: one every few milliseconds.
TURNS = 12

#: Requests that arrive together.
PIPELINED = 400


#: The size of the texts: some twenty steps of reading them.
SIZE = MEBIBYTE // 16


def filled(text: str, size: int = SIZE) -> str:
    """Repeat ``text`` up to ``size`` characters."""
    return text * (size // len(text))


SHUFFLE = "Nf3 Nf6 Ng1 Ng8 "
DEPTH = 6_000

#: Texts of 64 KiB: sixteen thousand plies, and text that a PGN reader skips.
LARGE = {
    "plies": filled(SHUFFLE),
    "numbered plies": filled("1. Nf3 Nf6 2. Ng1 Ng8 "),
    "nested variations": "1. e4 " + "(" * DEPTH + filled("1. d4 ", SIZE - 3 * DEPTH) + ")" * DEPTH,
    "variations": "1. e4 " + filled("(1. d4 (1. c4)) "),
    "comments": filled("{} ") + "1. e4",
    "line comments": filled(";\n") + "1. e4",
    "annotations": "1. e4 " + filled("$1 "),
    "marks": "1. e4 " + filled("! "),
    "numbers": filled("1. ") + "e4",
    "dots": filled(". ") + "e4",
    "headers": filled('[A "b"]\n', MEBIBYTE // 4) + "1. e4",  # a step reads many
}
#: Texts as large that are refused.
REFUSED = {
    "open variations": "1. e4 " + filled("("),
    "games": filled("e4 * "),
    "words": filled("(a) ") + filled("a", 1_000),
}
#: Texts as large that are refused at once, because a token in them has no end within its limit.
ENDLESS = {
    "word": "1. " + filled("a"),
    "number": filled("1"),
    "dots": filled("."),
    "marks": "1. e4 " + filled("!"),
    "tag": f'[A "{filled("b")}"] 1. e4',
    "escapes in a tag": f'[A "{filled(chr(92) + chr(34))}"] 1. e4',
    "quotes in a tag": f'[A "{filled(chr(34) + " ")}] 1. e4',
}


def request(pgn: str) -> Json:
    return {"kind": "game_from_pgn", "player_white": 1, "player_black": 2, "pgn": pgn, "brief": True}


async def ping_until(client: Client, done: trio.Event) -> int:
    """Return how many pings, sent one after the other, are answered until ``done``."""
    answered = 0
    while not done.is_set():
        assert await client.ask("ping") == {"error": None}
        answered += 1
    return answered


async def pings_during(pgn: str) -> tuple[Json, int]:
    """Return the reply to a PGN, and how many pings on another connection were answered before it."""
    async with memory_daemon(max_message=MAX_MESSAGE, max_pgn=MAX_MESSAGE, max_plies=PLIES) as daemon:
        daemon.arbiter.cpu_queue.slice_seconds = 0.0  # as on a very slow machine
        loader, other = await daemon.connect(), await daemon.connect()
        done = trio.Event()
        replies: list[Any] = []

        async def load() -> None:
            replies.append(await loader.ask(**request(pgn)))
            done.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(load)
            answered = await ping_until(other, done)
        return replies[0], answered


def first_and_slow_others(names: Iterable[str]) -> list[object]:
    """Return the parameters of a test whose first one shows what it promises."""
    first, *others = names
    return [first, *(pytest.param(name, marks=pytest.mark.slow) for name in others)]


@pytest.mark.parametrize("name", first_and_slow_others(LARGE))
async def test_reading_a_large_pgn_lets_others_take_turns(name: str) -> None:
    reply, answered = await pings_during(LARGE[name])
    assert reply["error"] is None
    assert reply["state"]["ply_index"] == (PLIES if "plies" in name else 1)
    assert answered >= TURNS


@pytest.mark.parametrize("name", first_and_slow_others(REFUSED))
async def test_refusing_a_large_pgn_lets_others_take_turns(name: str) -> None:
    reply, answered = await pings_during(REFUSED[name])
    assert reply["code"] == "bad_pgn"
    assert answered >= TURNS


@pytest.mark.parametrize("name", ENDLESS)
def test_token_without_an_end_is_refused_without_reading_to_the_end_of_the_text(name: str) -> None:
    """The rest of the text is not read: the refusal is the same whatever the rest contains."""
    text = ENDLESS[name]
    kept = text[: MAX_TAG + 100]
    refusals = [refusal_of(kept + "\n" + "x" * size) for size in (0, 1_000)]
    assert refusals == [refusal_of(text)] * 2
    assert "line 1" in refusals[0]


def refusal_of(text: str) -> str:
    with pytest.raises(BadPgn) as refused:
        run_through(read_pgn(text, PLIES))
    return str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LARGE, *REFUSED])
def test_no_step_of_reading_a_pgn_reads_more_than_some_hundred_tokens(name: str) -> None:
    """The work is counted in function calls, of which there are equally many on every machine."""
    steps = read_pgn((LARGE | REFUSED)[name][: SIZE // 2], PLIES)
    assert max(calls_of_steps(steps)) < CALLS_A_STEP


async def test_ping_sent_after_a_large_pgn_is_answered_before_it() -> None:
    async with (
        running_daemon(max_message=MAX_MESSAGE, max_pgn=MAX_MESSAGE, max_plies=PLIES) as daemon,
        connected(daemon) as loader,
        connected(daemon) as other,
    ):
        daemon.arbiter.cpu_queue.slice_seconds = 0.0
        await loader.send(request(filled(SHUFFLE)))
        order = []
        async with trio.open_nursery() as nursery:

            async def receive(client: Client, name: str) -> None:
                assert (await client.receive())["error"] is None
                order.append(name)

            nursery.start_soon(receive, loader, "pgn")
            await other.send({"kind": "ping"})
            nursery.start_soon(receive, other, "ping")
        assert order == ["ping", "pgn"]


async def test_long_pipeline_lets_others_take_turns() -> None:
    async with memory_daemon() as daemon:
        greedy, other = await daemon.connect(), await daemon.connect()
        await greedy.send(*({"kind": "ping", "id": number} for number in range(PIPELINED)))
        assert await other.ask("ping") == {"error": None}
        answered = (await greedy.stream.receive_some(MEBIBYTE)).count(b'"id"')
        assert 0 < answered < PIPELINED // 4
        await greedy.end()
        rest = b""
        while data := await greedy.stream.receive_some(MEBIBYTE):
            rest += data
        assert answered + rest.count(b'"id"') == PIPELINED


@pytest.mark.parametrize(
    "fields",
    [
        '"kind":"move","game_id":"x",' + ",".join(f'"{key}":0' for key in range(80_000)),
        '"kind":"new_game","player_white":1,"player_black":2,' + ",".join(f'"{key}":0' for key in range(80_000)),
    ],
    ids=["a wrong field among many", "many unknown fields"],
)
async def test_request_with_many_fields_is_refused_without_reading_each_field(fields: str) -> None:
    body = f"{{{fields}}}".encode()
    with pytest.raises(InvalidRequest) as caught:
        decode_request(body, strict=True)
    assert caught.value.error.code == "bad_request"
    calls = calls_during(lambda: decode_request(body, strict=True))
    assert calls < 1_000


async def test_slow_requests_of_a_pipeline_do_not_run_as_one_batch() -> None:
    """The time it took also ends a batch: others are answered between two long histories."""
    async with running_daemon() as daemon, connected(daemon) as slow, connected(daemon) as other:
        daemon.arbiter.cpu_queue.slice_seconds = 0.0
        await slow.new_game(pgn="Nf3 Nf6 Ng1 Ng8 " * 500)
        answered = 0

        async def read() -> None:
            nonlocal answered
            for _ in range(BATCH):
                assert (await slow.receive())["error"] is None
                answered += 1

        async with trio.open_nursery() as nursery:
            await slow.send(*[{"kind": "history", "game_id": 1}] * BATCH)
            nursery.start_soon(read)
            await other.ask("ping")
            assert answered < BATCH


LARGE_BESIDE = ",".join(["1"] * 70_000)


@pytest.mark.parametrize(
    "fields",
    [
        f'"kind":"wait","any":true,"except":[{LARGE_BESIDE}]',
        f'"kind":"wait","game_ids":[{LARGE_BESIDE},"x"]',
        f'"kind":"ping","x":[{LARGE_BESIDE}]',
        f'"kind":"new_game","pgn":[{LARGE_BESIDE}]',
        f'"kind":"new_game","pgn":"1. e4","x":[{LARGE_BESIDE}]',
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_request_that_is_large_without_its_pgn_is_refused(fields: str, strict: bool) -> None:
    body = f'{{"id":7,{fields}}}'.encode()
    with pytest.raises(InvalidRequest) as caught:
        decode_request(body, strict=strict)
    beside = len(body) - (len('"1. e4"') if '"pgn":"' in fields else 0)
    assert str(caught.value) == f"the message has {beside} bytes besides its pgn; at most {MAX_BESIDE_PGN} are allowed"
    assert (caught.value.error.code, caught.value.id) == ("bad_request", 7)
    assert caught.value.kind == json.loads(body)["kind"]


def test_large_request_may_hold_a_large_pgn_and_other_fields_up_to_the_limit() -> None:
    body = json.dumps({"kind": "game_from_pgn", "player_white": 1, "player_black": 2, "pgn": "x" * MEBIBYTE}).encode()
    assert isinstance(decode_request(body), GameFromPgn)
    head = b'{"kind":"ping","x":"'
    fits = head + b"x" * (MAX_BESIDE_PGN - len(head) - 2) + b'"}'
    assert len(fits) == MAX_BESIDE_PGN
    assert isinstance(decode_request(fits), Ping)
    with pytest.raises(InvalidRequest):
        decode_request(fits.replace(b"xx", b"xxx", 1))
