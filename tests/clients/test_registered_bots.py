"""The random bots for C and Node as registered players: open seats and invitations, restarts, revocation."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import trio

from tests.clients.other_languages import ROOT, Bot, Bots, client_of, playing, random_bots
from tests.helpers import Client
from tests.serving import Served, reserved_port, served
from tests.tools import require_tool

#: Seconds after which a game of these tests counts as hanging.
PATIENCE = 60

LANGUAGES = ["c", "node"]


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Bots:
    """Return how to start each bot."""
    return random_bots(tmp_path_factory.mktemp("bots"))


class Registered(NamedTuple):
    """A player with its name, id and key."""

    name: str
    player: int
    key: str

    @property
    def hello(self) -> dict[str, int | str]:
        return {"player": self.player, "key": self.key}

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "GM_KEY": self.key}


async def register(port: int, name: str) -> Registered:
    async with client_of(port) as client:
        reply = await client.ask("register", name=name)
    return Registered(name, reply["player"], reply["key"])


@pytest.mark.parametrize("seat", ["open", "kept"])
@pytest.mark.parametrize(("white", "black"), [("c", "node"), ("node", "c")])
async def test_registered_bots_meet_where_registration_is_required(
    bots: Bots, white: str, black: str, seat: str, tmp_path: Path
) -> None:
    """One bot has its name and a key from a variable; the other has its id and a key from a file."""
    with served("--require-registration") as daemon, trio.fail_after(PATIENCE):
        port = ["--port", str(daemon.port)]
        one, other = await register(daemon.port, "one"), await register(daemon.port, "other")
        (tmp_path / "key").write_text(other.key + "\n")
        opponent = "open" if seat == "open" else str(other.player)
        makes = [*bots(white), *port, "--player", one.name, "--opponent", opponent, "--variant", "rbc"]
        async with playing(*makes, env=one.environment) as first:
            game_id = await first.game_id()
            joins = [*bots(black), *port, "--player", str(other.player), "--key", f"@{tmp_path / 'key'}"]
            async with playing(*joins, "--game", str(game_id)) as second, trio.open_nursery() as nursery:
                nursery.start_soon(first.end)
                nursery.start_soon(second.end)
        assert first.output == second.output
        async with client_of(daemon.port) as client:
            (game,) = (await client.ask("games"))["games"]
        assert (game["player_white"], game["player_black"]) == (one.player, other.player)
        assert first.output == f"game {game_id}\n{game['result']} {game['termination']}\n"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_bot_authenticates_again_after_a_restart(bots: Bots, language: str, tmp_path: Path) -> None:
    """The daemon is killed once and stopped once; meanwhile the bot waits for its turn."""
    settings = ["--data", str(tmp_path / "data"), "--require-registration"]
    with trio.fail_after(PATIENCE):
        with reserved_port() as port, served(*settings, "--port", str(port)) as daemon:
            one, other = await register(port, "one"), await register(port, "other")
            options = ["--port", str(port), "--player", "one", "--opponent", "open", "--variant", "standard"]
            async with playing(*bots(language), *options, env=one.environment) as bot:
                game_id = await bot.game_id()
                async with client_of(port, **other.hello) as client:
                    assert (await client.ask("join", game_id=game_id))["seat"] == "black"
                await answer(port, other, game_id, first_ply=1)
                daemon.process.kill()
                daemon.process.wait()
                await go_on(settings, port, other, game_id, bot)


async def go_on(settings: list[str], port: int, other: Registered, game_id: int, bot: Bot) -> None:
    with served(*settings, "--port", str(port)) as daemon:
        await answer(port, other, game_id, first_ply=3)
        assert daemon.stop(signal.SIGTERM) == 0
    with served(*settings, "--port", str(port)):
        await answer(port, other, game_id, first_ply=5)
        async with client_of(port, **other.hello) as client:
            await client.ask("end_game", game_id=game_id, termination="resignation_black")
        await bot.end()
        assert bot.output == f"game {game_id}\n1-0 resignation_black\n"


async def answer(port: int, player: Registered, game_id: int, first_ply: int) -> None:
    """Make Black's move at a ply, once it is Black's turn."""
    async with client_of(port, **player.hello) as client:
        reply = await client.ask("wait", game_id=game_id, actions=True, brief=True)
        assert reply["state"]["ply_index"] == first_ply
        assert (await client.ask("move", game_id=game_id, move=reply["move_actions"][0], ply=first_ply))[
            "error"
        ] is None


@pytest.mark.parametrize("language", LANGUAGES)
async def test_revoked_bot_ends_with_the_reason(bots: Bots, language: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with served("--data", str(data)) as daemon, trio.fail_after(PATIENCE):
        one = await register(daemon.port, "one")
        options = ["--port", str(daemon.port), "--player", "one", "--opponent", "open"]
        async with playing(*bots(language), *options, env=one.environment) as bot:
            await bot.game_id()
            await trio.run_process([sys.executable, "-m", "gmd", "revoke", "one", "--data", str(data)])
            with pytest.raises(AssertionError, match=f"{one.player} is a registered player's id"):
                await bot.end()


def refusal(bots: Bots, daemon: Served, language: str, *options: str, key: str | None = None) -> str:
    """Return the error of a bot that ends with status 1."""
    command = [*bots(language), "--port", str(daemon.port), *options]
    env = {name: value for name, value in os.environ.items() if name != "GM_KEY"}
    done = subprocess.run(
        command, env={**env, **({"GM_KEY": key} if key else {})}, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
async def test_refused_bot_names_the_reason(bots: Bots, language: str, daemon_process: Served) -> None:
    daemon = daemon_process
    one = await register(daemon.port, f"barred-{language}")
    by_name = ["--player", one.name, "--opponent", "open"]
    assert "needs its key or its password" in refusal(bots, daemon, language, *by_name)
    for key in ("wrong", f"{one.key}x"):
        assert f"the key does not belong to '{one.name}'" in refusal(bots, daemon, language, *by_name, key=key)
    by_id = ["--player", str(one.player), "--opponent", "open", "--key", "wrong"]
    assert f"the key does not belong to player {one.player}" in refusal(bots, daemon, language, *by_id, key=one.key)
    nowhere = ["--player", one.name, "--opponent", "open", "--key", "@nowhere"]
    assert "nowhere" in refusal(bots, daemon, language, *nowhere)
    async with client_of(daemon.port) as client:
        game_id = (await client.ask("new_game", player_white=1, player_black=2))["game_id"]
    joins = ["--player", "3", "--game", str(game_id)]
    assert f"no seat is free for player 3 in game {game_id}" in refusal(bots, daemon, language, *joins)


INVITED = """
import { connect } from "./clients/node/index.js";

