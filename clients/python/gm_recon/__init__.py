"""Games of reconnaissance blind chess inside a process: no sockets, no chance, no I/O.

A library for authors of bots. A :class:`Player` is a bot, and :func:`play_local` plays a game between two of them. To
simulate, to train, to search, :class:`ReconGame` is a game with its phases, its
end and its record; :class:`ReconBoard` is a position without these, for a search that keeps its own record;
:class:`History` is the course of a game, which can be written as reconchess's ``GameHistory``. The rules are those of
the package ``reconchess`` 1.6.9, and are tested against it action by action, including the order of every list: a bot
that draws from a seeded generator plays the same game here as there. ::

    import random
    from gm_recon import ReconGame

    rng = random.Random(7)
    game = ReconGame()
    while not game.is_over():
        game.opponent_capture                                     # where the side to act just lost a piece, or None
        result = game.sense(rng.choice(game.sense_actions()))     # [(square, piece or None), ...]; sense(None) passes
        requested, taken, capture_square = game.move(rng.choice(game.move_actions()))    # move(None) passes
    game.winner, game.win_reason
    game.history().to_json("white's name", "black's name")    # read_json reads this, and reconchess's own files

``game.board`` is the true position, which neither player knows: ``game.board.own_board(game.turn)`` is what the side to
move knows of it.
"""

from .board import ReconBoard
from .game import GameOver, ReconGame, WrongPhase
from .history import History, Replayed, Turn, WinReason
from .player import Player, play_local
from .reading import BadHistory, SavedGame, read_json
from .tables import Cell

__all__ = [
    "Player",
    "play_local",
    "ReconGame",
    "ReconBoard",
    "History",
    "Turn",
    "Replayed",
    "WinReason",
    "WrongPhase",
    "GameOver",
    "Cell",
    "SavedGame",
    "BadHistory",
    "read_json",
]
