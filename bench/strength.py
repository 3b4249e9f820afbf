"""The strength of the minimax engine: games against Stockfish with a limited Elo, from popular openings.

Stockfish's scale (``UCI_Elo``) is that of engines: it was calibrated against the CCRL list at 60 s + 0.6 s. Its
strength is limited by deliberate errors after a search of a few half-moves: a tenth of a second is more than it needs,
and a whole second would not make it stronger.
"""

from __future__ import annotations

import math
import shlex
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import chess
import chess.engine

from .games import OPENINGS
from .progress import steps

ENGINE = [sys.executable, "-m", "gm_bots.minimax"]

#: Stockfish's seconds per move.
OPPONENT_SECONDS = 0.1

#: Plies of an opening that are played before the engines begin.
BOOK_PLIES = 8

#: Half-moves after which a game counts as drawn.
MAX_PLIES = 400

#: 95 % of a normal distribution lie within so many standard deviations.
Z = 1.96


@dataclass(frozen=True)
class Tally:
    """A side's results."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.won + other.won, self.drawn + other.drawn, self.lost + other.lost)

    @property
    def games(self) -> int:
        return self.won + self.drawn + self.lost

    @property
    def score(self) -> float:
        """The points per game."""
        return (self.won + self.drawn / 2) / self.games

    def elo(self) -> tuple[float, float, float]:
        """Return its lead in Elo, and the bounds of the 95 % confidence interval."""
        squares = self.won + self.drawn / 4
        error = Z * math.sqrt(max(0.0, squares / self.games - self.score**2) / self.games)
        return _elo(self.score), _elo(self.score - error), _elo(self.score + error)


def _elo(score: float) -> float:
    """Return the difference in Elo at which ``score`` points per game are expected."""
    if not 0 < score < 1:
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)


def play(white: chess.engine.SimpleEngine, black: chess.engine.SimpleEngine, opening: str,
         limits: tuple[chess.engine.Limit, chess.engine.Limit]) -> str:  # fmt: skip
    """Play one game, and return its result; draws that can be claimed are claimed."""
    board = chess.Board()
    for san in opening.split()[:BOOK_PLIES]:
        board.push_san(san)
    game = object()
    while not board.is_game_over(claim_draw=True) and board.ply() < MAX_PLIES:
        engine, limit = (white, limits[0]) if board.turn else (black, limits[1])
        move = engine.play(board, limit, game=game).move
        assert move is not None
        board.push(move)
    result = board.result(claim_draw=True)
    return "1/2-1/2" if result == "*" else result


def _one(number: int, elo: int, seconds: float) -> Tally:
    """Play the game of a number: the openings in turn, each with both colours."""
    stockfish = shutil.which("stockfish") or "/usr/games/stockfish"
    ours, theirs = chess.engine.Limit(time=seconds), chess.engine.Limit(time=OPPONENT_SECONDS)
    opening, is_white = OPENINGS[number // 2 % len(OPENINGS)], number % 2 == 0
    with (
        chess.engine.SimpleEngine.popen_uci(ENGINE) as engine,
        chess.engine.SimpleEngine.popen_uci(shlex.split(stockfish)) as opponent,
    ):
        opponent.configure({"UCI_LimitStrength": True, "UCI_Elo": elo, "Threads": 1})
        if is_white:
            result = play(engine, opponent, opening, (ours, theirs))
        else:
            result = play(opponent, engine, opening, (theirs, ours))
    if result == "1/2-1/2":
        return Tally(drawn=1)
    return Tally(won=1) if (result == "1-0") == is_white else Tally(lost=1)


def measure(games: int, elos: tuple[int, ...] = (1500, 1800, 2100), seconds: float = 1.0, at_once: int = 2) -> None:
    """Print the engine's score against Stockfish at each of some strengths, and the strength that this means."""
    for elo in elos:
        total = Tally()
        with ThreadPoolExecutor(at_once) as pool:
            played = [pool.submit(_one, number, elo, seconds) for number in range(games)]
            for game in steps(played, f"{games} games against Stockfish at {elo}"):
                total += game.result()
        ahead, least, most = total.elo()
        print(
            f"{seconds:g} s a move against UCI_Elo {elo}: won {total.won}, drawn {total.drawn}, lost {total.lost}; "
            f"{elo + ahead:.0f}, with 95 % between {elo + least:.0f} and {elo + most:.0f}",
            flush=True,
        )
