"""The part of the proofs that a seed draws."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proof_share import PARTS, SEED, is_drawn

ROOT = Path(__file__).parents[1]
NAMES = [f"tests/test_some.py::test_number[{number}]" for number in range(400)]
TESTS = """
import pytest

@pytest.mark.proof
@pytest.mark.parametrize("number", range(40))
def test_proof(number): pass

def test_other(): pass
"""


def test_each_seed_draws_about_its_part_and_forty_draw_all() -> None:
    left = set(NAMES)
    for seed in map(str, range(40)):
        drawn = {name for name in NAMES if is_drawn(name, seed)}
        assert 0.6 < len(drawn) * PARTS / len(NAMES) < 1.4
        left -= drawn
    assert not left


@pytest.mark.parametrize(("proof", "seed"), [("share", "it"), ("share", ""), ("full", "it"), ("", "it")])
def test_only_a_share_with_a_seed_leaves_proofs_out(proof: str, seed: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = proof: long\n")
    options = ["-p", "tests.proof_share", "--rootdir", tmp_path, "-c", tmp_path / "pytest.ini", "--collect-only", "-q"]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "GMD_PROOF": proof, SEED: seed}
    command = [sys.executable, "-m", "pytest", *options, tmp_path]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    collected = {line for line in done.stdout.splitlines() if "::" in line}
    proofs = {f"test_it.py::test_proof[{number}]" for number in range(40)}
    if proof == "share" and seed:
        drawn = {name for name in proofs if is_drawn(name, seed)}
        assert 0 < len(drawn) < len(proofs)
        proofs = drawn
    assert collected == {"test_it.py::test_other", *proofs}
