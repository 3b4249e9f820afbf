"""A game's page in Chromium: stepping, links to plies, flip, the three views of a blind game, and its embedded form."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import chess
import pytest

from tests.browser.chromium import Browsers, Locator, Page, expect
from tests.browser.games import MATE, chess_game, recon_game, recorded
from tests.serving import Served
from tests.tools import require_board

pytestmark = pytest.mark.slow

#: A recorded game of some length.
SEED = 29


@pytest.fixture(scope="module")
def mate(site: Served) -> int:
    return chess_game(site, *MATE, clock="600+0")


@pytest.fixture(scope="module")
def blind(site: Served) -> int:
    return recon_game(site, recorded(SEED))


def expect_ply(page: Page, ply: int, last: int) -> None:
    """Wait until a page shows a ply, in its words, its picture and its list of moves."""
    expect(page.get_by_text(f"Ply {ply} of {last}", exact=True)).to_be_visible()
    expect(page.locator("figure.board").first).to_have_attribute("data-source", re.compile(rf"[?&]ply={ply}(&|$)"))
    current = page.locator(".moves [aria-current]")
    if ply:
        expect(current).to_have_attribute("data-ply", str(ply))
    else:
        expect(current).to_have_count(0)


def expect_drawn(page: Page, *, still: bool = False) -> None:
    """Wait until all boards of a page are drawn.

    :param still: whether they are the server's pictures although there are moving boards.
    """
    figures = page.locator("figure.board")
    if not still and page.locator("script[src*='game.js']").count():
        expect(page.locator("figure.board .place")).to_have_count(figures.count())
        for figure in figures.all():
            expect_pieces(figure, json.loads(figure.get_attribute("data-board") or "")["placement"])
        return
    for image in page.locator("figure.board img").all():
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("image => image.naturalWidth") > 0


def expect_pieces(figure: Locator, placement: str) -> None:
    """Wait until a moving board shows the pieces of a position, each once."""
    pieces = [
        f"{chess.COLOR_NAMES[each.color]} {chess.piece_name(each.piece_type)}"
        for each in chess.BaseBoard(placement).piece_map().values()
    ]
    drawn = figure.locator("cg-board piece:not(.fading)")
    expect(drawn).to_have_count(len(pieces))
    assert sorted(drawn.evaluate_all("all => all.map((each) => each.cgPiece)")) == sorted(pieces)
    expect(figure.locator("piece.anim")).to_have_count(0)


def placement_after(moves: Sequence[str]) -> str:
    board = chess.Board()
    for move in moves:
        board.push_san(move)
    return board.board_fen()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_pieces_move_on_the_board_as_the_game_is_stepped_through(browsers: Browsers, mate: int, motion: str) -> None:
    require_board()
    page = browsers.open(reduced_motion=motion)
    page.goto(f"/games/{mate}")
    figure = page.locator("figure.board")
    expect_pieces(figure, placement_after(MATE))
    page.evaluate("window.board = document.querySelector('.place')")
    for key, plies in (("ArrowLeft", 3), ("ArrowLeft", 2), ("Home", 0), ("ArrowRight", 1), ("End", 4)):
        page.keyboard.press(key)
        expect_ply(page, plies, 4)
        expect_pieces(figure, placement_after(MATE[:plies]))
    for _ in range(4):
        page.keyboard.press("ArrowLeft")  # faster than the pieces move
    expect_ply(page, 0, 4)
    expect_pieces(figure, chess.STARTING_BOARD_FEN)
    assert page.evaluate("window.board === document.querySelector('.place')") is True


def test_moving_board_marks_the_move_the_check_and_the_window(page: Page, mate: int, blind: int) -> None:
    require_board()

    def expect_check_on_e1() -> None:
        check, cell = (
            page.locator(f".place {each}").bounding_box() for each in ("square.check:visible", "[data-square=e1]")
        )
        assert check is not None
        assert cell is not None
        assert abs(check["x"] - cell["x"]) + abs(check["y"] - cell["y"]) < 3

    page.goto(f"/games/{mate}")
    expect(page.locator("square.last-move:visible")).to_have_count(2)
    expect(page.locator("square.check:visible")).to_have_count(1)
    expect_check_on_e1()
    page.get_by_role("link", name="Flip the board").click()
    expect(page.locator(".cell").first).to_have_attribute("data-square", "h1")
    expect_check_on_e1()
    page.goto(f"/games/{blind}?ply=1&view=white")
    sense = recorded(SEED).sense(next(iter(recorded(SEED).turns())))
    assert sense is not None
    window = sum(chess.square_distance(sense, square) <= 1 for square in chess.SQUARES)
    expect(page.locator(".cell.window")).to_have_count(window)


def test_fen_link_and_code_are_copied(browsers: Browsers, mate: int) -> None:
    page = browsers.open(f"/games/{mate}", permissions=["clipboard-read", "clipboard-write"])
    page.keyboard.press("Home")
    expect_ply(page, 0, 4)
    said = page.locator("#said")
    for button, copied in (
        ("Copy the FEN", re.escape(chess.STARTING_FEN)),
        ("Copy the link to this ply", rf"http://127\.0\.0\.1:\d+/games/{mate}#ply=0"),
        ("Copy the code", rf'<iframe src="http://127\.0\.0\.1:\d+/embed/{mate}" [^<>]*></iframe>'),
    ):
        if button == "Copy the code":
            page.get_by_text("Board to embed").click()
        page.evaluate("navigator.clipboard.writeText('')")
        page.get_by_role("button", name=button).click()
        expect(said).to_have_text("Copied.")
        assert re.fullmatch(copied, page.evaluate("navigator.clipboard.readText()"))
    page.goto("/")
    page.goto(page.evaluate("navigator.clipboard.readText()").split('"')[1])
    expect(page.get_by_text("Ply 4 of 4")).to_be_visible()


def test_counts_are_asked_for_when_they_are_opened_and_mark_the_ply(page: Page, blind: int) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "counts" in request.url else None)
    page.goto(f"/games/{blind}?ply=3")
    page.keyboard.press("ArrowLeft")
    expect_ply(page, 2, recorded(SEED).num_turns())
    assert asked == []
    page.locator("details.counts summary").click()
    picture = page.locator("#counts")
    expect(picture).to_have_attribute("src", re.compile(r"counts\.svg\?ply=2$"))
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 0
    page.keyboard.press("ArrowRight")
    expect(picture).to_have_attribute("src", re.compile(r"counts\.svg\?ply=3$"))
    page.get_by_role("link", name="The numbers as a table").click()
    expect(page.locator("table.counts tbody tr").first).to_contain_text("White")


def test_keys_step_through_a_game_and_the_address_names_the_ply(page: Page, mate: int) -> None:
    page.goto(f"/games/{mate}")
    expect_ply(page, 4, 4)
    for key, ply in (("ArrowLeft", 3), ("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("End", 4)):
        page.keyboard.press(key)
        expect_ply(page, ply, 4)
        expect(page).to_have_url(re.compile(f"#ply={ply}$"))
    expect_drawn(page)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("#ply=4$"))
    page.go_back()
    expect_ply(page, 2, 4)


def test_link_to_a_ply_is_followed_without_loading_the_page_again(page: Page, mate: int) -> None:
    page.goto(f"/games/{mate}#ply=1")
    expect_ply(page, 1, 4)
    expect(page.get_by_label("FEN")).to_have_value(re.compile(r"^rnbqkbnr/pppppppp/8/8/8/5P2/"))
    page.evaluate("window.kept = true")
    page.get_by_role("link", name="Qh4#").click()
    expect_ply(page, 4, 4)
    page.get_by_role("link", name="Previous").click()
    expect_ply(page, 3, 4)
    expect(page.get_by_role("link", name="Previous")).to_be_focused()
    assert page.evaluate("window.kept") is True


def test_flip_keeps_the_ply_and_steps_stay_flipped(page: Page, mate: int) -> None:
    page.goto(f"/games/{mate}")
    page.keyboard.press("ArrowLeft")
    expect_ply(page, 3, 4)
    page.get_by_role("link", name="Flip the board").click()
    expect_ply(page, 3, 4)
    expect(page.locator("figure.board")).to_have_attribute("data-source", re.compile("flip=1"))
    page.keyboard.press("ArrowLeft")
    expect_ply(page, 2, 4)
    expect(page.locator("figure.board")).to_have_attribute("data-source", re.compile("flip=1"))


def test_game_can_be_read_and_stepped_through_without_javascript(browsers: Browsers, mate: int, blind: int) -> None:
    page = browsers.open(f"/games/{mate}", javascript=False)
    expect_ply(page, 4, 4)
    page.get_by_role("link", name="First").click()
    expect_ply(page, 0, 4)
    page.get_by_role("link", name="e5").click()
    expect_ply(page, 2, 4)
    page.goto(f"/games/{blind}")
    expect(page.locator("figure.board")).to_have_count(3)
    page.get_by_role("link", name="Black’s view").click()
    expect(page.locator("figure.board")).to_have_count(1)
    expect_drawn(page, still=True)


def test_recorded_blind_game_is_replayed_with_what_each_side_saw_and_was_told(page: Page, blind: int) -> None:
    history = recorded(SEED)
    last = history.num_turns()
    page.goto(f"/games/{blind}")
    expect(page.locator("figure.board figcaption")).to_have_text(["The truth", "White’s view", "Black’s view"])
    expect_ply(page, last, last)
    expect_drawn(page)
    for ply, turn in enumerate(history.turns(), 1):
        page.keyboard.press("Home" if ply == 1 else "ArrowRight")
        if ply == 1:
            expect_ply(page, 0, last)
            page.keyboard.press("ArrowRight")
        expect_ply(page, ply, last)
        expect(page.get_by_label("FEN")).to_have_value(history.truth_fen_after_move(turn))
        observed = page.get_by_role("list", name="White’s view" if turn.color else "Black’s view")
        square, asked = history.sense(turn), history.requested_move(turn)
        expect(observed).to_contain_text("Sensed" if square is None else f"around {chess.square_name(square)}")
        expect(observed).to_contain_text("Passed" if asked is None else f"Asked for {asked.uci()}")
    page.get_by_role("link", name="White’s view").click()
    expect(page.locator("figure.board")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect_ply(page, last - 1, last)
    expect(page.locator("figure.board")).to_have_attribute("data-source", re.compile("view=white"))


def test_embedded_board_steps_and_leads_to_the_game(browsers: Browsers, mate: int) -> None:
    page = browsers.open(f"/embed/{mate}")
    expect(page.get_by_text("Ply 4 of 4")).to_be_visible()
    page.get_by_role("link", name="Previous").click()
    expect(page.get_by_text("Ply 3 of 4")).to_be_visible()
    expect_drawn(page)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the game").click()
    expect_ply(opened.value, 3, 4)
