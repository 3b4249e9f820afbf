"""The part of the tests that a seed draws."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drawn import SEED, is_drawn

ROOT = Path(__file__).parents[1]
MAKEFILE = ROOT / "Makefile"
NAMES = [f"tests/test_some.py::test_number[{number}]" for number in range(400)]
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(40))
def test_it(number): pass
"""


@pytest.mark.parametrize("parts", [2, 4])
def test_each_seed_draws_about_its_part_and_forty_draw_all(parts: int) -> None:
    left = set(NAMES)
    for seed in map(str, range(40)):
        drawn = {name for name in NAMES if is_drawn(name, seed, parts)}
        assert 0.6 < len(drawn) * parts / len(NAMES) < 1.4
        left -= drawn
    assert not left


def test_tests_are_drawn_independently_of_each_other() -> None:
    """Of a checksum in place of the hash, names of one length would be drawn together always, or never."""
    together = [is_drawn(NAMES[100], seed, 2) == is_drawn(NAMES[101], seed, 2) for seed in map(str, range(40))]
    assert 10 < sum(together) < 30


def test_every_test_runs_by_one_of_the_makefile_s_targets() -> None:
    """A test is long or not; the expressions of "test" and "test-long" are each other's opposites."""
    expressions = re.findall(r"^\t@\$\(BIN\)/pytest .* -m (.*?) (?:--|\$)", MAKEFILE.read_text(), re.MULTILINE)
    assert expressions == ["'not long'", "long"]


@pytest.mark.parametrize(("parts", "seed"), [("4", "it"), ("4", ""), (None, "it")])
def test_only_a_number_with_a_seed_leaves_tests_out(parts: str | None, seed: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").touch()
    options = ["-p", "tests.drawn", "--rootdir", tmp_path, "-c", tmp_path / "pytest.ini", "--collect-only", "-q"]
    options += [] if parts is None else ["--one-in", parts]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", SEED: seed}
    command = [sys.executable, "-m", "pytest", *options, tmp_path]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    collected = {line for line in done.stdout.splitlines() if "::" in line}
    names = {f"test_it.py::test_it[{number}]" for number in range(40)}
    if parts is not None and seed:
        drawn = {name for name in names if is_drawn(name, seed, int(parts))}
        assert 0 < len(drawn) < len(names)
        names = drawn
    assert collected == names
