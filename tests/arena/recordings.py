"""Recorded games for tests, as files that gmd and reconchess write."""

from __future__ import annotations

import random
from typing import Any

import chess
import msgspec

from gm_protocol.endings import Cause, result_of, termination_of
from gm_protocol.messages import ClockOption, NewGame
from gm_recon import ReconGame
from gmd.archive.files import GameLine
from gmd.games.chess import ChessGame
from gmd.games.commands import Command, End, FirstContact, Play, Sense
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Game
from gmd.games.rbc import PASS, RbcGame
from gmd.games.variants import make_game, resolve

BEGAN, ENDED = "2026-11-21T04:41:00Z", "2026-11-21T05:41:00Z"


def new_game(**options: Any) -> tuple[Game, list[AnyEvent]]:
    """Return a game in which both players have made contact, and its events."""
    request = NewGame(player_white=1, player_black=2, **options)
    created = Created(1, 2, resolve(request, {}, 518, strict=True), BEGAN)
    game, events = make_game(created), [created]
    if request.clock is not None:
        for seat in (True, False):
            do(game, events, FirstContact(seat))
    return game, events  # type: ignore[return-value]


def do(game: Game, events: list[AnyEvent], command: Command, elapsed: float = 0.0) -> None:
    """Let a command happen, as an arbiter does."""
    outcome = game.decide(command, elapsed)
    assert outcome.refusal is None
    for event in outcome.events:
        game.apply(event)
        events.append(event)


def line(game_id: int, game: Game, events: list[AnyEvent]) -> str:
    """Return a game as a line of JSON."""
    ending = game.now.ending
    ended = ENDED if game.over else None
    stored = GameLine(
        game_id=game_id, termination=termination_of(ending), result=result_of(ending), ended=ended, events=events
    )
    return msgspec.json.encode(stored).decode() + "\n"


def blind_line(seed: int, thoughts: list[tuple[float, float]], game_id: int = 7, *, sensed: bool = False) -> str:
    """Return a random game of blind chess with a clock of 60+2, resigned by the side to move after so many turns.

    :param thoughts: the seconds of each turn: for the sense, and for the move.
    :param sensed: whether there is a sense in the turn in which it ends.
    """
    rng = random.Random(seed)
    game, events = new_game(variant="rbc", clock=ClockOption(initial=60.0, increment=2.0))
    assert isinstance(game, RbcGame)
    for about_sense, about_move in thoughts:
        moves = [PASS, *(move.uci() for move in game.recon.board.move_actions())]
        do(game, events, Sense(game.turn, chess.SQUARE_NAMES[rng.randrange(64)]), about_sense)
        do(game, events, Play(game.turn, rng.choice(moves)), about_move)
    if sensed:
        do(game, events, Sense(game.turn, "e4"), 1.5)
    do(game, events, End(game.turn, Cause.RESIGNATION), 1.0)
    return line(game_id, game, events)


def open_line(moves: list[str], game_id: int = 3, **options: Any) -> str:
    """Return a game in which everything is visible."""
    game, events = new_game(**options)
    assert isinstance(game, ChessGame)
    for move in moves:
        do(game, events, Play(game.turn, move))
    return line(game_id, game, events)


def history(*turns: tuple[str | None, str | None], fen: str = chess.STARTING_FEN, last: str | None = None) -> str:
    """Return the GameHistory of turns, each a sense and a move, which ends when the side to move resigns.

    :param last: the sense of a last turn without a move.
    """
    game = ReconGame(fen)
    for sense, move in turns:
        game.sense(None if sense is None else chess.parse_square(sense))
        game.move(None if move is None else chess.Move.from_uci(move))
    if last is not None:
        game.sense(chess.parse_square(last))
    if not game.is_over():
        game.resign()
    return game.history().to_json("Ann", "Bob")
