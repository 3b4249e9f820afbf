"""``gmd connect`` as its users run it: a process, its output, its exit status, and Ctrl-C."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import pytest

from gm_client import Client, connect
from gmd.background import background_daemon
from gmd.config import Config
from tests.arena.playing import BOTS, PATIENCE, TIME, untimed
from tests.cli.commands import gmd
from tests.serving import Served, environment, reserved_port, served
from tests.tls import Certificates

ME, OTHER = 75_001, 76_001

RANDOM = "reconchess:reconchess.bots.random_bot"
#: A CodinGame bot that plays at random as soon as it is asked.
AT_RANDOM = "codingame:bash -c 'echo fen; while read; do echo random; done'"


class Connected:
    """A running ``gmd connect``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []

    def line(self, pattern: str) -> re.Match[str]:
        """Return the next line that it prints, which must match."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        timed = self.process.stdout.readline().rstrip("\n")
        line = TIME.sub("", timed, count=1)
        assert line != timed, (timed, self.process.stderr.read() if self.process.poll() is not None else "")
        self.said.append(line)
        match = re.fullmatch(pattern, line)
        assert match, (line, pattern, self.process.stderr.read() if self.process.poll() is not None else "")
        return match

    def end(self) -> tuple[int, str, str]:
        """Return its exit status, its output not yet read, and its standard error."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        out, err = self.process.stdout.read(), self.process.stderr.read()
        return self.process.wait(), untimed(out), untimed(err)


#: What it says at the first Ctrl-C.
FINISHING = "finishing the game in hand, however long it takes; Ctrl-C again leaves at once\n"


