"""The manual is built without a warning: every reference inside it leads somewhere, every page is in the contents."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.docs.pages import MANUAL
from tests.tools import require_module

#: The pages of the reference, and modules all of whose public classes and functions are on them.
REFERENCE = {
    "embedding": ("gmd",),
    "python-client": ("gm_client",),
    "recon": ("gm_recon",),
    "env": ("gm_env",),
    "env-interfaces": ("gm_env.turns", "gm_env.opponents", "gm_env.rbc_v0", "gm_env.openspiel"),
    "env-policies": ("gm_env.policies", "gm_env.player_opponent", "gm_arena.opponent"),
    "arena": (
        "gm_arena.bot",
        "gm_arena.schedule",
        "gm_arena.crosstable",
    ),
}
#: Names that are documented elsewhere: as settings, as the types of the protocol, and as an opponent.
ELSEWHERE = {"gmd.Config", "gm_client.GameState", "gm_env.policies.play_randomly"}


@pytest.mark.slow
def test_manual_is_built_without_a_warning(tmp_path: Path) -> None:
    needed = "furo myst_parser sphinx sphinx_click sphinx_copybutton numba pettingzoo reconchess"
    for name in needed.split():
        require_module(name)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(tmp_path / "doctrees")]
    done = subprocess.run(
        [*command, str(MANUAL), str(tmp_path / "html")], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    settings = (tmp_path / "html/reference/settings.html").read_text("utf-8")
    assert "max_connections_per_address" in settings
    metrics = (tmp_path / "html/reference/metrics.html").read_text("utf-8")
    assert "gmd_requests_total" in metrics
    assert "gmd_process_open_fds" in metrics
    files = (tmp_path / "html/reference/files.html").read_text("utf-8")
    assert "result_header" in files
    commands = (tmp_path / "html/reference/commands.html").read_text("utf-8")
    assert {"serve", "match", "replay", "train"} < set(re.findall(r'id="gmd-([a-z]+)"', commands))
    assert (tmp_path / "html/search.html").exists()
    first = (tmp_path / "html/index.html").read_text("utf-8")
    assert "you want to" in first
    assert first.count("how-to/troubleshooting.html") == 2  # in the side bar, and in the front page's table
    for page, modules in REFERENCE.items():
        text = (tmp_path / f"html/reference/{page}.html").read_text("utf-8")
        names = {f"{module}.{name}" for module in modules for name in documented(module)}
        assert sorted(name for name in names - ELSEWHERE if f'id="{name}"' not in text) == []


def documented(module: str) -> list[str]:
    """Return the public classes and functions of a module."""
    found = import_module(module)
    public = ((name, getattr(found, name)) for name in found.__all__)
    return [name for name, each in public if inspect.isclass(each) or inspect.isfunction(each)]
