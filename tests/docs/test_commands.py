"""Commands that the manual shows in indented blocks, which no reader runs one after the other, are valid."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gmd.cli import main
from tests.bots.recon_zero.learning import needs_training
from tests.cli.parsing import parse
from tests.docs.pages import MANUAL, ROOT

_COMMAND = re.compile(r"^    (?:.*(?:&& |--spec \S+ ))?(?:\.venv/bin/)?((?:gmd|gmcat) .*)$", re.MULTILINE)
#: Begins what the shell takes: a pipe, a redirection, a comment, or the end of a group.
_SHELL = re.compile(r"[|>#)]|\d>")


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of a page's commands of gmd and gmcat, without what is for the shell."""
    for line in _COMMAND.findall(page.read_text("utf-8").replace("\\\n", " ")):
        words = shlex.split(line, comments=True)
        end = next((number for number, word in enumerate(words) if _SHELL.match(word)), len(words))
        yield words[:end]


def test_commands_have_known_options_and_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page for page in [ROOT / "README.md", *MANUAL.glob("*/*.md")] if any(commands(page))]
    assert {page.stem for page in pages} >= {"production", "train-recon-zero", "is-it-better"}
    monkeypatch.chdir(tmp_path)
    for file in ("backup.jsonl", "twic.pgn", "book.pgn", "attacker.key", "training-real/latest.pt"):
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text("")
    for page, (program, *words) in ((found, each) for found in pages for each in commands(found)):
        if program == "gmcat":
            assert json.loads(words[-1])["kind"], page
        elif "--help" in words:
            assert CliRunner().invoke(main, words).exit_code == 0, page
        else:
            assert parse(main, words).command.name == words[0] or len(words) > 1, page


def test_unknown_option_in_a_page_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Text:\n\n    gmd check --repare  # mends\n", "utf-8")
    ((_, *words),) = commands(page)
    with pytest.raises(click.NoSuchOption):
        parse(main, words)


@pytest.mark.nightly
@needs_training
def test_first_command_of_the_training_page_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's matches are run in ``tests/bots/recon_zero/test_in_step.py``, with a smaller network."""
    monkeypatch.chdir(tmp_path)
    (_, *words), *_ = commands(MANUAL / "tutorials/train-recon-zero.md")
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 0, ran.output
    assert len((tmp_path / "training/results.csv").read_text("utf-8").splitlines()) == 3
    assert any((tmp_path / "training/events").iterdir())
