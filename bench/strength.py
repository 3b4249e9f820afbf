"""The strength of the bots: of minimax at chess, and of expectation at blind chess.

minimax plays from popular openings against Stockfish with a limited Elo.

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


#: The opponents of expectation: reconchess's bots by its names, and recon-zero.
BLIND = ("recon-zero", *(f"{name}=reconchess:reconchess.bots.{name}_bot" for name in ("trout", "attacker", "random")))
#: Seconds on each player's clock, and those gained with each move.
CLOCK = "20+1"


def measure(games: int) -> None:
    """Let ``gmd match`` play so many games against each opponent, two at a time; it prints the scores and Elo."""
    _match("expectation:engines=1", *BLIND, "--variant", "rbc", "--clock", CLOCK, "--games", games)
    settings = f"movetime={OPPONENT_SECONDS:g},UCI_LimitStrength=true,Threads=1"
    bots = [
        f"minimax:movetime={SECONDS:g}",
        *(f"stockfish{elo}=uci[{settings},UCI_Elo={elo}]:stockfish" for elo in ELOS),
    ]
    with TemporaryDirectory(prefix="gmd-bench-") as folder:
        book = Path(folder, "book.epd")
        book.write_text("".join(f"{_position(line)}\n" for line in OPENINGS))
        _match(*bots, "--games", games, "--max-moves", MAX_MOVES, "--openings", f"file={book}")


def _match(*arguments: object) -> None:
    command = [sys.executable, "-m", "gmd", "match", *map(str, arguments)]
    subprocess.run([*command, "--tournament", "gauntlet", "--concurrency", "2"], check=True)


def _position(line: str) -> str:
    board = chess.Board()
    for san in line.split()[:BOOK_PLIES]:
        board.push_san(san)
    return board.fen()
