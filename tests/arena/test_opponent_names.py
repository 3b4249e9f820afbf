"""Bots receive their opponents' names: registered names on a server, and their names in a match."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from gm_arena.bot import Bots
from gm_arena.bridge import Bridge, Server
from gm_arena.uci_bot import UciBots
from gm_client.trio_client import Client
from tests.arena.matches import run
from tests.arena.playing import BOTS, PATIENCE, Witness
from tests.serving import Served

pytestmark = pytest.mark.slow


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let recorders write to a folder, a file for each colour; return the folder."""
    monkeypatch.setenv("RECORDER_SEED", "1")
    monkeypatch.setenv("RECORDER_FILE", str(tmp_path / "{color}.jsonl"))
    return tmp_path


def names_given(record: Path) -> dict[str, tuple[Any, ...]]:
    """Return what each colour received: its opponent's name, and the names in the history."""
    given = {}
    for color in ("white", "black"):
        calls = json.loads((record / f"{color}.jsonl").read_text())
        history = json.loads(calls[-1][3][1])
        given[color] = (calls[0][2][1], history["white_name"], history["black_name"])
    return given


def engine(path: Path, **options: str) -> UciBots:
    return UciBots(f"{sys.executable} {BOTS / 'engine.py'} {path} play", options)


def opponents_set(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if "UCI_Opponent" in line]


async def play_game(port: int, game_id: int, *players: tuple[dict[str, Any], Bots]) -> None:
    """Let different players play a game."""
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            for hello, bots in players:
                bridge = Bridge(Server(port=port, hello=hello), bots, Witness(), at_once=1)
                nursery.start_soon(bridge.run, lambda bridge: bridge.play_one(game_id))


async def registered(port: int, name: str) -> dict[str, Any]:
    """Register a player; return its fields of ``hello``."""
    async with Client(port=port) as client:
        reply = await client.register(name)
        return {"player": reply["player"], "key": reply["key"]}


async def test_opponent_that_joins_later_is_named_to_an_engine_unless_its_user_does(
    tmp_path: Path, daemon_process: Served
) -> None:
    port = daemon_process.port
    dan, eve = await registered(port, "names-dan"), await registered(port, "names-eve")
    async with Client(port=port, **dan) as client:
        game_id = (await client.new_game(dan["player"], None, brief=True, max_moves=1))["game_id"]
    given = engine(tmp_path / "eve", uci_opponent="GM 2800 human Magnus")
    await play_game(port, game_id, (dan, engine(tmp_path / "dan")), (eve, given))
    assert opponents_set(tmp_path / "dan") == ["setoption name UCI_Opponent value none none computer names-eve"]
    assert opponents_set(tmp_path / "eve") == ["setoption name UCI_Opponent value GM 2800 human Magnus"]


def test_match_names_its_bots_to_each_other(record: Path) -> None:
    bots = [f"{name}=reconchess:{BOTS / 'recorder.py'}" for name in ("new bot", "old bot")]
    status, _, complaints = run(*bots, "--variant", "rbc", "--games", 1, "--max-moves", 3)
    assert status == 0, complaints
    names = ("new bot", "old bot")
    assert names_given(record) == {"white": ("old bot", *names), "black": ("new bot", *names)}