const [port, player, wanted] = process.argv.slice(1).map(Number);
const client = await connect({ port, player, key: process.env.GM_KEY });
const seen = new Set();
const invited = ({ player_white }) => player_white === wanted;
const over = ({ game_id, result }) => {
  console.log(JSON.stringify([game_id, result, [...seen]]));
  client.close();
};
try {
  for await (const turn of client.turns({ invited, over, brief: true })) {
    seen.add(turn.game_id);
    await turn.move(turn.move_actions[0]);
    if (seen.size === 1 && turn.state.ply_index === 4) await client.rekey();
  }
} catch (error) {
  if (error.message !== "the client was closed") throw error;
}
"""


async def test_node_loop_accepts_an_invitation_and_continues_after_a_rekey(daemon_process: Served) -> None:
    """The bot accepts only the last of many invitations; a hundred others stay unanswered. It rekeys during the
    game.
    """
    port = daemon_process.port
    one = await register(port, "invited-in-node")
    async with client_of(port) as client:
        unwanted = {"player_white": 401, "player_black": one.player, "brief": True}
        others = [(await client.ask("new_game", **unwanted))["game_id"] for _ in range(102)]
        reply = await client.ask("new_game", player_white=402, player_black=one.player, max_moves=5)
        game_id = reply["game_id"]
        node = [require_tool("node"), "--input-type=module", "--eval", INVITED, str(port), str(one.player), "402"]
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(move_at_once, client, game_id)
                ended = await trio.run_process(node, cwd=ROOT, env=one.environment, capture_stdout=True)
        ends = [(await client.ask("state", game_id=other, brief=True))["state"]["termination"] for other in others]
    assert json.loads(ended.stdout) == [game_id, "1/2-1/2", [game_id]]
    assert ends == ["available_move"] * 100 + ["declined"] * 2
    async with client_of(port) as client:
        assert (await client.ask("hello", **one.hello))["code"] == "unauthorized"


async def move_at_once(client: Client, game_id: int) -> None:
    """Play White's first legal moves to the end of the game."""
    result = "*"
    while result == "*":
        reply = await client.ask("wait", game_id=game_id, player=402, actions=True, brief=True)
        result = reply["state"]["result"]
        if reply["move_actions"]:
            await client.ask("move", game_id=game_id, player=402, move=reply["move_actions"][0], brief=True)


@pytest.mark.parametrize("language", ["python", "python-trio"])
async def test_python_bots_read_their_keys_from_a_variable_or_file(
    bots: Bots, language: str, daemon_process: Served, tmp_path: Path
) -> None:
    one = await register(daemon_process.port, f"key-in-a-file-{language}")
    (tmp_path / "key").write_text(one.key + "\n")
    command = [*bots(language), "--port", str(daemon_process.port), "--player", str(one.player), "--opponent", "2"]
    wrong = {**os.environ, "GM_KEY": "wrong"}
    with trio.fail_after(PATIENCE):
        async with playing(*command, env=one.environment) as bot:
            assert await bot.game_id() > 0
        async with playing(*command, "--key", f"@{tmp_path / 'key'}", env=wrong) as bot:
            assert await bot.game_id() > 0
    assert f"the key does not belong to player {one.player}" in refusal(
        bots, daemon_process, language, *command[-4:], key="wrong"
    )


# The shell bot.


async def test_shell_bot_leaves_a_seat_open(daemon_process: Served) -> None:
    port = daemon_process.port
    one = await register(port, "open-in-shell")
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for tool in ("bash", "jq"):
        require_tool(tool)
    shell = [ROOT / "clients" / "shell" / "rbc_bot.sh", "--port", str(port)]
    options = ["--player", str(one.player), "--opponent", "open"]
    with trio.fail_after(PATIENCE):
        async with playing(*shell, *options, env={**one.environment, **path}) as first:
            game_id = await first.game_id()
            async with client_of(port) as client:
                assert (await client.ask("join", game_id=game_id, player=403))["seat"] == "black"
                resigned = {"termination": "resignation_black", "player": 403}
                assert (await client.ask("end_game", game_id=game_id, **resigned))["error"] is None
            await first.end()
    assert first.output.splitlines()[-1] == "1-0 resignation_black"


def test_shell_bot_requires_a_number_as_player(daemon_process: Served) -> None:
    command = [ROOT / "clients" / "shell" / "rbc_bot.sh", "--port", str(daemon_process.port)]
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    options = ["--player", "my-bot", "--opponent", "2"]
    done = subprocess.run([*command, *options], env={**os.environ, **path}, capture_output=True, text=True)
    expected = "rbc_bot: --player my-bot: with --opponent, give the player's number\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)
