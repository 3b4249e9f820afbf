"""The examples in the bots' README and in their page of the reference run, and the page has every option."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gm_bots.expectation.settings import OPTIONS as OF_EXPECTATION
from gm_bots.minimax.settings import KNOWN as OF_MINIMAX
from gm_bots.recon_zero.settings import NUMBERS as OF_RECON_ZERO
from tests.arena.playing import untimed
from tests.clients.other_languages import ROOT, examples_of
from tests.serving import served

README = ROOT / "clients" / "bots" / "README.md"
PAGE = ROOT / "docs" / "reference" / "bots.md"
PATIENCE = 120
#: Options of recon-zero that are no numbers.
OTHERS = ("checkpoint", "weights", "opponents")


def run(command: list[str]) -> list[str]:
    """Return what a command prints; it must succeed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_commands_of_the_bots_readme_run() -> None:
    with served() as daemon:  # its own: a bot plays all games of its player, and other tests have players 1 and 2
        (block,) = (block.replace("7100", str(daemon.port)) for block in examples_of(README, "sh"))
        *games, uci = run(["bash", "-euc", block])
    assert {"won 2, lost 0, drawn 0", "won 1, lost 0, drawn 0"} <= {untimed(line) for line in games}
    assert uci == "readyok"


def test_program_of_the_reference_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = examples_of(PAGE, "python")
    exec(compile(program, "bots.md", "exec"), {})
    first, line = capsys.readouterr().out.splitlines()
    assert first.split()[:3] == ["Qxf7#", "1", "99999"]
    assert line == "1. Qxf7#"


@pytest.mark.parametrize(
    ("bot", "options"),
    [("minimax", OF_MINIMAX), ("recon-zero", OTHERS + OF_RECON_ZERO), ("expectation", OF_EXPECTATION)],
)
def test_reference_lists_the_options(bot: str, options: tuple[str, ...]) -> None:
    (table,) = re.findall(rf"^\| {bot} \|.*\n((?:\|.*\n)+)", PAGE.read_text("utf-8"), re.MULTILINE)
    named = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == {*options}
