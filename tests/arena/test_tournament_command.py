"""``gmd tournament`` as an operator runs it: in its own process, killed half-way; with bots in processes of their own,
too.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
import trio

from gm_arena.tournament.record import Record
from tests.arena.playing import untimed
from tests.arena.tournaments import NAMES, PATIENCE, Hall, all_games, hall, register, seat_all
from tests.cli.commands import gmd, gmd_process
from tests.http.test_rc_connect import rc_connect, rc_register
from tests.serving import environment, served

#: The command, as the entry point runs it.
COMMAND = (sys.executable, "-m", "gmd", "tournament")


@asynccontextmanager
async def tournament(data: Path, *arguments: object) -> AsyncIterator[trio.Process]:
    """Run the command in its own process, which is killed at the end."""
    command = [*COMMAND, *map(str, arguments), "--data", str(data)]
    process = await trio.lowlevel.open_process(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        with trio.fail_after(PATIENCE):
            yield process
    finally:
        process.kill()
        await process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            await stream.aclose()


def records(data: Path) -> list[Path]:
    """Return the tournaments on disk."""
    return list(data.glob("tournaments/*"))


async def finished(data: Path, *arguments: object) -> tuple[int, str, str]:
    """Run the command in a thread of this process; return its exit status and both outputs."""
    with trio.fail_after(PATIENCE):
        ran = await trio.to_thread.run_sync(lambda: gmd("tournament", *arguments, "--data", data))
    return ran.status, ran.out, untimed(ran.err)


async def read_lines(process: trio.Process, count: int) -> list[str]:
    """Read so many lines of its progress."""
    assert process.stderr is not None
    text = b""
    while text.count(b"\n") < count:
        chunk = await process.stderr.receive_some()
        assert chunk, text
        text += chunk
    return untimed(text.decode()).splitlines()


@pytest.mark.slow
async def test_killing_the_command_and_the_daemon_leaves_the_games_the_same(tmp_path: Path) -> None:
    names = NAMES[:4]
    data = tmp_path / "data"
    common = ("--seed", "1", "--concurrency", "1")
    with ExitStack() as first:
        daemon = first.enter_context(served("--data", str(data)))
        async with trio.open_nursery() as nursery:
            house = Hall(daemon.port, data, nursery, await register(daemon.port, names))
            seat_all(house, names)
            await house.gathered(*names)
            async with tournament(data, "spring", *names, *common) as process:
                await read_lines(process, 3)
                process.kill()
                await process.wait()
            async with tournament(data, "spring", "--resume", "--concurrency", "1") as process:
                await read_lines(process, 2)
                first.close()  # by SIGKILL
                with served("--data", str(data), "--port", str(daemon.port)):
                    await read_lines(process, 2)
                    process.kill()
                    await process.wait()
                    status, out, _ = await finished(data, "spring", "--resume", "--csv-out", tmp_path / "spring.csv")
                    played = await all_games(house)
            nursery.cancel_scope.cancel()
    assert status == 0
    meetings = Counter(frozenset(pair) for pair in played)
    assert (len(meetings), set(meetings.values())) == (6, {1})
    assert (tmp_path / "spring.csv").read_text() == (
        "#,Player,Points,Games,1,2,3,4,S-B,Direct,Wins\n"
        "1,ada,3,3,×,1,1,1,3,0,3\n"
        "2,bea,2,3,0,×,1,1,1,0,2\n"
        "3,cleo,1,3,0,0,×,1,0,0,1\n"
        "4,dora,0,3,0,0,0,×,0,0,0\n"
    )
    assert re.search("│ 1 │ ada +│ +3 │ +3 │ +× │ +1 │ +1 │ +1 │", out)
    with Record.open(data / "tournaments" / "spring.jsonl") as record:
        assert sorted(record.made.values()) == [1, 2, 3, 4, 5, 6]


async def test_tournament_prints_its_progress_and_writes_its_files(tmp_path: Path) -> None:
    async with hall(tmp_path, "ada", "bea") as house:
        seat_all(house, ("ada", "bea"))
        await house.gathered("ada", "bea")
        status, out, err = await finished(
            tmp_path, "spring", "--games", "2", "--concurrency", "1", "--pgn-out", tmp_path / "spring.pgn"
        )
        assert status == 0, err
        assert err.splitlines() == [
            "round 1: 1 game",
            "round 2: 1 game",
            "1.1 ada - bea: game 1",
            "1.1 ada - bea: 1-0 resignation (1 of 2)",
            "2.1 bea - ada: game 2",
            "2.1 bea - ada: 0-1 resignation (2 of 2)",
        ]
        assert [line.rstrip() for line in out.splitlines()] == [
            "spring",
            "┏━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━┳━━━━┳━━━━┳━━━━━┳━━━━━━━━┳━━━━━━┓",
            "┃ # ┃ Player ┃ Points ┃ Games ┃  1 ┃  2 ┃ S-B ┃ Direct ┃ Wins ┃",
            "┡━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━╇━━━━╇━━━━╇━━━━━╇━━━━━━━━╇━━━━━━┩",
            "│ 1 │ ada    │      2 │     2 │  × │ 11 │   0 │      0 │    2 │",
            "│ 2 │ bea    │      0 │     2 │ 00 │  × │   0 │      0 │    0 │",
            "└───┴────────┴────────┴───────┴────┴────┴─────┴────────┴──────┘",
        ]
        pgn = (tmp_path / "spring.pgn").read_text()
        assert [re.findall(rf'\[{tag} "(.*)"\]', pgn) for tag in ("Event", "Round", "White", "TimeControl")] == [
            ["spring", "spring"],
            ["1.1", "2.1"],
            ["ada", "bea"],
            ["180+2", "180+2"],
        ]
        again = await finished(tmp_path, "spring", "--resume", "--csv-out", tmp_path / "spring.csv")
        assert again == (0, out, "")
        assert (tmp_path / "spring.csv").read_text().count("\n") == 3
        by_file = await finished(tmp_path, tmp_path / "tournaments" / "spring.jsonl", "--resume")
        assert by_file == (0, out, "")


@pytest.mark.slow
async def test_interrupted_tournament_prints_how_to_resume(tmp_path: Path) -> None:
    options = ("--csv-out", str(tmp_path / "spring.csv"))
    async with hall(tmp_path, "ada", "bea"), tournament(tmp_path, "spring", "ada", "bea", *options) as process:
        assert await read_lines(process, 2) == ["round 1: 1 game", "waiting for ada, bea, for 600 s (--absence)"]
        process.send_signal(2)
        assert await process.wait() == 130
        assert process.stderr is not None
        path = tmp_path / "tournaments" / "spring.jsonl"
        words = f"left. Continue with: gmd tournament {path} --resume --data {tmp_path} {' '.join(options)}\n"
        assert (await process.stderr.receive_some()).decode() == words


async def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    two = ("spring", "ada", "bea")
    async with hall(tmp_path, "ada", "bea", bots="random"):  # which is online, and takes part only if it is named
        for arguments, words in {
            ("spring", "ada", "nobody"): "PLAYER: no player is registered as 'nobody'; gmd players lists all",
            ("spring", "ada", "Ada"): "PLAYER: 'ada' is named twice",
            ("spring", "ada"): "PLAYER: a tournament needs two players, and only 'ada' is named",
            ("spring",): "PLAYER: 0 players are online, and a tournament needs two; gmd players --here lists them",
            ("a b", "ada", "bea"): "NAME: 'a b' is not 1 to 64 letters, digits, dots, hyphens and underscores",
            ("spring", "--resume"): "does not exist: leave out --resume to begin a tournament",
            ("spring", "ada", "--resume"): "PLAYER describes a new tournament",
            ("spring", "--games", "2", "--resume"): "--games describes a new tournament",
            (*two, "--ranked"): "--ranked goes with --variant rbc",
            (*two, "--clock", "soon"): "'soon' is no clock: write 300, 180+2",
        }.items():
            status, _, err = await finished(tmp_path, *arguments)
            assert (status, words in err) == (2, True), (arguments, err)
    assert records(tmp_path) == []


def test_missing_daemon_is_reported(tmp_path: Path) -> None:
    ran = gmd("tournament", "spring", "--data", tmp_path)
    assert (ran.status, "is gmd serve running?" in ran.err) == (1, True), ran.err
    ran = gmd("tournament", "spring", "--data", tmp_path / "nowhere")
    assert (ran.status, "there is no directory" in ran.err) == (2, True), ran.err


async def test_refusal_by_the_daemon_leaves_no_tournament_behind(tmp_path: Path) -> None:
    async with hall(tmp_path, "ada", "bea") as house:
        seat_all(house, ("ada", "bea"))
        await house.gathered("ada", "bea")
        status, _, err = await finished(tmp_path, "spring", "--clock", "99999999")
    assert status == 1
    assert err.splitlines()[-1].startswith("Error: the daemon refuses: clock.initial: 99999999.0 is not"), err
    assert records(tmp_path) == []


@pytest.mark.slow
def test_bot_of_reconchess_s_client_plays_a_bot_on_tcp(tmp_path: Path) -> None:
    with served("--data", str(tmp_path), "--http", "--http-port", "0") as daemon:
        url = daemon.http
        rc_register(url, "on-http")
        key = gmd_process("register", "on-tcp", "--data", tmp_path).out.strip()
        connect = [sys.executable, "-m", "gmd", "connect", "--server", f"127.0.0.1:{daemon.port}"]
        command = [*connect, "reconchess:reconchess.bots.random_bot", "--player", "on-tcp", "--key", key]
        with rc_connect(url, "on-http"), subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL) as bot:
            try:
                wanted = ("--variant", "rbc", "--max-moves", "6", "--data", tmp_path)
                ran = gmd_process("tournament", "mixed", "on-http", "on-tcp", *wanted)
            finally:
                bot.kill()
    assert ran.status == 0, ran.err
    with Record.open(tmp_path / "tournaments" / "mixed.jsonl") as record:
        (outcome,) = record.outcomes.values()
    assert outcome.result in ("1-0", "0-1", "1/2-1/2")
    assert "resignation" not in outcome.reason
