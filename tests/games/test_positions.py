"""Facts about positions of every kind equal those of python-chess."""

from __future__ import annotations

import json
import random
from typing import Any

import chess
import msgspec
from chess import Board
from chess.variant import CrazyhouseBoard
from hypothesis import given
from hypothesis import strategies as st

from gmd.games.access import access
from gmd.games.facts import Facts, access_json, facts_of, fen_of, placement
from gmd.games.moves import decode_move, encode_move
from gmd.games.position import advance, contents, pack, unpack
from tests import oracle
from tests.games.strategies import boards, lawless_boards, played_boards

#: How many legal moves of each position are tried.
MOVES_A_BOARD = 6


def decoded(raw: Any) -> Any:
    return json.loads(msgspec.json.encode(raw))


def looks(board: Board) -> tuple[Any, ...]:
    """Return all properties of a board that its key must keep."""
    pockets = board.pockets if isinstance(board, CrazyhouseBoard) else []
    return (
        type(board),
        board.chess960,
        oracle.fen(board).split()[:4],
        sorted(board.piece_map().items(), key=lambda item: item[0]),
        [str(pocket) for pocket in pockets],
        board.castling_rights,
        board.ep_square,
        board.promoted,
        board.occupied,
        board.occupied_co,
    )


@given(lawless_boards())
def test_access_map_is_correct_without_kings_and_with_capturable_kings(board: Board) -> None:
    found = access(board)
    assert json.loads(access_json(found.sources)) == oracle.access_map(board)
    assert found.check is (board.king(board.turn) is not None and board.is_check())


@given(boards)
def test_facts_equal_those_of_python_chess(board: Board) -> None:
    facts = facts_of(pack(board.copy(stack=False)))
    assert facts.turn == board.turn
    assert facts.check == board.is_check()
    assert facts.can_move == any(board.legal_moves)
    assert facts.castles == oracle.castles(board)
    assert facts.passant_file == oracle.passant_file(board)
    assert facts.fen_stem == " ".join(oracle.fen(board).split()[:4])
    assert decoded(facts.board) == oracle.board_rows(board)
    assert decoded(facts.access_map) == oracle.access_map(board)
    assert sorted(facts.actions) == oracle.actions(board)


@given(boards, st.randoms(use_true_random=False))
def test_legal_moves_are_played_and_written_as_by_python_chess(board: Board, rng: random.Random) -> None:
    """A few moves of each position, with all that they change in the texts of the board."""
    position = pack(board.copy(stack=False))
    shared = Facts(position, unpack(position))  # one object plays all the moves, and a new one each move
    before = placement(contents(unpack(position), board.occupied))
    moves = list(board.legal_moves)
    for move in rng.sample(moves, min(len(moves), MOVES_A_BOARD)):
        uci, san = board.uci(move), board.san(move)
        after = unpack(position)
        placed = placement(advance(after, move, after.piece_type_at(move.from_square)), before)
        board.push(move)
        for facts in (shared, Facts(position, unpack(position))):
            played = facts.play(uci)
            assert (played.uci, played.san) == (uci, san)
            assert played.zeroing == (board.halfmove_clock == 0)
            assert " ".join(oracle.fen(unpack(played.position)).split()[:4]) == " ".join(oracle.fen(board).split()[:4])
            assert played.position == pack(board.copy(stack=False))
            assert facts.play(san).uci == uci
        assert placed == placement(contents(after, after.occupied))
        assert fen_of(placed) == oracle.fen(board).split()[0].split("[")[0]
        assert json.loads(placed.json) == oracle.board_rows(board)
        board.pop()


@given(boards)
def test_unpacking_a_key_restores_the_board(board: Board) -> None:
    key = pack(board)  # this removes a useless en passant square from the board
    assert board.ep_square is None or board.has_legal_en_passant()
    again = unpack(key)
    if not isinstance(board, CrazyhouseBoard):
        board.promoted = 0  # python-chess keeps this in chess too, where it means nothing
    assert looks(again) == looks(board)
    assert pack(again) == key


@given(played_boards())
def test_keys_are_equal_exactly_when_positions_repeat(board: Board) -> None:
    """For each pair of positions of a game, our keys are equal exactly when python-chess's are."""
    ours, theirs = [], []
    while True:
        ours.append(pack(board.copy(stack=False)))
        theirs.append(board._transposition_key())
        if not board.move_stack:
            break
        board.pop()
    classes = dict(zip(ours, theirs, strict=True))
    assert [classes[key] for key in ours] == theirs
    assert len(set(ours)) == len(set(theirs))


def test_move_codes_distinguish_all_moves() -> None:
    moves = [
        chess.Move(source, target, promotion)
        for source in chess.SQUARES
        for target in chess.SQUARES
        if source != target
        for promotion in (None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
    ]
    moves += [chess.Move(square, square, drop=piece) for square in chess.SQUARES for piece in range(1, 6)]
    codes = [encode_move(move) for move in moves]
    assert all(0 <= code < 2**16 for code in codes)
    assert len(set(codes)) == len(moves)
    assert [decode_move(code) for code in codes] == [move.uci() for move in moves]
