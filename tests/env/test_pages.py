"""The examples of the pages on the environment run, and the numbers of its docstrings are those of the library."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import gm_env
from gm_env import BatchedRbc, actions, turns
from gm_env.gymnasium import RbcEnv
from gm_env.rendering.picture import SIDE
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


def test_numbers_of_the_docstrings_are_those_of_the_library() -> None:
    for name in ("PASS", "SENSE_PASS", "SKIP", "MOVES", "PLANES", "SENSES", "HEADER_ROWS"):
        assert f"{name} ({getattr(gm_env, name)})" in text_of(gm_env)
    for name in ("TO_SENSE", "TO_MOVE", "OVER", "RESTING"):
        assert f"{name} ({getattr(gm_env, name)})" in text_of(gm_env)
    observed = f"uint8[n, {len(gm_env.OBSERVATION)}, 8, 8]"
    assert observed in text_of(BatchedRbc.observations)
    columns = len(gm_env.INFORMATION)
    assert f"int16[n, {gm_env.HEADER_ROWS} + recall, {columns}]" in text_of(BatchedRbc.information_states)
    assert f"uint8[n, {len(gm_env.PRIVILEGED)}, 8, 8]" in text_of(BatchedRbc.privileged_state)
    assert f"uint8[n, {gm_env.MOVES}]" in text_of(BatchedRbc.masks)
    assert f"uint64[n, {gm_env.PLANES}]" in text_of(BatchedRbc)
    assert f"{gm_env.PASS} for a pass" in text_of(actions)
    assert len(gm_env.INFORMATION_HEADER) == 6 + 6 + 3
    assert f"{turns.FIRST_SENSE} to {turns.ACTIONS - 2}" in text_of(turns)
    assert f"``Discrete({turns.ACTIONS})``" in text_of(RbcEnv)
    assert f"uint8[{SIDE}, {SIDE}, 3]" in text_of(RbcEnv.render)


def text_of(documented: object) -> str:
    """Return a docstring with a space for each line break."""
    return " ".join((documented.__doc__ or "").split())
