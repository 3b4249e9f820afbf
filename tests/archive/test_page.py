"""The page ``docs/reference/files.md`` describes everything that an archive file contains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from msgspec.inspect import StructType, type_info

from gmd.games.events import AnyEvent

PAGE = (Path(__file__).parents[2] / "docs/reference/files.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE))


@pytest.mark.parametrize("event", get_args(AnyEvent), ids=lambda event: event.__name__)
def test_every_event_is_described_with_its_fields(event: type) -> None:
    info = type_info(event)
    assert isinstance(info, StructType)
    described = ROWS[str(info.tag)]
    assert [field.name for field in info.fields if f"`{field.name}`" not in described] == []
