"""Random games of reconnaissance blind chess, as the server's history has them."""

from __future__ import annotations

import random

import chess
import msgspec
from msgspec import Raw

from gm_recon.game import ReconGame
from gm_recon.pgn import movetext
from gmd.games.notation import run_through
from gmd.games.rbc_record import record_steps
from gmd.http.pages.looking import Past, past_steps
from tests.helpers import Json


def random_game(seed: int, turns: int = 60, fen: str = chess.STARTING_FEN) -> ReconGame:
    """Return a game of random senses and moves; White resigns unless a king was captured."""
    rng = random.Random(seed)
    game = ReconGame(fen)
    for _ in range(turns):
        if game.is_over():
            break
        game.sense(rng.choice([None, *chess.SQUARES]))
        game.move(rng.choice([None, *game.move_actions()]))
    if not game.is_over():
        game.sense(rng.choice(chess.SQUARES))  # a turn that the end cuts short
        game.resign(chess.WHITE)
    return game


def record_of(game: ReconGame) -> Json:
    """Return reconchess's record of a game."""
    found: Json = msgspec.json.decode(run_through(record_steps(game.history(), "ann", 'bob "the \\" rook')))
    return found


def past_of(game: ReconGame) -> Past:
    """Return the history of a game as the pages read it from the reply."""
    record = run_through(record_steps(game.history(), "ann", 'bob "the \\" rook'))
    moves = ["0000" if turn.taken is None else turn.taken.uci() for turn in game.turns]
    pgn = f'[Event "a \\"history\\": of senses"]\n\n{movetext(game.history())} *\n'
    reply = {"pgn": pgn, "moves": moves, "history": Raw(record), "error": None}
    return run_through(past_steps(msgspec.json.encode(reply)))
