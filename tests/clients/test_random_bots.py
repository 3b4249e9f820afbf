"""The random bots for C, Node and Python play whole games: against each other, over connections that break, during
restarts of the daemon, and through TLS. With the same seeds, all make the same moves.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from gm_protocol.messages import REQUESTS
from tests.clients.other_languages import Bot, Bots, client_of, playing, random_bots
from tests.clients.running import gmcat
from tests.helpers import Json
from tests.serving import Served, reserved_port, served
from tests.tools import require_tool

#: Seconds after which a game of these tests counts as hanging.
PATIENCE = 120

VARIANTS = ["standard", "crazyhouse", *(["rbc"] if "sense" in REQUESTS else [])]

LANGUAGES = ["c", "node", "python", "python-trio"]


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Bots:
    """Return how to start each bot."""
    return random_bots(tmp_path_factory.mktemp("bots"))


async def newest_game(port: int) -> int:
    """Return the id of the newest game, or 0."""
    async with client_of(port) as client:
        games = (await client.ask("games", limit=1))["games"]
    return games[0]["game_id"] if games else 0


async def history(port: int, game_id: int) -> Json:
    async with client_of(port) as client:
        return await client.ask("history", game_id=game_id)


async def play(
    white: list[str | Path], black: list[str | Path], port: int, variant: str, white_port: int = 0, black_port: int = 0
) -> tuple[Json, list[str]]:
    """Play a new game between two bots; return its history, and each bot's last line.

    :param white_port: where White connects, if not to the daemon itself; likewise for Black.
    """
    with trio.fail_after(PATIENCE):
        newest = await newest_game(port)
        options = ["--seed", "5", "--player", "1", "--opponent", "2", "--variant", variant]
        async with playing(*white, *options, "--port", str(white_port or port)) as first:
            game_id = await first.game_id()
            assert game_id == newest + 1  # so it is not an earlier game
            other = ["--seed", "6", "--player", "2", "--game", str(game_id), "--port", str(black_port or port)]
            async with playing(*black, *other) as second, trio.open_nursery() as nursery:
                nursery.start_soon(first.end)
                nursery.start_soon(second.end)
        return await history(port, game_id), [bot.output.splitlines()[-1] for bot in (first, second)]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
async def test_bots_in_all_languages_play_the_same_game(bots: Bots, variant: str, daemon_process: Served) -> None:
    games = []
    for white, black in [
        ("c", "c"),
        ("node", "python"),
        ("python", "node"),
        ("python-trio", "c"),
        ("c", "python-trio"),
    ]:
        game, said = await play(bots(white), bots(black), daemon_process.port, variant)
        assert said[0] == said[1]
        assert said[0].split()[0] in {"1-0", "0-1", "1/2-1/2"}
        games.append(game["moves"])
    assert len(games[0]) > 10
    assert all(moves == games[0] for moves in games)


@pytest.mark.parametrize("language", ["python", "python-trio"])
def test_bot_writes_each_line_at_once(bots: Bots, language: str, daemon_process: Served) -> None:
    """The lines of two bots must not mix. Python's print() writes several times if PYTHONUNBUFFERED is set, as in
    many containers.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # this socket keeps each write apart
    options = ["--player", "1", "--opponent", "2", "--port", str(daemon_process.port)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with ours, theirs, subprocess.Popen([*bots(language), *options], stdout=theirs, env=environment) as bot:
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


# Connections that break.


class Cutter:
    """Proxy to the daemon whose connections break after a random number of bytes.

    :ivar cuts: how many connections it has cut.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.cuts = 0
        self._connections = 0

    async def serve(self, port: int, client: trio.SocketStream) -> None:
        """Carry one connection until either side ends it, or until it has carried this many bytes in one direction."""
        self._connections += 1
        # The first connections last longer, because a bot that cannot connect at all rightly gives up.
        least = 2000 if self._connections <= 2 else 0
        daemon = await trio.open_tcp_stream("127.0.0.1", port)
        async with client, daemon, trio.open_nursery() as nursery:
            for source, target in ((client, daemon), (daemon, client)):
                budget = least + self._random.randrange(6000)
                nursery.start_soon(self._carry, source, target, budget, nursery.cancel_scope)

    async def _carry(
        self, source: trio.SocketStream, target: trio.SocketStream, budget: int, both: trio.CancelScope
    ) -> None:
        try:
            while budget > 0 and (data := await source.receive_some(min(budget, 1000))):
                await target.send_all(data)
                budget -= len(data)
        except trio.BrokenResourceError:
            pass
        self.cuts += budget <= 0
        both.cancel()


@asynccontextmanager
async def listening(serve: Callable[[trio.SocketStream], Any]) -> AsyncIterator[int]:
    """Yield a port where a function serves each connection."""
    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        yield listener.socket.getsockname()[1]
        nursery.cancel_scope.cancel()


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
async def test_broken_connections_do_not_change_the_game(bots: Bots, language: str, daemon_process: Served) -> None:
    port = daemon_process.port
    undisturbed, ends = await play(bots(language), bots(language), port, "standard")
    cutters = Cutter(1), Cutter(2)
    async with (
        listening(partial(cutters[0].serve, port)) as white_port,
        listening(partial(cutters[1].serve, port)) as black_port,
    ):
        game, said = await play(bots(language), bots(language), port, "standard", white_port, black_port)
    assert (game["moves"], said) == (undisturbed["moves"], ends)
    assert all(cutter.cuts > 10 for cutter in cutters)


# A daemon that restarts.


@pytest.mark.parametrize("language", LANGUAGES)
async def test_bot_continues_after_a_restart_of_the_daemon(bots: Bots, language: str, tmp_path: Path) -> None:
    """The daemon is killed once and stopped once; meanwhile the bot waits for its turn."""
    data = ["--data", str(tmp_path / "data")]
    with reserved_port() as port, served(*data, "--port", str(port)) as daemon:
        options = ["--port", str(port), "--player", "1", "--opponent", "2", "--variant", "standard"]
        with trio.fail_after(PATIENCE):
            async with playing(*bots(language), *options) as bot:
                game_id = await bot.game_id()
                await answer(port, game_id, first_ply=1)
                daemon.process.kill()
                daemon.process.wait()
                await go_on(data, port, game_id, bot)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_bot_goes_on_at_the_server_that_takes_over(bots: Bots, language: str, tmp_path: Path) -> None:
    """The daemon is killed, and another one serves the same games on another port; one more address refuses."""
    data = ["--data", str(tmp_path / "data")]
    with reserved_port() as closed, reserved_port() as one, reserved_port() as two:
        servers = ",".join(f"127.0.0.1:{port}" for port in (closed, one, two))
        options = ["--server", servers, "--player", "1", "--opponent", "2", "--variant", "standard"]
        with served(*data, "--port", str(one)) as daemon, trio.fail_after(PATIENCE):
            async with playing(*bots(language), *options) as bot:
                game_id = await bot.game_id()
                await answer(one, game_id, first_ply=1)
                daemon.process.kill()
                daemon.process.wait()
                await go_on(data, two, game_id, bot)


async def go_on(data: list[str], port: int, game_id: int, bot: Bot) -> None:
    with served(*data, "--port", str(port)) as daemon:
        await answer(port, game_id, first_ply=3)
        assert daemon.stop(signal.SIGTERM) == 0
    with served(*data, "--port", str(port)):
        await answer(port, game_id, first_ply=5)
        async with client_of(port) as client:
            await client.ask("end_game", game_id=game_id, player=2, termination="resignation_black")
        await bot.end()
        assert bot.output == f"game {game_id}\n1-0 resignation_black\n"
        assert len((await history(port, game_id))["moves"]) in {6, 7}


async def answer(port: int, game_id: int, first_ply: int) -> None:
    """Make Black's move at a ply, once it is Black's turn."""
    async with client_of(port) as client:
        reply = await client.ask("wait", game_id=game_id, player=2, actions=True, brief=True)
        assert reply["state"]["ply_index"] == first_ply
        await client.ask("move", game_id=game_id, player=2, move=reply["move_actions"][0], ply=first_ply)


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a self-signed certificate for localhost, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "certificate.pem", folder / "key.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    command = [require_tool("openssl"), "req", *kind, *names, "-out", paths[0], "-keyout", paths[1]]
    subprocess.run(command, capture_output=True, check=True)
    return paths


@asynccontextmanager
async def behind_tls(port: int, certificate: tuple[Path, Path]) -> AsyncIterator[int]:
    """Yield a port that removes TLS and forwards to the daemon."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)

    async def serve(connection: trio.SocketStream) -> None:
        secure = trio.SSLStream(connection, context, server_side=True, https_compatible=True)
        plain = await trio.open_tcp_stream("127.0.0.1", port)
        async with connection, plain, trio.open_nursery() as nursery:
            nursery.start_soon(carry, secure, plain, nursery.cancel_scope)
            nursery.start_soon(carry, plain, secure, nursery.cancel_scope)

    async with listening(serve) as secure_port:
        yield secure_port


async def carry(source: trio.abc.Stream, target: trio.abc.Stream, both: trio.CancelScope) -> None:
    try:
        while data := await source.receive_some():
            await target.send_all(data)
    except trio.BrokenResourceError:
        pass
    both.cancel()


async def test_node_bot_plays_through_tls(bots: Bots, daemon_process: Served, certificate: tuple[Path, Path]) -> None:
    trusting = {**os.environ, "NODE_EXTRA_CA_CERTS": str(certificate[0])}
    async with behind_tls(daemon_process.port, certificate) as port:
        with trio.fail_after(PATIENCE):
            options = ["--host", "localhost", "--port", str(port), "--tls", "--player", "1", "--variant", "standard"]
            async with playing(*bots("node"), *options, "--opponent", "2", env=trusting) as bot:
                await answer(daemon_process.port, game_id := await bot.game_id(), first_ply=1)
                async with client_of(daemon_process.port) as client:
                    await client.ask("end_game", game_id=game_id, player=2, termination="resignation_black")
                await bot.end()
    assert bot.output == f"game {game_id}\n1-0 resignation_black\n"


async def test_untrusted_certificate_is_an_error(
    bots: Bots, daemon_process: Served, certificate: tuple[Path, Path]
) -> None:
    async with behind_tls(daemon_process.port, certificate) as port:
        options = ["--host", "localhost", "--port", str(port), "--tls", "--player", "1", "--opponent", "2"]
        done = await trio.run_process([*bots("node"), *options], capture_stderr=True, check=False)
    assert done.returncode == 1
    assert b"cannot connect to localhost" in done.stderr
    assert b"self-signed certificate" in done.stderr


# Errors in their use.


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("arguments", [[], ["--player", "1"], ["--player", "1", "--game", "1", "--opponent", "2"]])
def test_missing_option_is_named(bots: Bots, language: str, arguments: list[str]) -> None:
    done = subprocess.run([*bots(language), *arguments], capture_output=True, text=True)
    expected = "random_bot: give --player ID, and either --opponent ID or --game ID\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


@pytest.mark.parametrize("language", LANGUAGES)
def test_absent_daemon_is_named(bots: Bots, language: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
    arguments = ["--player", "1", "--opponent", "2", "--port", port]
    done = subprocess.run([*bots(language), *arguments], capture_output=True, text=True)
    assert done.returncode == 1
    assert "refused" in done.stderr.lower()
