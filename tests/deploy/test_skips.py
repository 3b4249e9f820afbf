"""The option ``--skipped-to`` lists skipped tests and modules, which ``.ci/run`` runs again where every tool is
installed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {
    "test_body.py": "import pytest\ndef test_a(): pass\n\ndef test_b(): pytest.skip('no tool')\n",
    "test_class.py": "import pytest\n@pytest.mark.skip\nclass TestIt:\n    def test_a(self): pass\n",
    "test_fixture.py": "import pytest\n@pytest.fixture\ndef it(): pytest.skip('no tool')\n\ndef test_a(it): pass\n",
    "test_parameters.py": "import pytest\n@pytest.mark.parametrize('n', ['::', '['])\ndef test_a(n): pytest.skip(n)\n",
    "test_module.py": "import pytest\npytest.importorskip('no_such_library')\n\ndef test_a(): pass\n",
    "test_passed.py": "def test_a(): pass\n",
    "tool.py": "import pytest\ndef need(): pytest.skip('no tool', allow_module_level=True)\n",
    "test_tool_a.py": "import tool\ntool.need()\n",
    "test_tool_b.py": "import tool\ntool.need()\n",
}
SKIPPED = [
    "test_body.py::test_b",
    "test_class.py::TestIt::test_a",
    "test_fixture.py::test_a",
    "test_module.py",
    "test_parameters.py::test_a",
    "test_tool_a.py",
    "test_tool_b.py",
]


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_exactly_what_is_skipped_is_listed_and_runs_again(processes: str, tmp_path: Path) -> None:
    for name, source in FILES.items():
        (tmp_path / name).write_text(source)
    (tmp_path / "pytest.ini").touch()
    path = tmp_path / "skipped"
    path.touch()
    plugins = ["-p", "xdist", "-p", "tests.skips"]
    options = [*plugins, "--rootdir", tmp_path, "-c", tmp_path / "pytest.ini", "-n", processes]
    command = [sys.executable, "-m", "pytest", *options, f"--skipped-to={path}", tmp_path]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # this saves most of a second in each process
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert path.read_text().splitlines() == SKIPPED
    again = [*command[:-1], *SKIPPED]
    done = subprocess.run(again, cwd=tmp_path, env=env | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^=+ \d skipped in ", done.stdout, re.MULTILINE), done.stdout  # and nothing of "test_passed.py"
    assert path.read_text().splitlines() == SKIPPED


def test_option_of_ci_run_lets_pytest_find_our_conftest(tmp_path: Path) -> None:
    """pytest takes a path in a separate argument for a test, and looks for its settings next to that file."""
    (skipped,) = re.findall(r'ARGS="(--skipped-to.*)"', (ROOT / ".ci" / "run").read_text())
    path = tmp_path / "skipped"
    path.touch()
    options = shlex.split(skipped.replace("$skipped", str(path)))
    command = [sys.executable, "-m", "pytest", *options, "--collect-only", "--ignore-glob=*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr
