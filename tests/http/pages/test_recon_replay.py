"""Replays of RBC games: what each side saw, and what it observed, against reconchess's record of the same game."""

from __future__ import annotations

from typing import Any

import chess
import pytest

from gm_recon.history import COLUMNS
from gmd.http.pages import observations
from gmd.http.pages.memory import MOST_AGE
from gmd.http.pages.replay import ReconReplay, placement_of
from tests.http.pages.recon_games import past_of, random_game, record_of

BLACK_BEGINS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"
GAMES = [(seed, chess.STARTING_FEN) for seed in range(2)] + [(7, BLACK_BEGINS)]


def replay_of(seed: int, fen: str) -> tuple[ReconReplay, Any]:
    game = random_game(seed, fen=fen)
    record = past_of(game).record
    assert record is not None
    return ReconReplay(record, fen), record_of(game)


@pytest.mark.parametrize(("seed", "fen"), GAMES)
def test_every_turn_is_that_of_the_record(seed: int, fen: str) -> None:
    replay, record = replay_of(seed, fen)
    for ply in range(1, replay.plies + 1):
        turn = replay.turn(ply)
        side, index = str(turn.side).lower(), (ply - 1) // 2
        row = {name: record[name][side][index] for name in COLUMNS}
        assert turn.sense.square == row["senses"]
        assert dict(turn.sense.cells) == {square: piece and piece["value"] for square, piece in row["sense_results"]}
        assert turn.requested == (row["requested_moves"] and row["requested_moves"]["value"])
        assert turn.taken == (row["taken_moves"] and row["taken_moves"]["value"])
        assert turn.capture == row["capture_squares"]
        assert replay.position(ply).fen == row["fens_after_move"]
        assert replay.asked_otherwise(ply) == (turn.requested != turn.taken)


@pytest.mark.parametrize(("seed", "fen"), GAMES)
def test_side_sees_its_own_pieces_and_those_that_it_has_sensed_in_its_turn(seed: int, fen: str) -> None:
    replay, record = replay_of(seed, fen)
    for ply in range(replay.plies + 1):
        truth = chess.BaseBoard(placement_of(replay.position(ply).fen))
        assert replay.seen(ply, None).placement == truth.board_fen()
        for side in chess.COLORS:
            seen = replay.seen(ply, side)
            board = chess.BaseBoard(seen.placement)
            assert board.occupied_co[side] == truth.occupied_co[side]
            senses = sensed_until(replay, record, ply, side)
            is_own_turn = ply > 0 and replay.side_at(ply) == side
            if not is_own_turn and not replay.unfinished(ply):
                senses.append({})  # a turn has begun, or is about to
            assert seen.window == set(senses[-1] if senses else {})
            shown = {
                square for square, piece in (senses[-1] if senses else {}).items() if piece and piece.isupper() != side
            }
            assert set(chess.scan_forward(board.occupied_co[not side])) == {
                square for square in shown if truth.color_at(square) != side
            }
            covered = chess.SquareSet(chess.BB_ALL & ~truth.occupied_co[side]) - chess.SquareSet(seen.window)
            assert seen.unseen == set(covered)


@pytest.mark.parametrize(("seed", "fen"), GAMES)
def test_side_remembers_what_its_latest_sense_of_a_square_has_shown(seed: int, fen: str) -> None:
    replay, record = replay_of(seed, fen)
    start, remembered = chess.BaseBoard(placement_of(fen)), 0
    for ply in range(replay.plies + 1):
        for side in chess.COLORS:
            senses = sensed_until(replay, record, ply, side)
            for square, symbol, age in replay.seen(ply, side).remembered:
                remembered += 1
                assert symbol.isupper() != side
                latest = next((each[square] for each in reversed(senses) if square in each), None)
                at_start = start.piece_at(square)
                assert symbol == (latest or (at_start and at_start.symbol()))
                assert age <= MOST_AGE
    assert remembered > 100


def sensed_until(replay: ReconReplay, record: Any, ply: int, side: chess.Color) -> list[dict[int, str | None]]:
    """Return what each sense of a side has shown until a ply: the squares, with symbols."""
    count = (ply + (replay.side_at(1) == side)) // 2
    if (latest := replay.unfinished(ply)) is not None and latest[0] == side:
        count += 1
    results = record["sense_results"][str(side).lower()][:count]
    return [{square: piece and piece["value"] for square, piece in result} for result in results]


@pytest.mark.parametrize(("seed", "fen"), GAMES)
def test_side_is_told_of_its_own_turn_and_of_the_opponents_captures(seed: int, fen: str) -> None:
    replay, _ = replay_of(seed, fen)
    for ply in range(1, replay.plies + 1):
        turn = replay.turn(ply)
        assert replay.observed(ply, not turn.side)[:1] == [observations.lost(turn.capture)]
        assert replay.observed(ply, turn.side)[1] == observations.moved(turn.requested, turn.taken, turn.capture)


def test_game_without_a_turn_can_be_replayed() -> None:
    replay, _ = replay_of(0, chess.STARTING_FEN)
    assert replay.seen(0, chess.WHITE).placement == "8/8/8/8/8/8/PPPPPPPP/RNBQKBNR"
    assert replay.seen(0, chess.BLACK).placement == "rnbqkbnr/pppppppp/8/8/8/8/8/8"
    assert replay.observed(0, chess.WHITE) == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (observations.sensed(None, []), "Sensed nothing."),
        (observations.sensed(chess.E5, []), "Sensed around e5 and saw no piece of the opponent."),
        (observations.sensed(chess.E5, [(chess.D5, "p")]), "Sensed around e5 and saw a pawn on d5."),
        (
            observations.sensed(chess.A1, [(chess.A1, "K"), (chess.B1, "N"), (chess.B2, "P")]),
            "Sensed around a1 and saw a king on a1, a knight on b1 and a pawn on b2.",
        ),
        (observations.moved(None, None, None), "Passed."),
        (observations.moved("e2e4", "e2e4", None), "Asked for e2e4: e2e4 was made."),
        (
            observations.moved("a1a8", "a1a5", chess.A5),
            "Asked for a1a8: a1a5 was made instead and captured a piece on a5.",
        ),
        (observations.moved("e2d3", None, None), "Asked for e2d3: that was not possible, and nothing moved."),
        (observations.lost(None), "The opponent captured nothing."),
        (observations.lost(chess.D5), "The opponent captured the piece on d5."),
    ],
)
def test_sentences(sentence: str, expected: str) -> None:
    assert sentence == expected
