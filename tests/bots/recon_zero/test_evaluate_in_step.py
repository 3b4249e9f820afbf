"""``gmd evaluate --in-step``, as its users run it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable

import chess
import pytest

pytest.importorskip("numba", reason="needs numba: pip install 'grandmasterd[env]'")
pytest.importorskip("torch", reason="needs PyTorch: pip install 'grandmasterd[train]'")

from gm_bots.recon_zero.measure import in_step
from gm_bots.recon_zero.measure.in_step import Ended, Own, Part, parts_of, row_of
from gm_bots.recon_zero.player import Settings
from tests.arena.matches import PATIENCE
from tests.bots.recon_zero.test_evaluate import PLAIN, rows, run
from tests.serving import environment

pytestmark = pytest.mark.slow

STEP = ("--in-step", 2, "--games", 3)


def test_bot_plays_programs_and_itself_with_each_switch_turned() -> None:
    status, out, err = run(*STEP, *PLAIN, "--ablation", "--against", "AttackerBot", "--against", "random")
    assert status == 0, err
    found = rows(out)
    assert "in step" in out.splitlines()[0]
    assert [*found] == ["AttackerBot", "random", "weights=equal", "unseen=0", "alarm=0", "determinisations=1"]
    assert all(sum(map(int, row[:3])) == 3 for row in found.values())
    said = re.sub(r".* games have ended\n", "", err)  # where it is slow
    assert re.search(r"against AttackerBot: \S+ points in the first 2 of 3 games\n.* in the first 3 of 3 games\n", said)


def test_same_seed_plays_the_same_games_in_any_number_of_processes() -> None:
    against = ("--against", "recon-zero:checkpoint=none,simulations=1,determinisations=1")
    short = ("--in-step", 2, "--games", 4, "--max-moves", 40)
    options = (*short, "--option", "simulations=4", "--option", "checkpoint=none", *against)
    one, two = (run(*options, "--seed", 3, "--concurrency", number)[1] for number in (1, 2))
    assert one == two
    assert "king captured" in one  # not only games that were too long, as with any other seed
    assert "recon-zero:checkpoint=none,simulations=1" in one


@pytest.mark.parametrize(("send", "number"), [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM)])
def test_signal_shows_the_games_played_and_leaves_no_process(
    send: Callable[[int, signal.Signals], None], number: signal.Signals
) -> None:
    """A terminal's Ctrl-C goes to all processes, ``kill`` to one."""
    arguments = (*STEP, *PLAIN, "--games", 10_000, "--against", "AttackerBot")
    process = subprocess.Popen(
        [sys.executable, "-m", "gmd", "evaluate", *map(str, arguments)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    lines = (line for line in process.stderr if not line.endswith(" games have ended\n"))
    assert next(lines).endswith(" points in the first 2 of 10000 games\n")
    send(process.pid, number)
    out, err = process.communicate(timeout=PATIENCE)  # no process has the pipes any more
    assert process.returncode == 130
    assert sum(map(int, rows(out)["AttackerBot"][:3])) >= 2
    assert "Traceback" not in err


@pytest.mark.parametrize("at_once", [1, 2, 3, 7])
def test_colours_alternate_whatever_number_is_played_at_once(at_once: int) -> None:
    own = Own(None, Settings())
    parts = parts_of(Part(own, own, ("seed",), 2, "float32"), 7, at_once)
    assert [color for part in parts for color in part.colors()] == [*chess.COLORS] * 3 + [chess.WHITE]
    assert len({seed for part in parts for seed in part.seeds}) == 7


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--clock", "60"), "--in-step plays without clocks and records: leave out --clock"),
        (("--movetime", 1), "--in-step plays without clocks and records: leave out --movetime"),
        (("--against", "random", "--against", "random"), "--against: 2 opponents are called random: name one"),
        (("--against", "codingame:cat"), "codingame:cat: plays chess960, crazyhouse, standard, and not blind chess"),
    ],
)
def test_what_games_in_step_lack_is_refused(arguments: tuple[object, ...], reason: str) -> None:
    status, _, err = run(*STEP, "--option", "checkpoint=none", *arguments)
    assert status == 2
    assert reason in " ".join(err.split())


def test_row_counts_outcomes_and_gives_intervals() -> None:
    games = [(1.0, "king captured"), (1.0, "resignation"), (0.0, "too long"), (-1.0, "king captured")]
    assert row_of("other", [Ended(*each, bytes([number])) for number, each in enumerate(games)]) == [
        "other", "2", "1", "1", "62.5 %", "21.9 to 90.8", "+89", "-220 to +398",
        "king captured 2, resignation 1, too long 1",
    ]  # fmt: skip


def test_games_that_repeat_others_are_counted() -> None:
    """Both sides decide by one simulation in one position, of which there is one in the first move."""
    own = Own(None, Settings(simulations=1, determinisations=1))
    part = Part(own, own, ("one", "two", "three"), 1, "float32")
    with in_step.pool_of(1) as pool:
        games = pool.executor.submit(in_step.play_part, part).result()
    text = in_step.table_text("it", {"other": games, "one": games[:1]})
    assert text.splitlines()[-1] == "against other: repeated games: 2 of 3; with these the intervals are too narrow"
    assert "against one" not in text
