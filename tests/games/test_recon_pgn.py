"""PGN of reconnaissance blind chess, written by gmd and read back by gmd and by python-chess."""

from __future__ import annotations

import io
import random
import re

import chess
import chess.pgn
import pytest
from chess import Move
from hypothesis import given
from hypothesis import strategies as st

from gm_recon import BadHistory, History, ReconBoard, ReconGame
from gm_recon.pgn import ReconRules, movetext, san
from gm_recon.pgn_reading import read_pgn
from gmd.games.notation import run_through, write_pgn_steps
from tests.side_by_side import POSITIONS


def random_game(fen: str, seed: int) -> History:
    """Return the history of a game of at most 100 turns, resigned in the middle of a turn if it has not ended by
    then.
    """
    rng = random.Random(seed)
    game = ReconGame(fen)
    while not game.is_over():
        game.sense(rng.choice([*game.sense_actions(), None]))
        if game.ply == 100:
            game.resign()
        else:
            game.move(rng.choice([*game.move_actions(), None]))
    return game.history()


def pgn_of(history: History) -> str:
    headers = {"SetUp": "1", "FEN": history.start_fen, "Variant": "Reconnaissance blind chess"}
    return run_through(write_pgn_steps(headers, movetext(history), "*"))


def moves_of(pgn: str) -> list[Move | None]:
    return [turn.taken for turn in read_pgn(pgn).history.turns]


histories = st.builds(random_game, st.sampled_from(list(POSITIONS.values())), st.integers(0, 2**32))


@given(histories)
def test_moves_read_back_are_the_moves_made(history: History) -> None:
    assert moves_of(pgn_of(history)) == [turn.taken for turn in history.turns]


class _Headers(chess.pgn.Headers):
    def variant(self) -> type[chess.Board]:
        return ReconRules


class _Builder(chess.pgn.GameBuilder[chess.pgn.Game]):
    def begin_headers(self) -> chess.pgn.Headers:
        self.game.headers = _Headers({})
        return self.game.headers


@given(histories)
def test_python_chess_reads_the_same_moves_senses_and_requests(history: History) -> None:
    game = chess.pgn.read_game(io.StringIO(pgn_of(history)), Visitor=_Builder)
    assert game is not None
    assert game.errors == []
    nodes = list(game.mainline())
    assert [node.move or None for node in nodes] == [turn.taken for turn in history.turns]
    for node, turn in zip(nodes, history.turns, strict=True):
        senses = re.findall(r"\[%sense (\S+)\]", node.comment)
        assert senses == ([] if turn.sense is None else [chess.SQUARE_NAMES[turn.sense]])
        requests = [Move.from_uci(uci) for uci in re.findall(r"\[%request (\S+)\]", node.comment)]
        assert (requests or [turn.taken]) == [turn.requested]
    last_senses = re.findall(r"\[%last_sense (\S+)\]", nodes[-1].comment if nodes else game.comment)
    assert last_senses == [chess.SQUARE_NAMES[square] for square in history.unfinished if square is not None]


@given(histories)
def test_san_equals_that_of_python_chess_without_check_signs(history: History) -> None:
    board, ours = ReconRules(history.start_fen), ReconBoard(history.start_fen)
    for turn in history.turns:
        if turn.taken is not None:
            assert san(ours, turn.taken) == board.san(turn.taken)
        board.push(turn.taken or Move.null())
        ours.push(turn.taken, turn.capture_square)


def test_pgn_text_of_a_game() -> None:
    game = ReconGame("4k3/8/8/8/4P3/8/P7/R3K2b b Q - 0 7")
    turns = [
        ("e4", "h1a8"),
        (None, "a2b3"),
        ("a1", None),
        ("d8", "e1c1"),
        (None, "e4h1"),
        ("e8", "d1d8"),
    ]
    for square, move in turns:
        game.sense(None if square is None else chess.parse_square(square))
        game.move(None if move is None else Move.from_uci(move))
    game.sense(chess.E8)
    game.resign()
    assert pgn_of(game.history()) == (
        '[SetUp "1"]\n'
        '[FEN "4k3/8/8/8/4P3/8/P7/R3K2b b Q - 0 7"]\n'
        '[Variant "Reconnaissance blind chess"]\n'
        "\n"
        "7... Bxe4 {[%sense e4] [%request h1a8]} 8. -- {[%request a2b3]} 8... --\n"
        "{[%sense a1]} 9. O-O-O {[%sense d8]} 9... Bh1 10. Rd8 {[%sense e8]}\n"
        "{[%last_sense e8]} *\n"
    )


def test_move_that_the_true_board_forbids_is_named() -> None:
    with pytest.raises(BadHistory, match=r"illegal san: 'Nf4'"):
        read_pgn("1. e4 Nf4 *")


def test_king_can_be_left_in_check_and_captured_which_ends_the_game() -> None:
    moves = "1. e4 f6 2. Qh5+ -- 3. Qxe8"
    assert moves_of(moves)[-1] == Move.from_uci("h5e8")
    with pytest.raises(BadHistory, match=r"illegal san: 'a6'"):
        read_pgn(f"{moves} a6")
