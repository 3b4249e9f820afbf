"""The strength of the minimax engine: a match from popular openings against Stockfish with a limited Elo.

Stockfish's scale (``UCI_Elo``) is that of engines: it was calibrated against the CCRL list at 60 s + 0.6 s. Its
strength is limited by deliberate errors after a search of a few half-moves: a tenth of a second is more than it needs,
and a whole second would not make it stronger.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import chess

from .games import OPENINGS

ELOS = (1500, 1800, 2100)
#: Seconds per move of minimax, and of Stockfish.
SECONDS, OPPONENT_SECONDS = 1.0, 0.1
#: Plies of an opening that are played before the engines begin.
BOOK_PLIES = 8
#: Moves of each side after which a game counts as drawn.
MAX_MOVES = 200


def measure(games: int) -> None:
    """Let ``gmd match`` play so many games against each opponent, two at a time; it prints the scores and Elo."""
    settings = f"movetime={OPPONENT_SECONDS:g},UCI_LimitStrength=true,Threads=1"
    bots = [
        f"minimax:movetime={SECONDS:g}",
        *(f"stockfish{elo}=uci[{settings},UCI_Elo={elo}]:stockfish" for elo in ELOS),
    ]
    options = f"--tournament gauntlet --games {games} --concurrency 2 --max-moves {MAX_MOVES} --quiet".split()
    with TemporaryDirectory(prefix="gmd-bench-") as folder:
        book = Path(folder, "book.epd")
        book.write_text("".join(f"{_position(line)}\n" for line in OPENINGS))
        subprocess.run(
            [sys.executable, "-m", "gmd", "match", *bots, *options, "--openings", f"file={book}"], check=True
        )


def _position(line: str) -> str:
    board = chess.Board()
    for san in line.split()[:BOOK_PLIES]:
        board.push_san(san)
    return board.fen()
