"""Python files that documents name are in the tree."""

from __future__ import annotations

import re

from tests.docs.pages import MANUAL, ROOT

#: Files that readers write, and a placeholder.
EXAMPLES = {"first_bot.py", "gmd/handlers/KIND.py"}

#: A file's name, or the end of its path; a test of it may follow.
_NAME = re.compile(r"`([\w./-]*\w\.py)(?:::\w+)?`")


def test_python_files_that_documents_name_exist() -> None:
    folders = ("bench", "clients", "deploy", "docs", "gmd", "protocol", "tests")
    paths = [f"/{path.relative_to(ROOT)}" for folder in folders for path in (ROOT / folder).rglob("*.py")]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *MANUAL.rglob("*.md")]
    named = {(str(page.relative_to(ROOT)), name) for page in pages for name in _NAME.findall(page.read_text("utf-8"))}
    assert len(named) > 60
    missing = {each for each in named if not any(path.endswith(f"/{each[1]}") for path in paths)}
    assert {each for each in missing if each[1] not in EXAMPLES} == set()
    assert {name for _, name in missing} == EXAMPLES
