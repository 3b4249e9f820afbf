"""Bridges in this process, for tests; their bots run in separate processes."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import trio

from gm_arena.bot import Bots, Place
from gm_arena.bridge import Bridge, Server
from gm_arena.codingame_bot import CodinGameBots
from gm_arena.reconchess_bot import ReconchessBots
from gm_arena.seat import Played
from gm_client.blocking import Color
from gm_protocol.state import side_of

BOTS = Path(__file__).parent / "bots"

#: Seconds after which games of these tests count as hung.
PATIENCE = 60

#: The beginning of every line of ``gmd connect``.
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ")


def untimed(lines: str) -> str:
    """Return lines without their times. The further lines of a traceback have none, nor has a command's last
    ``Error:``.
    """
    return "".join(TIME.sub("", line, count=1) for line in lines.splitlines(keepends=True))


Plan = Callable[[Bridge], Awaitable[None]]


class Witness:
    """A listener that records what a bridge reports."""

    def __init__(self) -> None:
        self.begun: list[Place] = []
        self.played: list[Played] = []
        self.left: list[tuple[int, str]] = []
        self.unfinished: list[tuple[int, float]] = []
        self.declined: list[tuple[int, str]] = []
        self.waiting: list[tuple[int, int, float | None]] = []
        self._leaves = trio.Event()

    def begins(self, place: Place) -> None:
        self.begun.append(place)

    def ends(self, played: Played) -> None:
        self.played.append(played)

    def leaves_alone(self, game_id: int, reason: str) -> None:
        self.left.append((game_id, reason))
        self._leaves.set()
        self._leaves = trio.Event()

    def leaves_unfinished(self, game_id: int, seconds: float) -> None:
        self.unfinished.append((game_id, seconds))

    async def until_left(self, count: int) -> None:
        """Wait until so many games have been left alone."""
        while len(self.left) < count:
            await self._leaves.wait()

    def declines(self, game_id: int, reason: str) -> None:
        self.declined.append((game_id, reason))

    def waits(self, game_id: int, at_once: int, start_seconds: float | None) -> None:
        self.waiting.append((game_id, at_once, start_seconds))

    @property
    def ends_by_game(self) -> dict[int, str]:
        """How each game ended."""
        return {played.place.game_id: played.state["termination"] for played in self.played}


async def bridged(
    port: int, player: int, bots: Bots, plan: Plan, at_once: int = 4, patience: float = PATIENCE
) -> Witness:
    """Carry out a plan, to the end of all its games."""
    witness = Witness()
    with trio.fail_after(patience):
        await Bridge(Server(port=port, hello={"player": player}), bots, witness, at_once=at_once).run(plan)
    return witness


def new_games(opponent: int, count: int = 1, colors: Iterable[Color] = ("white", "black"), **options: Any) -> Plan:
    """Return a plan that makes games against a player."""
    wanted = [side_of(color) for _ in range(count) for color in colors][:count]
    return lambda bridge: bridge.play_new(opponent, wanted, options)


def recon_bot(name: str) -> ReconchessBots:
    """Return a bot of these tests."""
    return ReconchessBots(str(BOTS / f"{name}.py"))


def script(*lines: str) -> CodinGameBots:
    """Return a CodinGame bot that writes these lines, whatever it reads, and then reads on."""
    text = "".join(f"{line}\n" for line in lines)
    return CodinGameBots(f"""bash -c 'printf %s "$0"; cat >/dev/null' '{text}'""")
