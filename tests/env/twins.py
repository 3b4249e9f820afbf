"""Pairs of true games that one player cannot tell apart, and what a player observes, by ``gm_recon`` alone."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import chess
from chess import Color, Move, Square

from gm_env import action_of, sense_of
from gm_env.turns import FIRST_SENSE
from gm_recon import History, ReconGame

#: A turn: the square sensed and the move requested.
Act = tuple[Square | None, Move | None]


def numbered(act: Act, color: Color) -> tuple[int, int]:
    """Return a turn's two actions as :mod:`gm_env.turns` numbers them."""
    return FIRST_SENSE + sense_of(act[0], color), action_of(act[1], color)


@dataclass
class Twins:
    """Two games of the same start, in which one player acts alike and observes the same."""

    viewer: Color
    fen: str
    games: tuple[ReconGame, ReconGame]
    acts: tuple[list[Act], list[Act]] = field(default_factory=lambda: ([], []))

    @property
    def differ(self) -> bool:
        """Whether the true positions differ."""
        one, other = self.games
        return one.board != other.board


def twins(rng: random.Random, fen: str, viewer: Color, turns: int) -> Twins:
    """Return a random pair; it ends before ``turns`` where the player would observe different things."""
    pair = Twins(viewer, fen, (ReconGame(fen), ReconGame(fen)))
    for _ in range(turns):
        acts = None if pair.games[0].is_over() else next_acts(rng, pair)
        if acts is None:
            break
        for game, act, done in zip(pair.games, acts, pair.acts, strict=True):
            game.sense(act[0])
            game.move(act[1])
            done.append(act)
    return pair


def next_acts(rng: random.Random, pair: Twins) -> tuple[Act, Act] | None:
    """Return a turn for both games that tells the player the same, or None if none was found."""
    one, other = pair.games
    for _ in range(30):
        first: Act = rng.choice([*chess.SQUARES, None]), rng.choice([*one.move_actions(), None])
        second = first
        if one.turn != pair.viewer:
            second = rng.choice([*chess.SQUARES, None]), rng.choice([*other.move_actions(), None])
        if _observed_by(one, first, pair.viewer) == _observed_by(other, second, pair.viewer):
            return first, second
    return None


def _observed_by(game: ReconGame, act: Act, viewer: Color) -> object:
    """Return what a player would learn by a turn of either side."""
    trial, color = game.copy(), game.turn
    seen = trial.sense(act[0])
    _, taken, capture = trial.move(act[1])
    end = (trial.win_reason, trial.winner)
    return (seen, taken, capture, end) if color == viewer else (capture, end)


def observed_by(history: History, viewer: Color) -> object:
    """Return everything that a player observed in a game: two games are the same to it if this is equal."""
    turns: list[object] = []
    for color, turn, seen, _, _ in history.replay():
        if color != viewer:
            turns.append(turn.capture_square)
        else:
            asked, made = (action_of(move, color) for move in (turn.requested, turn.taken))
            turns.append((turn.sense, tuple(map(str, seen)), asked, made, turn.capture_square))
    board = history.board()
    unfinished = None
    if board.turn == viewer and history.unfinished:
        square = history.unfinished[0]
        unfinished = square, tuple(map(str, [] if square is None else board.window(square)))
    return turns, unfinished, history.winner, history.win_reason
