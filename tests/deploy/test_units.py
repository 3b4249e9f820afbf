"""``deploy/gmd.service`` and ``deploy/gmd.socket`` pass systemd's checks, and the daemon runs within their limits."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from gmd.config import Config
from tests.clients.running import NEW_GAME, gmcat, replies
from tests.serving import served
from tests.tools import require_tool

DEPLOY = Path(__file__).parents[2] / "deploy"

#: Highest exposure that systemd-analyze may report, of 10; ours is 1.2 (without hardening it would be 9.2).
THRESHOLD = 15  # in tenths

#: System calls that only root's daemon makes: SQLite gives its files to the directory's owner.
OF_ROOT = {"fchown"}


def directives(unit: str) -> dict[str, list[str]]:
    """Return the settings of a unit file, each with all its values."""
    found: dict[str, list[str]] = {}
    for line in (DEPLOY / unit).read_text("utf-8").splitlines():
        if re.match(r"[A-Za-z]+=", line):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """Return both units, set up as on a machine that has gmd where they expect it."""
    for name in ("gmd.service", "gmd.socket"):
        shutil.copy(DEPLOY / name, tmp_path)
    service = tmp_path / "gmd.service"
    gmd = shutil.which("true")
    service.write_text(service.read_text("utf-8").replace("/opt/gmd/bin/gmd", str(gmd)), "utf-8")
    return [service, tmp_path / "gmd.socket"]


@pytest.mark.slow
def test_systemd_accepts_both_units(units: list[Path]) -> None:
    analyze = require_tool("systemd-analyze", "--version")
    run = subprocess.run([analyze, "verify", "--man=no", *units], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.slow
def test_systemd_rates_the_exposure_of_the_service_low(units: list[Path]) -> None:
    analyze = require_tool("systemd-analyze", "--version")
    command = [analyze, "security", "--offline=true", f"--threshold={THRESHOLD}", "--no-pager", units[0]]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def test_service_starts_an_existing_command_with_existing_settings() -> None:
    service = directives("gmd.service")
    assert service["ExecStart"] == ["/opt/gmd/bin/gmd serve"]
    named = re.findall(r"\bGMD_([A-Z_]+)", (DEPLOY / "gmd.service").read_text("utf-8"))
    assert {name.lower() for name in named} <= set(Config.__struct_fields__)
    assert f"GMD_DATA=/var/lib/{service['StateDirectory'][0]}" in service["Environment"]


def test_limits_of_the_service_cover_those_of_the_daemon() -> None:
    service = directives("gmd.service")
    # plus lingering connections, and files
    assert int(service["LimitNOFILE"][0]) > Config().max_connections + 1_024 + 100
    assert float(service["TimeoutStopSec"][0]) > 2 * Config().stop_timeout


def allowed_calls(filters: list[str]) -> set[str]:
    """Return the system calls that the values of ``SystemCallFilter`` allow."""
    analyze = require_tool("systemd-analyze", "--version")
    listing = subprocess.run([analyze, "syscall-filter", "--no-pager"], capture_output=True, text=True, check=True)
    groups: dict[str, list[str]] = {}
    for line in re.sub(r"\x1b\[[0-9;]*m", "", listing.stdout).splitlines():
        word = line.strip()
        if line.startswith("@"):
            groups[word] = []
        elif word and not word.startswith("#"):
            groups[list(groups)[-1]].append(word)

    def calls(name: str) -> set[str]:
        return set().union(*map(calls, groups[name])) if name in groups else {name}

    allowed: set[str] = set()
    for value in filters:
        named = set().union(*map(calls, value.removeprefix("~").split()))
        allowed = allowed - named if value.startswith("~") else allowed | named
    return allowed


@pytest.mark.slow
def test_daemon_makes_no_system_call_that_the_service_forbids(tmp_path: Path) -> None:
    strace = require_tool("strace", "-o", "/dev/null", "true")
    trace, data = tmp_path / "trace", tmp_path / "data"
    prefix = [str(strace), "-f", "-qq", "-o", str(trace)]
    with served("--data", str(data), prefix=prefix) as daemon:
        (game,) = replies(gmcat(daemon, NEW_GAME))
        assert game["error"] is None
        assert gmcat(daemon, '{"kind":"ping"}', "--socket", str(data)).returncode == 0
        # the child of strace, since strace itself ignores the signal
        os.kill(int((data / "lock").read_text("utf-8")), signal.SIGTERM)
        assert daemon.process.wait(30) == 0
    made = set(re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed>)", trace.read_text("utf-8"), re.MULTILINE))
    assert {"accept4", "flock", "bind", "listen"} <= made
    allowed = allowed_calls(directives("gmd.service")["SystemCallFilter"])
    assert made - allowed - (OF_ROOT if os.geteuid() == 0 else set()) == set()
