"""Games for the tests in Chromium, played over TCP."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache

import chess
from reconchess import GameHistory, LocalGame, play_local_game
from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot

from gm_client.blocking import Client, Fields, connect
from tests.serving import Served

#: Fool's mate.
MATE = ("f3", "e5", "g4", "Qh4#")
#: The players of these games.
WHITE, BLACK = 1, 2


@contextmanager
def client_of(site: Served) -> Iterator[Client]:
    """Open a session."""
    with connect(site.host, site.port) as client:
        yield client


def chess_game(site: Served, *moves: str, **options: object) -> int:
    """Return a game of two open ids in which these moves were played."""
    with client_of(site) as client:
        game_id = client.new_game(WHITE, BLACK, **options)["game_id"]
        for ply, move in enumerate(moves):
            client.move(game_id, move, player=BLACK if ply % 2 else WHITE)
    return game_id


@cache
def recorded(seed: int) -> GameHistory:
    """Return reconchess's own record of a game of its random bot against its attacker, until a king is captured."""
    before = random.getstate()
    random.seed(seed)
    try:
        _, _, history = play_local_game(RandomBot(), AttackerBot(), LocalGame(seconds_per_player=None))
    finally:
        random.setstate(before)
    return history


def recon_game(site: Served, history: GameHistory) -> int:
    """Return a game in which the senses and moves of a record of reconchess's were played."""
    turns = []
    for turn in history.turns():
        square, move = history.sense(turn), history.requested_move(turn)
        turns.append((None if square is None else chess.square_name(square), None if move is None else move.uci()))
    return blind_game(site, turns)


def blind_game(site: Served, turns: Iterable[tuple[str | None, str | None]], *seats: Fields) -> int:
    """Return a game of blind chess that these senses and moves end.

    :param seats: White's and Black's player and key; two open ids by default.
    """
    white, black = seats or ({"player": WHITE}, {"player": BLACK})
    with client_of(site) as client:
        game_id = client.new_game(white["player"], black["player"], variant="rbc", **white)["game_id"]
        client.join(game_id, **black)
        for ply, (square, move) in enumerate(turns):
            seat = black if ply % 2 else white
            client.sense(game_id, square, **seat)
            client.move(game_id, move, **seat)
        assert client.state(game_id)["state"]["phase"] == "over"
    return game_id