def command(port: int, bot: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", "gmd", "connect", bot, "--server", f"localhost:{port}", *map(str, arguments)]


@contextmanager
def connecting(
    port: int, bot: str, *arguments: object, player: object = ME, env: Mapping[str, str] | None = None
) -> Iterator[Connected]:
    pipe = subprocess.PIPE
    arguments = ("--player", player, *arguments)
    # It gets its own process group, as from a terminal: the tests see which processes a signal to the group reaches.
    with subprocess.Popen(
        command(port, bot, *arguments), env=environment(env), stdout=pipe, stderr=pipe, text=True, process_group=0
    ) as process:
        patience = Timer(PATIENCE, process.kill)
        patience.start()
        try:
            yield Connected(process)
        finally:
            patience.cancel()
            process.kill()
            process.communicate()


def run(port: int, bot: str, *arguments: object, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run it to its end."""
    done = gmd("connect", bot, "--server", f"localhost:{port}", *arguments, env=env)
    return done.status, untimed(done.out), untimed(done.err)


@pytest.fixture
def client(daemon_process: Served) -> Iterator[Client]:
    with connect(port=daemon_process.port) as made:
        yield made


@pytest.mark.slow
def test_bridge_prints_what_it_plays_and_how_that_ends(daemon_process: Served, client: Client) -> None:
    game_id = client.new_game(ME, OTHER, variant="rbc", max_turns=1)["game_id"]
    with connecting(daemon_process.port, RANDOM, "--game", game_id) as bot:
        bot.line(
            rf"RandomBot plays on localhost:{daemon_process.port} as player {ME}; Ctrl-C finishes its games and leaves"
        )
        bot.line(rf"game {game_id}: white against player {OTHER}, rbc")
        for turn in client.turns(game_id, player=OTHER):
            turn.sense(None)
            turn.move(None)
        bot.line(rf"game {game_id}: drawn as white, 1/2-1/2 turn limit, 2 plies, \d+\.\d s")
        assert bot.end() == (0, "won 0, lost 0, drawn 1\n", "")


@pytest.mark.slow
def test_bridge_plays_all_games_of_its_player_several_at_once(daemon_process: Served, client: Client) -> None:
    """These include games that it is invited to; it declines those of them that it cannot play."""
    port = daemon_process.port
    me = client.register("connect-all")
    chess = client.new_game(OTHER, me["player"])["game_id"]
    others = [client.new_game(OTHER, me["player"], variant="rbc", max_turns=2)["game_id"] for _ in range(3)]
    with connecting(port, RANDOM, "--games", 3, player="connect-all", env={"GM_KEY": str(me["key"])}) as bot:
        bot.line("RandomBot plays .* as player connect-all; .*")
        begun = [bot.line(r"game (\d+).*") for _ in range(4)]
        assert sorted(match.string for match in begun) == sorted(
            [f"game {game_id}: black against player {OTHER}, rbc" for game_id in others]
            + [f"game {chess} is standard, and RandomBot plays rbc: declined"]
        )
        assert client.state(chess)["state"]["termination"] == "declined"
        for game_id in reversed(others):
            for turn in client.turns(game_id, player=OTHER):
                turn.sense(None)
                turn.move(None)
        status, out, err = bot.end()
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == "won 0, lost 0, drawn 3"


@pytest.mark.slow
def test_ctrl_c_finishes_the_games_in_progress_and_starts_no_new_one(daemon_process: Served, client: Client) -> None:
    first = client.new_game(ME + 1, OTHER, variant="standard", max_moves=1)["game_id"]
    with connecting(daemon_process.port, AT_RANDOM, player=ME + 1) as bot:
        bot.line(".* plays .*")
        bot.line(rf"game {first}: white against .*")
        client.wait(first, player=OTHER)
        os.killpg(bot.process.pid, signal.SIGINT)
        assert bot.process.stderr is not None
        assert untimed(bot.process.stderr.readline()) == FINISHING
        second = client.new_game(ME + 1, OTHER, variant="standard")["game_id"]
        client.move(first, "e5", player=OTHER, seat="black")
        status, out, err = bot.end()
    assert (status, err) == (0, "")
    assert out.splitlines()[0].startswith(f"game {first}: drawn as white, 1/2-1/2 move limit, 2 plies")
    assert client.state(second)["state"]["ply_index"] == 0


@pytest.mark.slow
def test_second_ctrl_c_stops_at_once(daemon_process: Served, client: Client, tmp_path: Path) -> None:
    """Neither the bot nor its child processes remain."""
    thinks = tmp_path / "thinks"
    os.mkfifo(thinks)
    bot_command = f"codingame:bash -c 'echo fen; read a; read a; read a; sleep 1000 & echo $$ $! >{thinks}; wait'"
    game_id = client.new_game(ME + 2, OTHER)["game_id"]
    with connecting(daemon_process.port, bot_command, player=ME + 2) as bot:
        bot.line(".* plays .*")
        bot.line(rf"game {game_id}: white .*")
        processes = [int(word) for word in thinks.read_text().split()]
        assert all(is_alive(process) for process in processes)
        os.killpg(bot.process.pid, signal.SIGINT)
        assert bot.process.stderr is not None
        assert untimed(bot.process.stderr.readline()).startswith("finishing the game in hand")
        os.killpg(bot.process.pid, signal.SIGINT)
        status, out, err = bot.end()
    assert (status, out, err) == (130, "", "")
    assert all(has_ended(process) for process in processes)
    assert client.state(game_id)["state"]["phase"] == "move", "the game is left as it is"


def is_alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def has_ended(process: int) -> bool:
    """Return whether a process that was killed has ended, which the system may take a moment for."""
    try:
        waited = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([waited], [], [], PATIENCE)[0])
    finally:
        os.close(waited)


@pytest.mark.slow
def test_unjoined_game_is_withdrawn_on_sigterm(daemon_process: Served, client: Client) -> None:
    with connecting(daemon_process.port, AT_RANDOM, "--opponent", "anyone", player=ME + 3) as bot:
        bot.line(".* plays .*")
        game_id = int(bot.line(r"game (\d+): white against whoever joins, chess960")[1])
        bot.process.send_signal(signal.SIGTERM)
        status, out, _ = bot.end()
    assert status == 0
    assert client.state(game_id)["state"]["termination"] == "withdrawn"
    assert out.splitlines()[0].startswith(f"game {game_id}: called off as white, * withdrawn, 0 plies")
    assert out.splitlines()[1] == "won 0, lost 0, drawn 0, called off 1"


def test_new_games_have_the_given_options_and_alternating_colours(daemon_process: Served, client: Client) -> None:
    who = ["--player", ME + 5, "--opponent", ME + 5]
    wanted = ["--games", 2, "--variant", "chess960", "--clock", "60+1.5", "--max-moves", 1]
    status, out, err = run(daemon_process.port, AT_RANDOM, *who, *wanted)
    assert (status, err) == (0, "")
    games = [int(number) for number in re.findall(r"game (\d+): white against", out)]
    assert len(games) == 2
    for game_id in games:
        options = client.join(game_id, player=ME + 5, seat="white")["options"]
        assert options["max_moves"] == 1
        assert options["clock"] == {"initial": 60.0, "increment": 1.5}
    opponent = OTHER + 5
    for given, colors in ((["--color", "white"], ["white", "white"]), ([], ["black", "white"])):
        thread = Thread(target=resign, args=(daemon_process.port, 2), kwargs={"player": opponent})
        thread.start()
        _, out, _ = run(daemon_process.port, AT_RANDOM, *who[:2], "--opponent", opponent, "--games", 2, *given)
        thread.join()
        assert sorted(re.findall(r"game \d+: (white|black) against", out)) == colors


@pytest.mark.slow
def test_registered_player_is_challenged_by_name(daemon_process: Served, client: Client) -> None:
    ann, ben = (client.register(name) for name in ("connect-ann", "connect-ben"))
    arguments = ("--opponent", "connect-ben", "--color", "black")
    with connect(port=daemon_process.port, player=ben["player"], key=ben["key"]) as here:
        here.invitations()
        with connecting(
            daemon_process.port, AT_RANDOM, *arguments, player="connect-ann", env={"GM_KEY": ann["key"]}
        ) as bot:
            bot.line(".* plays .*")
            words = "black against connect-ben, chess960; it begins when the invitation is accepted"
            game_id = int(bot.line(rf"game (\d+): {words}")[1])
            here.accept(game_id)
            here.end_game(game_id, "resignation_white")
            bot.line(rf"game {game_id}: won as black, 0-1 resignation, 0 plies, .*")
            assert bot.end() == (0, "won 1, lost 0, drawn 0\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("registered", [False, True], ids=["open player", "registered player"])
def test_bot_plays_the_servers_bot_by_its_name(registered: bool) -> None:
    with served("--bots", "random") as daemon, connect(port=daemon.port) as client:
        who: list[object] = ["--player", ME]
        if registered:
            who = ["--player", "ann", "--key", client.register("ann")["key"]]
        options = ("--variant", "rbc", "--max-moves", 2, "--color", "black")
        done = gmd("connect", RANDOM, "--port", daemon.port, *who, "--opponent", "random", *options)
        assert (done.status, done.err) == (0, "")
        assert "black against random, rbc" in done.out
        assert "drawn as black, 1/2-1/2 turn limit" in done.out
        done = gmd("connect", RANDOM, "--server", f":{daemon.port}", *who, "--opponent", "rando")
        assert done.status == 1
        assert "--opponent: 'rando' is no bot of the server (random), nor a player to challenge: " in done.err


def resign(port: int, games: int, **who: Any) -> None:
    """Resign in a player's first turn in so many games."""
    with connect(port=port, **who) as client:
        for turn in itertools.islice(client.turns(), games):
            turn.resign()


@pytest.mark.slow
def test_bot_failure_sets_the_exit_status_and_logs_its_traceback(daemon_process: Served) -> None:
    bot = f"reconchess:{BOTS / 'troubled.py'}"
    who = ["--player", ME + 7, "--opponent", ME + 7]
    status, out, err = run(daemon_process.port, bot, *who, env={"TROUBLE": "move raise"})
    assert status == 1
    assert re.search(r"resignation, \d plies, \d+\.\d s; the bot failed\n", out)
    assert out.splitlines()[-1] == "won 1, lost 1, drawn 0; failed 1"
    assert "Traceback (most recent call last):" in err
    assert "ZeroDivisionError: trouble in move" in err


WRONG = {
    ("fritz:x",): "'fritz:x' is not a bot: write reconchess:FILE, uci:COMMAND, codingame:COMMAND",
    ("minmax",): "random, recon-zero, RandomBot, AttackerBot, TroutBot; did you mean minimax?",
    ("codingame[depth=3]:x",): "codingame[...]: only UCI engines have settings in brackets",
    ("uci[Hash]:x",): "uci[Hash]:x: 'Hash' is not NAME=VALUE",
    ("uci:x", "--game", "1", "--opponent", "2"): "--game plays an existing game, and --opponent makes a new one",
    ("uci:x", "--variant", "rbc"): "--variant applies to a new game: give --opponent as well",
    ("uci:x", "--clock", "fast", "--opponent", "2"): "'fast' is no clock: write 300, 180+2, 1/0.05",
    ("uci:x", "--ca", "x.pem"): "--ca goes with --tls",
    ("uci:x", "--key", "@/no/such/file"): "--key: /no/such/file: No such file or directory",
    ("uci:x", "--key", "@/dev/null"): "--key: /dev/null: the file is empty; it should hold the key",
    ("uci:x", "--port", "0"): "0 is not in the range 1<=x<=65535",
    ("uci:x", "--server", "host,host:port"): "'host:port' is not HOST:PORT, with a port from 1 to 65535",
    ("codingame:cat", "--ranked"): "--ranked: ranked games are rbc, and codingame:cat plays chess960",
    (RANDOM, "--ranked", "--opponent", "anyone"): "--ranked",
    (RANDOM, "--new-version"): "--ranked",
}


@pytest.mark.slow
def test_bot_goes_on_at_the_server_that_takes_over(tmp_path: Path) -> None:
    """The daemon is killed during the game, and another one serves the same game on another port."""
    data = ("--data", str(tmp_path / "data"))
    with reserved_port() as one, reserved_port() as two, served(*data, "--port", str(one)) as daemon:
        arguments = ("--server", f"127.0.0.1:{one},localhost:{two}", "--opponent", OTHER, "--color", "white")
        with (
            connecting(one, RANDOM, *arguments) as bot,
            connect(f"127.0.0.1:{one},localhost:{two}", player=OTHER) as client,
        ):
            bot.line(rf"RandomBot plays on 127\.0\.0\.1:{one},localhost:{two} as player {ME}; .*")
            game_id = int(bot.line(rf"game (\d+): white against player {OTHER}, rbc")[1])
            turns = client.turns(game_id)
            turn = next(turns)
            daemon.process.kill()
            daemon.process.wait()
            with served(*data, "--port", str(two)):
                turn.sense(None)
                turn.move(None)
                next(turns).resign()
                bot.line(rf"game {game_id}: won as white, 1-0 resignation, .*")
                assert bot.end() == (0, "won 1, lost 0, drawn 0\n", "")


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_arguments_are_reported(arguments: tuple[str, ...]) -> None:
    bot, *others = arguments
    ran = gmd("connect", bot, "--player", 1, *others)
    assert (ran.status, ran.out) == (2, "")
    assert WRONG[arguments] in " ".join(ran.err.split())


def test_unavailable_game_sets_the_exit_status(daemon_process: Served, client: Client) -> None:
    """Ask for a game that is kept for another player."""
    other = client.register("connect-other")["player"]
    game_id = client.new_game(None, other)["game_id"]
    client.join(game_id, player=OTHER)
    status, out, err = run(daemon_process.port, AT_RANDOM, "--player", ME, "--game", game_id)
    assert (status, out.count("\n")) == (1, 1)
    assert err == f"Error: player {ME} has no seat in game {game_id}, and none is open\n"


def test_failed_start_is_reported_with_its_reason(daemon_process: Served) -> None:
    port = daemon_process.port
    me = ("--player", ME)
    for arguments, reason in {
        (port, "uci:./no-such", *me): "uci:./no-such does not start: './no-such' cannot be started: No",
        (1, AT_RANDOM, *me): "cannot connect to localhost:1: ",
        (port, AT_RANDOM, "--player", "nobody of this name", "--key", "x"): "name: ",
        (port, AT_RANDOM, *me, "--game", 999_999): "game_id: there is no game 999999",
        (
            port,
            AT_RANDOM,
            *me,
            "--opponent",
            "me",
        ): "--opponent: 'me' is no bot of the server (it has none), nor a player to challenge: player: ",
    }.items():
        status, out, err = run(*arguments)
        assert status == 1
        assert err.startswith(f"Error: {reason}")
        assert "game " not in out
        assert (out == "") is not ("--game" in arguments or "--opponent" in arguments)
        assert ("\nStart a daemon with `gmd serve`, or name another one with --server" in err) is (arguments[0] == 1)


@pytest.mark.slow
def test_missing_file_or_module_of_a_bot_is_named(daemon_process: Served) -> None:
    for bot, reason in {
        "b/mine.py": "there is no file b/mine.py",
        "reconchess.bots.randm_bot": "there is no module reconchess.bots.randm_bot",
    }.items():
        status, _, err = run(daemon_process.port, f"reconchess:{bot}", "--player", ME)
        assert (status, err) == (1, f"Error: reconchess:{bot} does not start: {reason}\n")


@pytest.mark.slow
def test_only_a_bot_that_imports_reconchess_needs_it(
    daemon_process: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "reconchess.py").write_text("raise ModuleNotFoundError('it is hidden', name='reconchess')")
    (tmp_path / "theirs.py").write_text("import reconchess")
    (tmp_path / "ours.py").write_text(
        "from gm_recon import Player\n"
        "class Ours(Player):\n"
        "    def choose_sense(self, *_):\n"
        "        return None\n"
        "    def choose_move(self, *_):\n"
        "        return None\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", ""))))
    arguments = ("--player", ME, "--opponent", ME, "--max-moves", 1)
    status, out, err = run(daemon_process.port, f"reconchess:{tmp_path / 'ours.py'}", *arguments)
    assert (status, "turn limit" in out) == (0, True), err
    status, _, err = run(daemon_process.port, f"reconchess:{tmp_path / 'theirs.py'}", *arguments)
    assert status == 1
    assert "it needs the package reconchess: run .venv/bin/pip install -e '.[reconchess]' in the clone of gmd" in err


