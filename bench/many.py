"""A daemon with very many live games: its memory, and the cost of a move."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle
from statistics import median

import chess

from . import servers
from .load import HELLO, Address, frame, latencies, move, session
from .progress import steps
from .stored import Played, directory, players, template

#: Live games, few and many, and the plies already played in each.
FEW = 10
MANY = 100_000
PLIES = 40
#: Different games among the many: enough that the measured games are neither neighbours nor all the same.
DIFFERENT = 200
#: Games among the many in which moves are measured. They are copies of as many different games as there are few.
MEASURED = 400
#: Games requested between two updates of the progress bar.
A_STEP = 1_000


class Line:
    """An endless game: random moves, then four moves again and again, in positions that are soon known.

    :ivar moves: the random moves, in UCI.
    :ivar goes_on: the four moves that lead back to the same position.
    """

    def __init__(self, rng: random.Random) -> None:
        while True:
            board = chess.Board()
            for _ in range(PLIES):
                board.push(rng.choice(list(board.legal_moves)))
                if board.is_game_over():
                    break
            self.moves = [played.uci() for played in board.move_stack]
            if len(self.moves) == PLIES and (goes_on := _there_and_back(board)) is not None:
                self.goes_on = goes_on
                return


def _there_and_back(board: chess.Board) -> list[str] | None:
    """Return two reversible moves and the two moves back; None if there are no such moves."""
    for ours in [each for each in board.legal_moves if not board.is_irreversible(each)]:
        board.push(ours)
        for theirs in [each for each in board.legal_moves if not board.is_irreversible(each)]:
            line = [ours, theirs, *(chess.Move(each.to_square, each.from_square) for each in (ours, theirs))]
            if _is_legal(board, line[1:]):
                return [each.uci() for each in line]
        board.pop()
    return None


def _is_legal(board: chess.Board, line: Sequence[chess.Move]) -> bool:
    board = board.copy(stack=False)
    for each in line:
        if not board.is_legal(each):
            return False
        board.push(each)
    return True


def measure(rounds: int) -> None:
    """Print the memory of a daemon with many live games, and the latency of a move compared with few live games."""
    rng = random.Random("many")
    lines = [Line(rng) for _ in range(DIFFERENT)]
    played: list[Played] = [
        ({"clock": {"initial": 86_400}} if n % 2 else {}, line.moves) for n, line in enumerate(lines)
    ]
    with (
        directory(played[:FEW], FEW) as few_path,
        directory(played, MANY) as many_path,
        servers.gmd(str(few_path)) as few,
        servers.gmd(str(many_path)) as many,
    ):
        _load(few.address, range(1, FEW + 1))
        _load(many.address, range(1, MANY + 1))
        print(f"{FEW} live games in memory: {few.resident_bytes() / 2**20:.0f} MiB")
        print(f"{MANY:,} live games in memory: {many.resident_bytes() / 2**20:.0f} MiB (aim: below 1,024)")
        _compare(few.address, many.address, lines, rounds)


def _load(address: Address, game_ids: Sequence[int]) -> None:
    """Make the daemon load games from its log."""
    for first in steps(game_ids[::A_STEP], f"Loading {len(game_ids):,} games"):
        asked = range(first, min(first + A_STEP, game_ids[-1] + 1))
        session(address, [HELLO, *(frame({"kind": "state", "game_id": each, "brief": True}) for each in asked)], 64)


def _compare(few: Address, many: Address, lines: Sequence[Line], rounds: int) -> None:
    few_moves = _moves_in([1 + number % FEW for number in range(MEASURED)], lines, FEW)
    spread = [each for each in range(DIFFERENT + 1, MANY + 1) if template(each, DIFFERENT) < FEW]
    many_moves = _moves_in(random.Random("many").sample(spread, MEASURED), lines, DIFFERENT)
    ratios: list[float] = []
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(-1, rounds * 5):
        pair = [
            latencies(address, [HELLO, *next(moves)])[1:] for address, moves in ((few, few_moves), (many, many_moves))
        ]
        if number >= 0:  # the first round is a warm-up
            ratios.append(median(pair[1]) / median(pair[0]))
            times[0].extend(pair[0])
            times[1].extend(pair[1])
    print(
        f"a durable move beside {MANY:,} live games: {median(times[1]) * 1e6:.0f} us, beside {FEW}: "
        f"{median(times[0]) * 1e6:.0f} us, ratio {median(ratios):.2f} (aim: below 1.2)"
    )


def _moves_in(game_ids: Sequence[int], lines: Sequence[Line], templates: int) -> Iterator[list[bytes]]:
    """Yield rounds of moves, with one move for each time that a game is listed."""
    texts = {each: cycle(lines[template(each, templates)].goes_on) for each in game_ids}
    plies = dict.fromkeys(game_ids, PLIES)
    while True:
        frames = []
        for each in game_ids:
            frames.append(move(each, plies[each], next(texts[each]), players(each, templates)))
            plies[each] += 1
        yield frames
