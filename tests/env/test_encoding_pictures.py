"""The pictures of the encodings are those that the library draws now, and their page shows and describes each."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gm_env import (
    FROM_TO_PROMOTIONS,
    HEADER_ROWS,
    INFORMATION,
    INFORMATION_HEADER,
    OBSERVATION,
    PASS,
    PRIVILEGED,
    SENSE_PASS,
)

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


def test_numbers_of_the_page_are_those_of_the_library() -> None:
    assert f"{PASS} for a pass (`PASS`)" in PAGE
    assert f"{SENSE_PASS} for a pass (`SENSE_PASS`)" in PAGE
    assert f"`FROM_TO_PROMOTIONS` ({FROM_TO_PROMOTIONS})" in PAGE
    assert f"uint8[n, {len(OBSERVATION)}, 8, 8]" in PAGE
    assert f"int16[n, {HEADER_ROWS} + recall, {len(INFORMATION)}]" in PAGE
    assert len(INFORMATION_HEADER) == 6 + 6 + 3
    assert f"uint8[n, {len(PRIVILEGED)}, 8, 8]" in PAGE
