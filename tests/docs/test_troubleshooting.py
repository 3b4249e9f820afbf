"""The sentences that the page on troubleshooting lists are those that commands print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import MANUAL, ROOT
from tests.serving import environment, reserved_port, served

PAGE = (MANUAL / "how-to/troubleshooting.md").read_text("utf-8")
BIN = Path(sys.executable).parent

#: Sentences, and a command that prints each, with its exit status.
PRINTED = {
    "cannot listen on …: Address already in use": ("gmd serve --port {port} --data :memory:", 1),
    "data: … is in use by another gmd: process …": ("gmd serve --port 0 --data {data}", 1),
    "no daemon runs in …": ("gmd register ann --data {elsewhere}", 2),
    "Connection refused": ('gmcat --port {free} \'{{"kind": "ping"}}\'', 2),
    "this is not a gm server: its reply begins with b'HTTP'": ('gmcat --port {http} \'{{"kind": "ping"}}\'', 2),
    "TLS with … failed: WRONG_VERSION_NUMBER": ('gmcat --tls --port {port} \'{{"kind": "ping"}}\'', 2),
    "needs its key or its password": ("gmd connect random --player random --server :{port}", 1),
    "the key does not belong to …": ('gmcat --port {port} --player random --key no \'{{"kind": "ping"}}\'', 1),
    "does not start: …": ("gmd connect reconchess:nowhere.py --player 1 --server :{port}", 1),
    "nor a player to challenge: …": ("gmd connect random --player 1 --opponent nobody --server :{port}", 1),
}
#: Sentences that other tests have printed.
ELSEWHERE = {
    "data: … was written by a newer gmd": "event_log/test_opening.py",
    "data: … cannot be read as a log of games": "event_log/test_opening.py",
    "commits are missing": "event_log/test_lost_files.py",
    "… of … from this address are open": "tcp/test_session_slots.py",
    "gm_env compiles its kernels": "env/test_cache.py",
    "games repeat …; give --openings": "arena/test_verdict.py",
}


def test_page_lists_these_sentences() -> None:
    tables = PAGE.partition("## When a bot crashes")[0]
    listed = re.findall(r"^\| `([^`]*[^`/\d][^`]*)` \|", tables, re.MULTILINE)
    assert set(listed) == PRINTED.keys() | ELSEWHERE.keys()
    for sentence, test in ELSEWHERE.items():
        text = (ROOT / "tests" / test).read_text("utf-8")
        assert max(sentence.split("…"), key=len).strip(" ;:") in text, sentence


@pytest.mark.slow
def test_commands_print_these_sentences(tmp_path: Path) -> None:
    data = tmp_path / "data"
    arguments = ("--data", str(data), "--bots", "random", "--http", "--http-port", "0")
    with served(*arguments) as daemon, reserved_port() as free:
        names = {"port": daemon.port, "http": daemon.http.rpartition(":")[2], "free": free}
        for sentence, (command, status) in PRINTED.items():
            words = shlex.split(command.format(data=data, elsewhere=tmp_path / "elsewhere", **names))
            env = environment({"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"})
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=env, cwd=tmp_path, check=False)
            pattern = ".*".join(map(re.escape, sentence.split("…")))
            assert re.search(pattern, done.stdout + done.stderr, re.DOTALL), (sentence, done)
            assert done.returncode == status, (sentence, done)
