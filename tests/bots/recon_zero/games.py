"""Games of blind chess between random players, with the knowledge of both."""

from __future__ import annotations

import random
from collections.abc import Iterator

import chess

from gm_bots.recon_zero.knowledge import Knowledge
from gm_client.rbc import SENSE_SQUARES
from gm_recon import ReconGame

#: Positions where rare moves are near: promotions, castling and captures en passant.
RARE = [
    "1n2k3/PP5P/8/8/8/8/pp5p/R3K2R w KQ - 0 1",
    "r3k2r/pppp1ppp/8/8/8/8/PPPP1PPP/R3K2R b KQkq - 0 1",
    "4k3/p1p1p1p1/8/1P1P1P1P/1p1p1p1p/8/P1P1P1P1/4K3 w - - 0 1",
]


def knowing(seed: int, plies: int, *, cap: int = 20_000) -> Iterator[tuple[Knowledge, ReconGame]]:
    """Play a game; yield the side to move's knowledge, and the game, before its sense, and after it."""
    rng = random.Random(seed)
    fen = RARE[seed // 2 % len(RARE)] if seed % 2 else chess.STARTING_FEN
    game = ReconGame(fen)
    players = {color: Knowledge(color, fen, cap=cap, rng=random.Random(f"{seed} {color}")) for color in chess.COLORS}
    while not game.is_over() and game.ply < plies:
        player = players[game.turn]
        if game.ply:
            player.opponent_moved(game.opponent_capture)
        yield player, game
        player.saw(game.sense(rng.choice(SENSE_SQUARES)))
        yield player, game
        outcome = game.move(rng.choice([None, *game.move_actions()]))
        if not game.is_over():
            player.player_moved(*outcome)
