"""gmcat as a file: its version, its dependencies, and the modules that it loads."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.clients.running import GMCAT, OK, PATIENCE, PING, address
from tests.clients.scripted import answer_all, serving

ROOT = Path(__file__).parents[2]


def test_gmcat_has_the_version_of_the_project() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    run = subprocess.run([*GMCAT, "--version"], capture_output=True, text=True, timeout=PATIENCE)
    assert (run.returncode, run.stdout) == (0, f"gmcat {version}\n")


def source() -> Path:
    spec = importlib.util.find_spec("gm_client.gmcat")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def test_copy_of_the_file_runs_without_any_installed_package(tmp_path: Path) -> None:
    copy = shutil.copy(source(), tmp_path / "copied.py")
    with serving(answer_all) as server:
        command = [sys.executable, "-I", "-S", str(copy), *address(server)]
        run = subprocess.run(command, input=PING.encode(), capture_output=True, timeout=PATIENCE)
    assert (run.returncode, run.stdout, run.stderr) == (0, OK + b"\n", b"")


def test_gmcat_imports_only_modules_that_load_fast() -> None:
    """gmcat is started once for each request; asyncio alone would double its start time."""
    code = (
        "import sys; before = set(sys.modules); from gm_client.gmcat import main; status = main();"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr); sys.exit(status)"
    )
    with serving(answer_all) as server:
        command = [sys.executable, "-c", code, *address(server), "--pretty", PING]
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0
    loaded = {name.partition(".")[0] for name in run.stderr.split()}
    assert loaded - sys.stdlib_module_names == {"gm_client"}
    assert loaded.isdisjoint({"asyncio", "dataclasses", "http", "inspect", "multiprocessing", "ssl", "typing"})
