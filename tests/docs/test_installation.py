"""Every ``pip install`` that a document shows works in a new environment, as a reader would run it in the clone."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import MANUAL, ROOT

PAGES = [
    ROOT / "README.md",
    *MANUAL.glob("**/*.md"),
    *ROOT.glob("clients/*/*.md"),
    *ROOT.glob("deploy/*"),
    *ROOT.glob("gmd/http/pages/templates/*.html"),
]
#: Of a line, or of inline code: what follows "pip install", up to a comment or the end of the code.
_COMMAND = re.compile(r"(?P<pip>\S*\bpip) install (?P<words>-e \.(?=[\s`<])|[^`#&\n]*[^`#&\s.;:])")
#: The rows of the table of ``clients/python/README.md``, whose head says "pip install".
_ROW = re.compile(r"^\| `('?path/to/gmd[^`]+)` \|", re.MULTILINE)
#: What brings gigabytes.
LARGE = re.compile(r"\btrain\b")
#: The release, which ``tests/deploy/test_release.py`` builds and installs; and a setting of the build before ``pip``.
ELSEWHERE = {"--find-links dist grandmasterd"}


def commands() -> dict[str, str]:
    """Return the arguments of every ``pip install``, each with a page that has it."""
    found = {}
    for page in PAGES:
        if page.is_file():
            text = page.read_text("utf-8")
            for words in [*(match["words"] for match in _COMMAND.finditer(text)), *_ROW.findall(text)]:
                found[words.strip()] = str(page.relative_to(ROOT))
    return {words: page for words, page in found.items() if words not in ELSEWHERE}


def test_pages_install_from_the_clone_alone() -> None:
    """Nothing is published under our name, which pip would look for."""
    assert {"-e '.[env]'", "-e '.[postgres]'", "-e '.[train,reconchess]'", "path/to/gmd"} <= commands().keys()
    assert [words for words in commands() if "grandmasterd" in words] == []


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a virtual environment; return its Python."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder / "bin" / "python"


@pytest.mark.nightly
@pytest.mark.parametrize("words", sorted(commands()))
def test_every_installation_of_the_pages_works(words: str, environment: Path) -> None:
    large = ["--dry-run"] if LARGE.search(words) else []
    arguments = shlex.split(words.replace("path/to/gmd", str(ROOT)))
    run = subprocess.run(
        [environment, "-m", "pip", "install", "--quiet", *large, *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
