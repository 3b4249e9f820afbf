"""The pictures of the encodings are those that the library draws now, and their page shows and describes each."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference/encodings.md").read_text("utf-8")
PICTURES = sorted(path.name for path in (DOCS / "pictures").glob("encoding-*.svg"))


def test_pictures_are_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DOCS / "_extensions/encoding_pictures.py", tmp_path], check=True, timeout=300)
    assert sorted(path.name for path in tmp_path.iterdir()) == PICTURES
    for name in PICTURES:
        drawn, kept = (folder / name for folder in (tmp_path, DOCS / "pictures"))
        assert drawn.read_bytes() == kept.read_bytes(), f"run python docs/_extensions/encoding_pictures.py for {name}"


def test_page_shows_each_picture_with_a_text() -> None:
    shown = re.findall(r"!\[(.+)\]\(\.\./pictures/(encoding-.*)\)", PAGE)
    assert sorted(name for _, name in shown) == PICTURES
    assert len({text for text, _ in shown}) == len(PICTURES)
