"""The declarations of what the scripts of the pages import; ``make lint`` checks the scripts' own types."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gmd.http.pages
from tests.tools import require_board

PAGES = Path(gmd.http.pages.__file__).parent
TYPES = PAGES / "types"
#: Those of packages; the others declare what the server sends.
DECLARATIONS = sorted(path.relative_to(TYPES) for path in TYPES.glob("*/**/*.d.ts"))


@pytest.mark.parametrize("declared", DECLARATIONS, ids=str)
def test_declarations_name_what_is_there(declared: Path) -> None:
    script = require_board().parent / declared.with_suffix("").with_suffix(".js")
    declarations, source = (TYPES / declared).read_text("utf-8"), script.read_text("utf-8")
    exported = re.findall(r"^export (?:class|const) (\w+)", declarations, re.MULTILINE)
    methods = re.findall(r"^  (?!constructor)(\w+)(?:<\w+>)?\(", declarations, re.MULTILINE)
    assert exported
    for name in exported:
        assert re.search(rf"^export (?:class |const |{{\s*){name}\b", source, re.MULTILINE), name
    for name in methods:
        assert re.search(rf"^    (?:async )?{name}\(", source, re.MULTILINE), name
