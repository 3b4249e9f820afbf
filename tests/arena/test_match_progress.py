"""On a terminal, a bar says while a match is played how it stands."""

from __future__ import annotations

import os
import pty
import re
import subprocess

from tests.arena.matches import AT_RANDOM, PATIENCE, SHORT, command, nuisance
from tests.serving import environment


def test_the_score_moves_on_with_every_game() -> None:
    """One of the two leaves every game: the other has a point more each time. The bar is drawn ten times a second."""
    arguments = command(f"one={AT_RANDOM}", nuisance("die"), *SHORT, "--games", 8)
    shown = on_a_terminal(arguments)
    scores = re.findall(r"one \+(\d) =(\d) -(\d)[^\r\n]*?(\d)/8", shown)
    assert scores[-1] == ("8", "0", "0", "8")
    assert len(set(scores)) > 2
    assert all(won == played and (drawn, lost) == ("0", "0") for won, drawn, lost, played in scores)
    assert "game 1: one - die 1-0, crash" in shown
    assert "0:00:0" in shown, "how long it has taken"


def on_a_terminal(arguments: list[str]) -> str:
    """What a terminal of 120 columns is sent by a command, colours and movements left out."""
    master, slave = pty.openpty()
    wide = {**environment(), "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    process = subprocess.Popen(arguments, stdin=slave, stdout=slave, stderr=slave, env=wide)
    os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 65_536):
            shown += part
    except OSError:  # as Linux tells that nobody holds the other end any more
        pass
    os.close(master)
    assert process.wait(PATIENCE) == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