def test_bridge_plays_over_tls(certificates: Certificates, tmp_path: Path) -> None:
    with background_daemon(
        Config(port=0, data=":memory:", tls_cert=certificates.cert, tls_key=certificates.key)
    ) as tls:
        arguments = ["--player", 1, "--opponent", 1, "--max-moves", 2, "--tls"]
        status, out, _ = run(tls.port, AT_RANDOM, *arguments, "--ca", certificates.ca)
        assert (status, "move limit" in out) == (0, True)
        status, out, err = run(tls.port, AT_RANDOM, *arguments)
        assert status == 1
        assert "certificate verify failed" in err


@pytest.mark.slow
def test_killed_bridge_leaves_no_bot_behind(daemon_process: Served, client: Client) -> None:
    """Nor the bot's child processes, although the bot computes on and does not see that its connection has ended."""
    client.new_game(ME + 8, OTHER, variant="rbc")
    endless = f"reconchess:{BOTS / 'endless.py'}"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        env = {"ALIVE": str(server.getsockname()[1])}
        with connecting(daemon_process.port, endless, player=ME + 8, env=env) as bot:
            alive, _ = server.accept()
            with alive:
                alive.settimeout(PATIENCE)
                assert alive.recv(1) == b"!"
                bot.process.kill()
                assert alive.recv(1) == b"", "the last who holds it has ended"


@pytest.mark.slow
def test_two_bots_play_ranked_games_and_none_once_they_have_left(daemon_process: Served) -> None:
    with connect(daemon_process.host, daemon_process.port) as client:
        keys = {name: client.register(name) for name in ("one", "other")}
        with contextlib.ExitStack() as stack:
            bots = [
                stack.enter_context(
                    connecting(
                        daemon_process.port, RANDOM, "--key", reply["key"], "--ranked", "--concurrency", 1, player=name
                    )
                )
                for name, reply in keys.items()
            ]
            while not re.match(r"game \d+: (won|lost|drawn) ", bots[0].line(".*").string):
                pass
            for bot in bots:
                bot.process.send_signal(signal.SIGINT)
            for bot in bots:
                status, _, err = bot.end()  # it plays its game first
                assert status == 0, err
        for reply in keys.values():
            settings = client.settings(player=reply["player"], key=reply["key"])
            assert (settings["ranked"], settings["version"], settings["max_games"]) == (False, 1, 1)
        rows = client.leaderboard()["leaderboard"]
        assert {(row["name"], row["version"]) for row in rows} == {("one", 1), ("other", 1)}
