"""Honest bots: ``python -m bench.hostile.honest HOST PORT SECONDS`` plays, and prints times and troubles as JSON."""

from __future__ import annotations

import json
import random
import sys
import time
from typing import Any

import trio

from bench.load import HEADER, Address, frame

#: The number of bots, each with its own session, in which it plays both sides of one game after the other.
BOTS = 8
#: Seconds that a bot thinks about a move, and seconds on its clock for each game.
THINKING = 0.05
CLOCK = 60
PLIES = 40

_MOVES = ("g1f3", "g8f6", "f3g1", "f6g8", "b1c3", "b8c6", "c3b1", "c6b8")


class Bot:
    """A bot that plays without end and times each of its requests."""

    def __init__(self, address: Address, times: list[float], troubles: dict[str, int]) -> None:
        self._address = address
        self._times = times
        self._troubles = troubles

    async def play(self) -> None:
        """Play, on a new connection whenever one is lost."""
        while True:
            try:
                async with await trio.open_tcp_stream(*self._address) as stream:
                    self._stream = stream
                    await self._ask(kind="hello", protocol=2)
                    while True:
                        await self._game()
            except (OSError, trio.BrokenResourceError, EOFError):
                self._note("connections lost")
                await trio.sleep(THINKING)

    async def _game(self) -> None:
        reply = await self._ask(kind="new_game", player_white=1, player_black=2, clock={"initial": CLOCK})
        game_id = reply.get("game_id")
        for ply in range(PLIES):
            if reply["error"] is not None:
                self._note(reply["code"])
                return
            if reply["state"]["termination"] != "available_move":
                self._note(f"games ended by {reply['state']['termination']}")
                return
            await trio.sleep(THINKING * random.uniform(0.5, 1.5))
            move = _MOVES[ply % len(_MOVES)]
            reply = await self._ask(kind="move", player=1 + ply % 2, game_id=game_id, move=move)

    async def _ask(self, **request: Any) -> dict[str, Any]:
        data = frame(request)
        begun = time.perf_counter()
        try:
            await self._stream.send_all(data)
            (length,) = HEADER.unpack(await self._read(HEADER.size))
            reply: dict[str, Any] = json.loads(await self._read(length))
        finally:
            self._times.append(time.perf_counter() - begun)  # a wait without a reply counts too
        return reply

    async def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            if not (more := await self._stream.receive_some(size - len(data))):
                raise EOFError
            data += more
        return data

    def _note(self, what: str) -> None:
        self._troubles[what] = self._troubles.get(what, 0) + 1


async def main(address: Address, seconds: float) -> None:
    """Play for so many seconds."""
    times: list[float] = []
    troubles: dict[str, int] = {}
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            for _ in range(BOTS):
                nursery.start_soon(Bot(address, times, troubles).play)
    print(json.dumps({"times": times, "troubles": troubles}))


if __name__ == "__main__":
    trio.run(main, (sys.argv[1], int(sys.argv[2])), float(sys.argv[3]))
