"""The manual is built without a warning: every reference inside it leads somewhere, every page is in the contents."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import MANUAL
from tests.tools import require_module


@pytest.mark.slow
def test_manual_is_built_without_a_warning(tmp_path: Path) -> None:
    for name in ("sphinx", "furo", "myst_parser", "sphinx_click", "sphinx_copybutton"):
        require_module(name)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(tmp_path / "doctrees")]
    done = subprocess.run(
        [*command, str(MANUAL), str(tmp_path / "html")], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    settings = (tmp_path / "html/reference/settings.html").read_text("utf-8")
    assert "max_connections_per_address" in settings
    commands = (tmp_path / "html/reference/commands.html").read_text("utf-8")
    assert len(set(re.findall(r'id="gmd-([a-z]+)"', commands))) >= 20
    assert (tmp_path / "html/search.html").exists()
