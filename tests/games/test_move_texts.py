"""Any text is read as the move that python-chess reads in it, or is refused as python-chess refuses it."""

from __future__ import annotations

import random
import string

import chess
import pytest
from chess import Board
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.errors import AmbiguousMove, IllegalMove
from gmd.games.access import access
from gmd.games.moves import find_move, movers_in
from gmd.games.position import pack
from tests.games.strategies import boards

AMBIGUOUS = "ambiguous"

LETTERS = "abcdefgh12345678NBRQKPnbrqkpx-=+#@O0o. "

san_like = st.from_regex(r"[NBRQKP]?[a-h]?[1-8]?[x-]?[a-h][1-8](=?[nbrqkpNBRQKP])?[+#]?", fullmatch=True)
uci_like = st.from_regex(r"[a-h][1-8][a-h][1-8][nbrqkpNBRQ]?", fullmatch=True)
drop_like = st.from_regex(r"[PNBRQKpnbrqk]?@[a-h][1-8][+#]?", fullmatch=True)
castling_like = st.from_regex(r"[O0o](-?[O0o]){1,2}[+#]?", fullmatch=True)
nulls = st.sampled_from(["--", "Z0", "0000", "@@@@", "", "e1e1", "null"])
any_text = st.text(max_size=8) | st.text(LETTERS, max_size=8)
texts = san_like | uci_like | drop_like | castling_like | nulls | any_text


def readings(board: Board, text: str) -> set[str]:
    """Return the moves that python-chess reads in a text in either notation, and whether it found the text
    ambiguous.
    """
    found = set()
    for parse in (board.parse_uci, board.parse_san):
        try:
            move = parse(text)
        except chess.AmbiguousMoveError:
            found.add(AMBIGUOUS)
        except (chess.InvalidMoveError, chess.IllegalMoveError):
            continue
        else:
            found |= {board.uci(move)} if move else set()
    return found


def found_by_us(board: Board, text: str) -> set[str]:
    try:
        return {find_move(board, movers_in(board, access(board).sources), text).known.uci}
    except AmbiguousMove:
        return {AMBIGUOUS}
    except IllegalMove:
        return set()


def check(board: Board, text: str) -> None:
    expected = readings(board, text)
    assert len(expected) <= 1, "the two notations contradict each other"
    position = pack(board)
    assert found_by_us(board, text) == expected
    assert pack(board) == position, "reading a move must leave the board as it was"


@given(boards, st.lists(texts, min_size=1, max_size=20))
def test_any_text_is_read_as_by_python_chess(board: Board, tried: list[str]) -> None:
    pack(board)
    for text in tried:
        check(board, text)


def mutated(text: str, rng: random.Random) -> str:
    """Return a text with one letter removed, inserted, replaced, doubled or in the other case."""
    at = rng.randrange(len(text))
    letter = rng.choice(LETTERS)
    return rng.choice(
        [
            text[:at] + text[at + 1 :],
            text[:at] + letter + text[at:],
            text[:at] + letter + text[at + 1 :],
            text[:at] + text[at] + text[at:],
            text[:at] + text[at].swapcase() + text[at + 1 :],
            text.swapcase(),
            text + letter,
            text[::-1],
        ]
    )


def spellings(board: Board, move: chess.Move) -> list[str]:
    """Return every common spelling of a legal move."""
    san, uci = board.san(move), board.uci(move)
    bare = san.rstrip("+#")
    shown = {san, uci, bare, bare + "+", bare + "#", bare.replace("=", ""), bare.replace("x", ""), board.xboard(move)}
    if not move.drop and not board.is_castling(move):
        shown |= {board.lan(move), f"{uci[:2]}-{uci[2:]}", f"{uci[:2]}x{uci[2:]}"}
    return sorted(shown | {bare.replace("O", "0")})


@pytest.mark.slow
@given(boards, st.integers(0, 2**32))
def test_spellings_of_legal_moves_and_similar_texts_are_read_as_by_python_chess(board: Board, seed: int) -> None:
    pack(board)
    rng = random.Random(seed)
    moves = list(board.legal_moves)
    for move in rng.sample(moves, min(len(moves), 4)):
        for text in spellings(board, move):
            check(board, text)
            check(board, mutated(text, rng))
        assert found_by_us(board, board.san(move)) == found_by_us(board, board.uci(move)) == {board.uci(move)}


@pytest.mark.parametrize("text", ["--", "Z0", "0000", "@@@@"])
def test_null_move_is_refused_as_a_null_move(text: str) -> None:
    board = Board("4k3/8/8/8/8/8/4K3/R6R b - - 0 1")
    with pytest.raises(IllegalMove) as refused:
        find_move(board, movers_in(board, access(board).sources), text)
    assert str(refused.value) == f"move: '{text}' is a null move: in chess black must move"


@pytest.mark.slow
def test_every_text_of_up_to_three_letters_is_read_as_by_python_chess() -> None:
    board = Board("4k3/1P6/8/3pP3/8/2N3N1/8/R3K2R w KQ d6 0 1")
    letters = string.ascii_letters[:8] + "NBRQKO0-x=@" + "12345678"
    for one in letters:
        for two in letters:
            for three in ["", *letters]:
                assert found_by_us(board, one + two + three) == readings(board, one + two + three)
