"""The random bots for C, Node and Python play whole games: against each other, over connections that break, through
TLS, as registered players, and while one daemon takes over from another. With the same seeds, all make the same moves.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import trio

from tests.chaos import chaos
from tests.clients.other_languages import Bot, Bots, client_of, playing, random_bots
from tests.clients.running import gmcat
from tests.helpers import Json
from tests.serving import Served, reserved_port, served
from tests.tls import Certificates

pytestmark = pytest.mark.slow

#: Seconds after which a game of these tests counts as hanging.
PATIENCE = 300

#: By variant, White's seed of a game that is soon over; Black's is the next number.
SEEDS = {"standard": 77, "crazyhouse": 76, "rbc": 40}
LANGUAGES = ["c", "node", "python", "python-trio"]


@pytest.fixture(scope="module")
def bots(compiled: Path) -> Bots:
    """Return how to start each bot."""
    return random_bots(compiled)


async def history(port: int, game_id: int) -> Json:
    async with client_of(port) as client:
        return await client.ask("history", game_id=game_id)


async def play(
    white: list[str | Path], black: list[str | Path], port: int, variant: str, white_port: int = 0, black_port: int = 0
) -> tuple[list[str], list[str]]:
    """Play a new game between two bots; return its moves, and each bot's last line.

    :param white_port: where White connects, if not to the daemon itself; likewise for Black.
    """
    with trio.fail_after(PATIENCE):
        seed = SEEDS[variant]
        options = ["--seed", str(seed), "--player", "1", "--opponent", "2", "--variant", variant]
        async with playing(*white, *options, "--port", str(white_port or port)) as first:
            game_id = await first.game_id()
            other = [
                "--seed",
                str(seed + 1),
                "--player",
                "2",
                "--game",
                str(game_id),
                "--port",
                str(black_port or port),
            ]
            async with playing(*black, *other) as second, trio.open_nursery() as nursery:
                nursery.start_soon(first.end)
                nursery.start_soon(second.end)
        moves = (await history(port, game_id))["moves"]
        return moves, [bot.output.splitlines()[-1] for bot in (first, second)]


@pytest.mark.parametrize("variant", SEEDS)
async def test_bots_in_all_languages_play_the_same_game(bots: Bots, variant: str, daemon_process: Served) -> None:
    games = []
    for white, black in [("c", "c"), ("node", "python"), ("python", "node"), ("python-trio", "c")]:
        moves, said = await play(bots(white), bots(black), daemon_process.port, variant)
        assert said[0] == said[1]
        assert said[0].split()[0] in {"1-0", "0-1", "1/2-1/2"}
        games.append(moves)
    assert len(games[0]) > 10
    assert all(moves == games[0] for moves in games)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_broken_connections_do_not_change_the_game(bots: Bots, language: str, daemon_process: Served) -> None:
    port = daemon_process.port
    undisturbed = await play(bots(language), bots(language), port, "standard")
    # With these seeds the first connections last until the bots have their game: before, they give up.
    async with chaos(40, port, 2_000) as one, chaos(39, port, 2_000) as two:
        disturbed = await play(bots(language), bots(language), port, "standard", one.port, two.port)
    assert disturbed == undisturbed
    assert min(one.cuts, two.cuts) > 3


def test_bot_writes_each_line_at_once(bots: Bots, daemon_process: Served) -> None:
    """The lines of two bots must not mix. Python's print() writes several times if PYTHONUNBUFFERED is set, as in
    many containers.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # this socket keeps each write apart
    options = ["--player", "1", "--opponent", "2", "--port", str(daemon_process.port)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with ours, theirs, subprocess.Popen([*bots("python"), *options], stdout=theirs, env=environment) as bot:
        try:
            theirs.close()
            began = ours.recv(1000).decode()
            assert re.fullmatch(r"game \d+\n", began)
            resigned = {"kind": "end_game", "game_id": int(began[5:]), "player": 2, "termination": "resignation_black"}
            assert gmcat(daemon_process, json.dumps(resigned)).returncode == 0
            assert [ours.recv(1000), ours.recv(1000)] == [b"1-0 resignation_black\n", b""]
            assert bot.wait(PATIENCE) == 0
        finally:
            bot.kill()


# Registered players.


class Registered(NamedTuple):
    """A player with its name, id and key."""

    name: str
    player: int
    key: str

    @property
    def hello(self) -> dict[str, int | str]:
        return {"player": self.player, "key": self.key}


def named(language: str, player: Registered) -> str:
    """Return how a bot's --player names a player: those in Python take ids only."""
    return str(player.player) if language.startswith("python") else player.name


async def register(port: int, name: str) -> Registered:
    async with client_of(port) as client:
        reply = await client.ask("register", name=name)
    return Registered(name, reply["player"], reply["key"])


@pytest.mark.parametrize("language", ["c", "node", "python"])
async def test_registered_bot_goes_on_at_the_server_that_takes_over(bots: Bots, language: str, tmp_path: Path) -> None:
    """One daemon is killed and another takes over its games on another port; that one is stopped and started again. One
    more address refuses connections.
    """
    data = ["--data", str(tmp_path / "data"), "--require-registration", "--port"]
    with reserved_port() as closed, reserved_port() as one, reserved_port() as two, trio.fail_after(PATIENCE):
        servers = ",".join(f"127.0.0.1:{port}" for port in (closed, one, two))
        with served(*data, str(one)) as daemon:
            ours, other = await register(one, "one"), await register(one, "other")
            (tmp_path / "key").write_text(ours.key + "\n")
            options = ["--server", servers, "--player", named(language, ours), "--key", f"@{tmp_path / 'key'}"]
            options += ["--opponent", str(other.player), "--variant", "standard"]
            async with playing(*bots(language), *options) as bot:
                game_id = await bot.game_id()
                await answer(one, other, game_id, first_ply=1)
                daemon.process.kill()
                daemon.process.wait()
                await go_on([*data, str(two)], two, other, game_id, bot)


async def go_on(settings: list[str], port: int, other: Registered, game_id: int, bot: Bot) -> None:
    with served(*settings) as daemon:
        await answer(port, other, game_id, first_ply=3)
        assert daemon.stop(signal.SIGTERM) == 0
    with served(*settings):
        await answer(port, other, game_id, first_ply=5)
        async with client_of(port, **other.hello) as client:
            await client.ask("end_game", game_id=game_id, termination="resignation_black")
        await bot.end()
        assert bot.output == f"game {game_id}\n1-0 resignation_black\n"
        assert len((await history(port, game_id))["moves"]) in {6, 7}


async def answer(port: int, player: Registered, game_id: int, first_ply: int) -> None:
    """Make Black's move at a ply, once it is Black's turn."""
    async with client_of(port, **player.hello) as client:
        await client.ask("join", game_id=game_id)
        reply = await client.ask("wait", game_id=game_id, actions=True, brief=True)
        assert reply["state"]["ply_index"] == first_ply
        moved = await client.ask("move", game_id=game_id, move=reply["move_actions"][0], ply=first_ply)
        assert moved["error"] is None


# Errors in their use.


def refusal(command: list[str | Path], *options: str, status: int = 1, key: str | None = None) -> str:
    """Return the error of a bot that ends with a status."""
    env = {name: value for name, value in os.environ.items() if name != "GM_KEY"}
    done = subprocess.run(
        [*command, *options],
        env={**env, **({"GM_KEY": key} if key else {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (status, "")
    return done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
async def test_refused_bot_names_the_reason(bots: Bots, language: str, daemon_process: Served) -> None:
    bot, port = bots(language), ["--port", str(daemon_process.port)]
    usage = "random_bot: give --player ID, and either --opponent ID or --game ID\n"
    for arguments in ([], ["--player", "1", "--game", "1", "--opponent", "2"]):
        assert refusal(bot, *arguments, status=2) == usage
    with reserved_port() as closed:
        absent = refusal(bot, "--port", str(closed), "--player", "1", "--opponent", "2")
    assert "refused" in absent.lower()
    one = await register(daemon_process.port, f"barred-{language}")
    by_id = [*port, "--player", str(one.player), "--opponent", "2", "--key", "wrong"]
    assert f"the key does not belong to player {one.player}" in refusal(bot, *by_id, key=one.key)
    if language.startswith("python"):
        return  # it takes no names
    by_name = [*port, "--player", one.name, "--opponent", "open"]
    assert "needs its key or its password" in refusal(bot, *by_name)
    assert f"the key does not belong to '{one.name}'" in refusal(bot, *by_name, key="wrong")
    assert "nowhere" in refusal(bot, *by_name, "--key", "@nowhere")
    async with client_of(daemon_process.port) as client:
        game_id = (await client.ask("new_game", player_white=1, player_black=2))["game_id"]
    joins = [*port, "--player", "3", "--game", str(game_id)]
    assert f"no seat is free for player 3 in game {game_id}" in refusal(bot, *joins)


# Node through TLS.


@pytest.fixture(scope="module")
def secure(certificates: Certificates) -> Iterator[Served]:
    """Yield a daemon with TLS."""
    with served(*certificates.flags) as daemon:
        yield daemon


async def test_node_bot_plays_through_tls(bots: Bots, secure: Served, certificates: Certificates) -> None:
    options = ["--host", "localhost", "--port", str(secure.port), "--tls", "--player", "1", "--opponent", "2"]
    untrusting = await trio.run_process([*bots("node"), *options], capture_stderr=True, check=False)
    assert untrusting.returncode == 1
    assert b"cannot connect to localhost" in untrusting.stderr
    trusting = {**os.environ, "NODE_EXTRA_CA_CERTS": str(certificates.ca)}
    with trio.fail_after(PATIENCE):
        async with playing(*bots("node"), *options, env=trusting) as bot:
            game_id = await bot.game_id()
            end = {"kind": "end_game", "game_id": game_id, "player": 2, "termination": "resignation_black"}
            ended = gmcat(secure, "--tls", "--ca", str(certificates.ca), json.dumps(end))
            assert ended.returncode == 0
            await bot.end()
    assert bot.output == f"game {game_id}\n1-0 resignation_black\n"
