"""gmcat on the operator's socket."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.clients.running import GMCAT, NEW_GAME, PATIENCE, PING, complaint, replies
from tests.serving import served


def on_socket(path: Path | str, *requests: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [*GMCAT, "--socket", str(path), *requests]
    return subprocess.run(command, capture_output=True, timeout=PATIENCE, cwd=cwd)


def test_operator_ends_a_game_by_directory_or_socket_path(tmp_path: Path) -> None:
    end = '{"kind":"end_game","game_id":1,"termination":"resignation_black"}'
    with served("--data", str(tmp_path), "--max-connections", "1"):
        for run in (
            on_socket(tmp_path, NEW_GAME),
            on_socket(tmp_path / "operator.sock", PING, PING),
            on_socket("operator.sock", PING, cwd=tmp_path),
            on_socket(".", PING, cwd=tmp_path),
            on_socket(tmp_path, end),
        ):
            assert (run.returncode, run.stderr) == (0, b"")
    assert replies(run)[0]["state"]["termination"] == "resignation_black"


def test_path_may_be_longer_than_a_socket_address(tmp_path: Path) -> None:
    data = tmp_path / ("d" * 200)
    with served("--data", str(data)):
        assert on_socket(data, PING).returncode == 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none", "No such file or directory"),
        ("none/operator.sock", "No such file or directory"),
        ("a file", "Connection refused"),
        ("x" * 120, "AF_UNIX path too long"),
    ],
    ids=["nothing", "no directory", "no socket", "a long name"],
)
def test_missing_socket_exits_with_2(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    said = complaint(on_socket(tmp_path / name, PING))
    assert said == f"cannot reach {tmp_path / name}: {reason} (is gmd serve running, and as this user?)"


def test_directory_without_a_socket_exits_with_2(tmp_path: Path) -> None:
    said = complaint(on_socket(tmp_path, PING))
    assert said.startswith(f"cannot reach {tmp_path}/operator.sock: No such file or directory ")
