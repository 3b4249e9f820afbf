"""Pictures and text of games: what they show, and that they show a player no more than it observed."""

from __future__ import annotations

from xml.etree import ElementTree

import chess
import numpy as np
import pytest
from numpy.typing import NDArray

from gm_env import PASS, SENSE_PASS, BatchedRbc, action_of
from gm_env.rendering import Scene, draw, paint, scene_of
from gm_env.rendering.picture import MARGIN, SIDE, SQUARE
from tests.tools import require_module

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


def played(*turns: tuple[int, str | None]) -> BatchedRbc:
    """Return a game after turns of a square sensed, as the player sees it, and a move."""
    batch = BatchedRbc(1)
    for sense, uci in turns:
        batch.sense(np.array([sense]))
        color = bool(batch.colors[0])
        batch.move(np.array([PASS if uci is None else action_of(chess.Move.from_uci(uci), color)]))
    return batch


def square_of_picture(picture: NDArray[np.uint8], square: chess.Square, viewer: chess.Color) -> NDArray[np.uint8]:
    row, column = 7 - chess.square_rank(square), chess.square_file(square)
    if not viewer:
        row, column = 7 - row, 7 - column
    top, left = MARGIN + row * SQUARE, MARGIN + column * SQUARE
    return picture[top : top + SQUARE, left : left + SQUARE]


def test_text_shows_own_pieces_and_what_was_sensed() -> None:
    batch = played((SENSE_PASS, "e2e4"), (SENSE_PASS, "d7d5"))
    batch.sense(np.array([chess.D5]))
    assert draw(batch, 0, chess.WHITE, "ansi") == "\n".join(
        [
            "8 ? ? ? ? ? ? ? ?",
            "7 ? ? ? ? ? ? ? ?",
            "6 ? ? . . . ? ? ?",
            "5 ? ? . p . ? ? ?",
            "4 ? ? . . P ? ? ?",
            "3 ? ? ? ? ? ? ? ?",
            "2 P P P P ? P P P",
            "1 R N B Q K B N R",
            "  a b c d e f g h",
            "ply 3: White to move",
            "requested e2e4, made e2e4",
        ]
    )


def test_text_of_the_truth_and_of_black_shows_the_result_of_a_capture() -> None:
    batch = played((SENSE_PASS, "e2e4"), (SENSE_PASS, "d7d5"), (SENSE_PASS, "e4d5"))
    assert draw(batch, 0, chess.BLACK, "ansi", "truth") == "\n".join(
        [
            "1 R N B K Q B N R",
            "2 P P P . P P P P",
            "3 . . . . . . . .",
            "4 . . . . . . . .",
            "5 . . . . P . . .",
            "6 . . . . . . . .",
            "7 p p p p . p p p",
            "8 r n b k q b n r",
            "  h g f e d c b a",
            "ply 4: Black to sense",
            "requested d7d5, made d7d5",
            "lost a piece on d5",
        ]
    )
    assert "requested e4d5, made e4d5, captured on d5" in draw(batch, 0, chess.WHITE, "ansi")


def test_text_of_a_finished_game_says_who_won() -> None:
    batch = BatchedRbc(1, fens="8/8/8/8/8/8/8/Rk1K4 w - - 0 1")
    batch.sense(np.array([SENSE_PASS]))
    batch.move(np.array([action_of(chess.Move.from_uci("a1b1"), chess.WHITE)]))
    assert "king capture: White wins" in draw(batch, 0, chess.BLACK, "ansi")


def test_refused_move_is_marked() -> None:
    scene = scene_of(played((SENSE_PASS, "e2e4"), (SENSE_PASS, "e7e5"), (SENSE_PASS, "e4e5")), 0, chess.WHITE)
    assert (scene.refused, scene.made) == (chess.SquareSet([chess.E5]), chess.SquareSet())
    assert "requested e4e5, made no move" in scene.caption


@pytest.fixture
def _painter() -> None:
    for name in ("PIL", "resvg_py"):
        require_module(name)


@pytest.mark.usefixtures("_painter")
@pytest.mark.parametrize("viewer", chess.COLORS)
def test_picture_has_each_piece_in_its_place(viewer: chess.Color) -> None:
    batch = played((SENSE_PASS, "e2e4"))
    picture = draw(batch, 0, viewer, "rgb_array", "truth")
    assert (picture.shape, picture.dtype) == ((SIDE, SIDE, 3), np.uint8)
    alone = Scene(viewer, chess.BaseBoard())
    for square in chess.SquareSet(~chess.BB_RANK_2 & ~chess.BB_RANK_4):  # but for the marks of the move
        drawn, expected = (square_of_picture(shown, square, viewer) for shown in (picture, paint(alone)))
        assert np.array_equal(drawn, expected), chess.square_name(square)
        if (piece := alone.board.piece_at(square)) is not None:
            assert ((drawn.max(2) < 40).mean() < 0.175) == piece.color, "a white piece is black at its edges alone"


@pytest.mark.usefixtures("_painter")
def test_picture_of_the_player_does_not_depend_on_hidden_pieces() -> None:
    first = played((SENSE_PASS, "e2e4"), (SENSE_PASS, "d7d5"))
    second = played((SENSE_PASS, "e2e4"), (chess.E4, "h7h6"))
    for mode in ("rgb_array", "ansi", "svg"):
        assert np.array_equal(draw(first, 0, chess.WHITE, mode), draw(second, 0, chess.WHITE, mode))
        assert not np.array_equal(
            draw(first, 0, chess.WHITE, mode, "truth"), draw(second, 0, chess.WHITE, mode, "truth")
        )


def test_every_meaning_of_a_square_has_its_colour() -> None:
    names = ("hidden", "sensed", "made", "refused", "captured")
    colors = {name: Scene(True, chess.BaseBoard(None), **{name: chess.SquareSet([0, 1])}) for name in names}
    plain = Scene(True, chess.BaseBoard(None))
    shown = [scene.color_of(square) for scene in (plain, *colors.values()) for square in (chess.A1, chess.B1)]
    assert len(set(shown)) == len(shown)


def test_svg_shows_the_pieces_in_view() -> None:
    batch = BatchedRbc(1)
    uses = {}
    for view in ("player", "truth"):
        document = ElementTree.fromstring(draw(batch, 0, chess.BLACK, "svg", view))  # type: ignore[arg-type]
        uses[view] = [use.get("href") for use in document.iter(f"{SVG}use")]
    assert len(uses["truth"]) == 32
    assert len(uses["player"]) == 16
    assert all(use.startswith("#black-") for use in uses["player"])


def test_game_is_printed_for_a_human(capsys: pytest.CaptureFixture[str]) -> None:
    batch = played((SENSE_PASS, "e2e4"))
    assert draw(batch, 0, chess.WHITE, "human") is None
    assert capsys.readouterr().out == draw(batch, 0, chess.WHITE, "ansi") + "\n\n"
