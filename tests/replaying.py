"""reconchess's rc-replay, which shows a saved game in a window."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

#: Shows every action, forwards and backwards, from either side, in reconchess's own window.
_SHOW = """
import sys, warnings
warnings.simplefilter("ignore")  # reconchess and pygame import pkg_resources
from reconchess import GameHistory
from reconchess.scripts.rc_replay import ReplayWindow
window = ReplayWindow(GameHistory.from_file(sys.argv[1]))
for step in (window.go_forwards, window.go_backwards):
    for _ in range(len(window.actions) - 1):
        step()
        window.draw()
window.go_to_end()
window.perspective = not window.perspective
window.draw()
print(len(window.actions), window.board.fen())
"""


def rc_replay(path: Path) -> tuple[int, str]:
    """Return how many actions rc-replay shows of a saved game, and the FEN at its end. HOME is the file's directory."""
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "HOME": str(path.parent)}
    command = [sys.executable, "-c", _SHOW, str(path)]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert shown.returncode == 0, shown.stderr
    actions, fen = shown.stdout.strip().splitlines()[-1].split(" ", 1)
    return int(actions), fen
