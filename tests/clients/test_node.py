"""The client for Node: its own tests, its package, its types, TLS, its README."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import gmd
from tests.clients.other_languages import NODE, examples_of
from tests.clients.running import PATIENCE
from tests.serving import Served
from tests.tools import require_tool

pytestmark = pytest.mark.slow

PACKAGE = json.loads((NODE / "package.json").read_text("utf-8"))


def run(*command: str | Path, cwd: Path = NODE, env: dict[str, str] | None = None) -> str:
    """Run a program, which must succeed without writing to standard error, and return its output."""
    merged = {**os.environ, "NO_COLOR": "1", **(env or {})}
    done = subprocess.run(command, cwd=cwd, env=merged, capture_output=True, text=True, timeout=4 * PATIENCE)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def test_own_tests_of_the_client_pass() -> None:
    report = run(require_tool("node"), "--test", "--test-reporter=tap", *sorted((NODE / "test").glob("*.test.js")))
    counts = {name: int(count) for name, count in re.findall(r"^# (pass|fail|skipped|todo) (\d+)$", report, re.M)}
    assert counts["pass"] > 50
    assert counts["fail"] == counts["skipped"] == counts["todo"] == 0


# The package.


def test_client_has_no_dependencies() -> None:
    assert not [name for name in PACKAGE if "ependencies" in name]
    sources = [path.read_text("utf-8") for path in [NODE / "index.js", *(NODE / "lib").glob("*.js")]]
    imported = {name for source in sources for name in re.findall(r'^(?:import|export) .* from "(.*)";$', source, re.M)}
    assert {name for name in imported if not name.startswith(("./", "../"))} == {"node:crypto", "node:net", "node:tls"}
    assert f'"gm-client/{PACKAGE["version"]}"' in (NODE / "lib" / "client.js").read_text("utf-8")


def test_packed_client_plays_where_nothing_else_of_the_clone_is(daemon_process: Served, tmp_path: Path) -> None:
    npm, cache = require_tool("npm"), f"--cache={tmp_path / 'cache'}"
    (packed,) = json.loads(run(npm, "pack", "--json", "--offline", cache, f"--pack-destination={tmp_path}"))
    sources = {f"lib/{path.name}" for path in (NODE / "lib").iterdir()}
    others = {"package.json", "README.md", "index.js", "examples/random_bot.js", "index.d.ts", "protocol.d.ts"}
    assert {file["path"] for file in packed["files"]} == sources | others
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    archive = tmp_path / packed["filename"]
    run(npm, "install", "--silent", "--offline", "--no-audit", "--no-fund", cache, archive, cwd=tmp_path)
    assert not (tmp_path / "node_modules" / "gm-client").is_symlink()
    playing, *_ = examples_of(NODE / "README.md", "js")
    (tmp_path / "bot.js").write_text(playing.replace("7100", str(daemon_process.port)))
    assert re.match(r"(1-0|0-1|1/2-1/2) ", run(require_tool("node"), "bot.js", cwd=tmp_path))


# The types.

TYPED = """
import { Client, ConnectionLost, GmError, Turn, connect } from "gm-client";

const client: Client = await connect({ port: 7100, player: 4503599627370497n, key: "k", tls: { ca: "..." } });
const { game_id, options } = await client.new_game({ player_white: 1, player_black: null, variant: "rbc" });
for await (const turn of client.turns({ game_id, over: (state) => console.log(state.result) })) {
  if (turn.sense_actions) {
    const { sense_result } = await turn.sense(turn.sense_actions[0] ?? null);
    for (const [square, piece] of sense_result) square.concat(piece ?? "");
  }
  const { taken_move } = await turn.move(null);
  taken_move?.slice(2);
}
const { key }: { key: string | null } = await client.register({ name: "bot", password: "a long secret" });
const other: Client = new Client({ name: "bot", password: "a long secret" });
const renewed: string | null = (await other.rekey()).key;
const seat: "white" | "black" = (await client.join({ game_id, seat: "white" })).seat;
const revoked: boolean[] = (await client.players({ limit: 3 })).players.map((row) => row.revoked);
const { name } = await client.revoke({ name: "bot" });
const piece: string | null | undefined = (await client.state({ game_id })).state.board?.[0]?.[0];
const ply: number = (await client.move({ game_id, move: "e4", ply: 0 })).state.ply_index;
try {
  await client.end_game({ game_id, termination: "draw_agreed" });
} catch (error) {
  if (error instanceof GmError) error.code.length;
  if (error instanceof ConnectionLost) error.sent;
}
// @ts-expect-error A misspelt kind.
client.movee({ game_id });
// @ts-expect-error A field is missing.
client.move({ game_id });
// @ts-expect-error A field is misspelt.
client.new_game({ player_white: 1, player_black: 2, varaint: "rbc" });
// @ts-expect-error Nobody ends a game like that.
client.end_game({ game_id, termination: "victory_white" });
// @ts-expect-error Turns are given, not made.
new Turn();
// @ts-expect-error A name is missing.
client.register({ password: "a long secret" });
export { key, name, options, piece, ply, renewed, revoked, seat };
"""


def test_types_are_correct(tmp_path: Path) -> None:
    compiler = require_tool("tsc")
    (tmp_path / "typed.mts").write_text(TYPED)
    install(tmp_path)
    strict = ["--strict", "--noEmit", "--target", "es2022", "--module", "node16", "--moduleResolution", "node16"]
    declared = ["--lib", "es2022,dom", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]
    assert run(compiler, *strict, *declared, "typed.mts", cwd=tmp_path) == ""


def names_in(text: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, text, re.MULTILINE))


def test_declarations_match_the_exports() -> None:
    declarations = (NODE / "index.d.ts").read_text("utf-8")
    messages = (NODE / "protocol.d.ts").read_text("utf-8")
    requests = re.search(r"^export interface Requests {$.*?^}$", messages, re.MULTILINE | re.DOTALL)
    client = re.search(r"^export class Client {$.*?^}$", declarations, re.MULTILINE | re.DOTALL)
    turn = re.search(r"^export class Turn {$.*?^}$", declarations, re.MULTILINE | re.DOTALL)
    assert requests is not None
    assert client is not None
    assert turn is not None
    script = """
        const all = await import("./index.js");
        const own = (type) => Object.getOwnPropertyNames(type.prototype).filter((name) => name !== "constructor");
        const client = Object.keys(new all.Client());
        const turn = Object.keys(new all.Turn({}, { state: {} }));
        const { Client, Turn } = all;
        console.log(JSON.stringify([Object.keys(all), [...own(Client), ...client], [...own(Turn), ...turn]]));
    """
    exported, of_client, of_turn = json.loads(run(require_tool("node"), "--input-type=module", "--eval", script))
    assert set(exported) == names_in(declarations, r"^export (?:class|function|const) (\w+)")
    member = r"^  (?:readonly )?(?!constructor|private)(\w+)[(:]"
    assert set(of_client) == names_in(client[0], member) | names_in(requests[0], member)
    assert set(of_turn) == names_in(turn[0], member)


# All games of a player in one loop.

ALL_GAMES = """
import { connect } from "./index.js";

const [port, count] = process.argv.slice(1).map(Number);
const players = [701, 702];
const clients = await Promise.all(players.map((player) => connect({ port, player })));
for (let i = 0; i < count; i++) {
  await clients[0].new_game({ player_white: players[i % 2], player_black: players[1 - (i % 2)], max_moves: 15 });
}

async function playAll(client) {
  const ended = [];
  const over = (state) => {
    if (ended.push(state.ply_index) === count) client.close();
  };
  try {
    for await (const turn of client.turns({ brief: true, over })) await turn.move(turn.move_actions[0]);
  } catch (error) {
    if (error.message !== "the client was closed") throw error;
  }
  return ended;
}

console.log(JSON.stringify(await Promise.all(clients.map(playAll))));
"""


def test_one_loop_plays_all_games_of_a_player(daemon_process: Served) -> None:
    command = [require_tool("node"), "--input-type=module", "--eval", ALL_GAMES, str(daemon_process.port), "6"]
    assert json.loads(run(*command)) == [[30] * 6, [30] * 6]


# The operator's socket.

OPERATOR = """
import { connect } from "./index.js";

const operator = await connect({ path: process.argv[1] });
const first = await operator.register({ name: "bot" });
const second = await operator.rekey({ name: "bot" });
const { name } = await operator.revoke({ player: first.player });
const { players, before } = await operator.players({ limit: 1 });
console.log(JSON.stringify([first.key !== second.key, name, players.map(({ revoked }) => revoked), before]));
operator.close();
"""


def test_operator_manages_players_with_the_client(tmp_path: Path) -> None:
    with gmd.background_daemon(gmd.Config(port=0, data=str(tmp_path))):
        command = [require_tool("node"), "--input-type=module", "--eval", OPERATOR, tmp_path / "operator.sock"]
        assert json.loads(run(*command)) == [True, "bot", [True], None]


# TLS is tested with the bots; this is the error for a server without TLS.


def test_tls_to_a_server_without_tls_fails_at_once(daemon_process: Served) -> None:
    bot = [require_tool("node"), "examples/random_bot.js", "--tls", "--port", str(daemon_process.port)]
    done = subprocess.run([*bot, "--player", "1", "--opponent", "2"], cwd=NODE, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"random_bot: cannot connect to 127.0.0.1:{daemon_process.port}: " in done.stderr


# The README.


def install(folder: Path) -> None:
    """Make the client importable by its name from a folder."""
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / PACKAGE["name"]).symlink_to(NODE)


def test_readme_program_runs(daemon_process: Served, tmp_path: Path) -> None:
    install(tmp_path)
    (source,) = examples_of(NODE / "README.md", "js")
    (tmp_path / "bot.mjs").write_text(source.replace("7100", str(daemon_process.port)))
    printed = run(require_tool("node"), "bot.mjs", cwd=tmp_path)
    assert re.fullmatch(r"(1-0|0-1|1/2-1/2) [a-z_]+ 1\..*\n", printed)
