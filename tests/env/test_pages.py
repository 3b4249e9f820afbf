"""The examples of the pages on the environment run, and the numbers of these pages are those of the library."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from gm_env import HEADER_ROWS, INFORMATION, MOVES, OBSERVATION, PLANES, PRIVILEGED
from gm_env.rendering.picture import SQUARE
from gm_env.turns import ACTIONS, FIRST_SENSE
from tests.docs.pages import MANUAL, blocks_of
from tests.tools import require_module

pytestmark = pytest.mark.slow


class Example(NamedTuple):
    """An example: what it needs besides numba, and a pattern of what it prints."""

    needs: tuple[str, ...] = ()
    prints: str = ""


#: The examples by page, in their order there.
EXAMPLES = {
    "env": [Example(prints=r"\D*\d\d.*\d\d.*\n"), Example(prints=r"\d+ True\n(.|\n)*")],
    "env-interfaces": [
        Example(("gymnasium",), r"\(24, 8, 8\) .*\n"),
        Example(("gymnasium",), r"\(64, 24, 8, 8\) .*\n"),
        Example(("gymnasium",)),
        Example(("pettingzoo",)),
        Example(("gymnasium", "matplotlib")),
        Example(prints=r"\(8, 814\)\n\(8, 8, 8\)\n"),
    ],
    "env-policies": [
        Example(("gymnasium",), r"\d{3} games, won \d+\n"),
        Example(("pettingzoo",)),
        Example(("gymnasium", "reconchess"), r"(-1|0|1)\.0\n"),
        Example(("gymnasium",)),
    ],
}


def text_of(page: str) -> str:
    return (MANUAL / "reference" / f"{page}.md").read_text("utf-8")


@pytest.mark.parametrize(("page", "number"), [(page, n) for page in EXAMPLES for n in range(len(EXAMPLES[page]))])
def test_example_runs(
    page: str, number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks, example = blocks_of(MANUAL / "reference" / f"{page}.md"), EXAMPLES[page][number]
    assert len(blocks) == len(EXAMPLES[page])
    for module in example.needs:
        require_module(module)
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks[number].text, page, "exec"), {})
    assert re.fullmatch(example.prints, capsys.readouterr().out)


def test_numbers_of_the_pages_are_those_of_the_library() -> None:
    reference, interfaces = text_of("env"), text_of("env-interfaces")
    assert f"uint8[n, {len(OBSERVATION)}, 8, 8]" in reference
    assert f"uint8[n, {len(PRIVILEGED)}, 8, 8]" in reference
    assert f"int16[n, {HEADER_ROWS} + recall, {len(INFORMATION)}]" in reference
    assert f"uint8[n, {MOVES}]" in reference
    assert f"uint64[n, {PLANES}]" in reference
    assert f"`Discrete({ACTIONS})`" in interfaces
    assert f"`FIRST_SENSE` ({FIRST_SENSE})" in interfaces
    assert f"uint8[{8 * SQUARE}, {8 * SQUARE}, 3]" in interfaces
