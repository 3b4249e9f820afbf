"""A class of thirty on one daemon for ten minutes: registered bots, browsers, and readers of event streams."""

from __future__ import annotations

import random
import time
from collections import Counter
from itertools import count
from statistics import quantiles
from threading import Thread

import httpx
import pytest
import trio

from gm_client import trio_client
from gm_client.trio_client import Client
from tests.browser.chromium import Browser, Browsers, expect
from tests.serving import Served, served

SECONDS = 600.0
BOTS, READERS = 30, 28
CODE = "spring term"
#: Seconds that a bot thinks about a move: so each plays some games in a lesson, as bots of students do.
THINKING_SECONDS = 0.25
#: Seconds for an answer that is not a wait for another player.
PATIENCE_SECONDS = 30.0


class Lesson:
    """The bots and the readers, in a thread of their own.

    :ivar counts: games, moves, streams that have ended with their games, and events.
    :ivar delays: the seconds that each move took to be answered.
    :ivar playing: the games in progress.
    :ivar trouble: what ended the lesson early.
    """

    def __init__(self, daemon: Served) -> None:
        self.counts, self.delays = Counter[str](), list[float]()
        self.playing: list[int] = []
        self.trouble: Exception | None = None
        self._daemon = daemon
        self._until = 0.0
        self._games = count()

    def run(self) -> None:
        try:
            trio.run(self._run)
        except Exception as error:
            self.trouble = error

    async def _run(self) -> None:
        self._until = trio.current_time() + SECONDS
        async with trio.open_nursery() as nursery:
            for pair in range(BOTS // 2):
                nursery.start_soon(self._pair, pair)
            for _ in range(READERS):
                nursery.start_soon(self._reader)

    @property
    def _is_on(self) -> bool:
        return trio.current_time() < self._until

    async def _registered(self, name: str) -> Client:
        """Register a student's bot, and return its session."""
        async with await trio_client.connect(port=self._daemon.port) as anybody:
            key = (await anybody.register(name, invite=CODE))["key"]
        return await trio_client.connect(port=self._daemon.port, name=name, key=key)

    async def _pair(self, number: int) -> None:
        """Have two bots play one game after the other."""
        async with (
            await self._registered(f"white-{number}") as white,
            await self._registered(f"black-{number}") as black,
        ):
            while self._is_on:
                game_id = (await white.new_game(white.player, black.player, variant="rbc", max_turns=40))["game_id"]
                await black.join(game_id)
                self.playing.append(game_id)
                async with trio.open_nursery() as nursery:
                    for client in (white, black):
                        nursery.start_soon(self._play, client, game_id)
                self.playing.remove(game_id)
                self.counts["games"] += 1

    async def _play(self, client: Client, game_id: int) -> None:
        async for turn in client.turns(game_id, brief=True):
            await trio.sleep(THINKING_SECONDS)
            begun = trio.current_time()
            if turn.sense_actions:
                await turn.sense(random.choice(turn.sense_actions))
            await turn.move(random.choice(turn.move_actions))
            self.delays.append(trio.current_time() - begun)
            self.counts["moves"] += 1

    async def _reader(self) -> None:
        """Follow one game after the other by its stream, each to its end."""
        async with httpx.AsyncClient(base_url=self._daemon.http, timeout=None, trust_env=False) as client:
            while self._is_on or self.playing:
                if not self.playing:
                    await trio.sleep(THINKING_SECONDS)
                    continue
                async with client.stream("GET", f"/games/{random.choice(self.playing)}/events") as answer:
                    assert answer.status_code == 200, answer
                    ended = False
                    async for line in answer.aiter_lines():
                        self.counts["events"] += line.startswith("data:")
                        ended = ended or line == "event: end"
                assert ended, "a stream has broken off"
                self.counts["streams"] += 1


@pytest.mark.nightly
def test_class_of_thirty_plays_and_is_watched_without_an_error(chromium: Browser) -> None:
    settings = {"GMD_INVITE": CODE, "GMD_HTTP_PORT": "0", "GMD_LOG_LEVEL": "warning", "GMD_HTTP": "true"}
    with served("--bots", "none", env=settings) as daemon:
        lesson, browsers = Lesson(daemon), Browsers(chromium, daemon.http)
        thread = Thread(target=lesson.run, daemon=True)
        thread.start()
        home, board = browsers.open("/"), browsers.open("/")
        looks = 0
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and thread.is_alive():
            if lesson.playing:
                assert board.goto(f"/games/{lesson.playing[-1]}").ok
                expect(board.get_by_role("link", name="See the whole game").first).to_be_attached()
                looks += 1
            home.wait_for_timeout(5_000)
        thread.join()
        browsers.close()
        daemon.process.terminate()
        _, log = daemon.process.communicate()
    assert lesson.trouble is None, lesson.trouble
    slowest = quantiles(lesson.delays, n=100)[-1]
    print(f"{dict(lesson.counts)}, {looks} games followed in a browser to their ends")
    print(f"99 of 100 turns were answered within {slowest:.3f} s; log: {log!r}")
    assert log == ""
    assert lesson.counts["games"] >= BOTS // 2
    assert lesson.counts["streams"] >= READERS
    assert looks > 0
    assert slowest < PATIENCE_SECONDS
