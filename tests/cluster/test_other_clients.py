"""Clients that do not follow ``home`` play their games at a daemon that does not own them."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import trio

from tests.clients.other_languages import ROOT, compile_c
from tests.cluster.members import PATIENCE
from tests.cluster.test_daemons import Daemons
from tests.tools import require_tool


@pytest.fixture
def daemons(database_url: str, tmp_path: Path) -> Iterator[Daemons]:
    with ExitStack() as stack:
        yield Daemons(database_url, tmp_path, stack)


async def test_bots_in_c_and_shell_ignore_home(daemons: Daemons, tmp_path: Path) -> None:
    for tool in ("gcc", "bash", "jq"):
        require_tool(tool)
    in_c = compile_c(tmp_path / "random_bot", ROOT / "clients/c/examples/random_bot.c")
    one, two = daemons.start(), daemons.start()
    await daemons.until(one, two)
    async with one.client() as at_one, two.client() as at_two:
        made = await at_two.ask("new_game", player_white=1, player_black=2, variant="rbc", max_turns=6)
        game_id = made["state"]["game_id"]
        seen = await at_one.ask("state", game_id=game_id, player=1)
        assert seen["home"] == f"127.0.0.1:{two.port}"

        async def play(bot: Path, player: int) -> None:
            command = [bot, "--port", str(one.port), "--player", str(player), "--game", str(game_id)]
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            done = await trio.run_process(
                command, env={**os.environ, "PATH": path}, capture_stdout=True, capture_stderr=True
            )
            assert (done.returncode, done.stderr) == (0, b"")
            assert re.search(rb"^(1-0|0-1|1/2-1/2) [a-z_]+$", done.stdout, re.MULTILINE), done.stdout

        with trio.fail_after(4 * PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(play, in_c, 1)
                nursery.start_soon(play, ROOT / "clients/shell/rbc_bot.sh", 2)
        assert (await at_two.ask("state", game_id=game_id))["state"]["phase"] == "over"
    for daemon in (one, two):
        assert daemon.stop(signal.SIGTERM) == 0
