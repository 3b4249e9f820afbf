"""The board in Chromium: drag ghosts, premoves, promotion, sounds, clocks, memory; and what a page of play weighs."""

from __future__ import annotations

import re
from typing import Any

import chess
import pytest

from tests.browser.chromium import Browser, Browsers, Locator, Page, check_accessible, expect
from tests.browser.conftest import site_environment
from tests.browser.games import BLACK, MATE, chess_game, client_of, recon_game, recorded
from tests.browser.playing import (
    carry,
    click_move,
    drag,
    expect_board,
    key_move,
    open_play,
    press,
    resign,
    sense_around,
    square,
    type_move,
)
from tests.browser.test_playing import guests, position, two_people
from tests.serving import Served, served
from tests.tools import require_board

pytestmark = pytest.mark.slow

#: The most that a page of play may load, until it can be played on.
MOST_BYTES, MOST_REQUESTS = 250 * 1024, 25

#: Counts the tones that a page plays, in an attribute of the page.
COUNT_TONES = """
const { prototype } = AudioScheduledSourceNode, { start } = prototype;
prototype.start = function (...when) {
    const { dataset } = document.documentElement;
    dataset.heard = 1 + Number(dataset.heard ?? 0);
    return start.apply(this, when);
};
"""


@pytest.fixture(autouse=True)
def _board() -> None:
    require_board()


def box(part: Locator) -> dict[str, float]:
    """Return where a part of the page is."""
    found = part.bounding_box()
    assert found is not None
    return dict(found)


def test_dragged_piece_leaves_a_ghost_and_shows_where_it_may_go(page: Page) -> None:
    open_play(page, "Play random")
    carry(page, "b1", "c3")
    expect(page.locator("piece.ghost.white.knight")).to_be_visible()
    expect(page.locator("square.move-dest:visible")).to_have_count(2)
    expect(page.locator("square.move-dest:hover")).to_have_count(1)
    page.mouse.up()
    expect(page.locator("#movetext [data-ply='1']")).to_have_text("Nc3")
    expect(page.locator("piece.ghost")).to_be_hidden()
    expect(page.locator("square.last-move:visible")).to_have_count(2)


def test_watcher_moves_nothing(page: Page, site: Served) -> None:
    page.goto(f"/games/{chess_game(site, 'e4')}")
    expect_board(page)
    press(page, "e7")
    square(page, "e7").hover(force=True)
    page.mouse.down()
    square(page, "e5").hover(force=True)
    page.mouse.up()
    for part in ("piece.dragging", "square.selected:visible", "square.move-dest:visible"):
        expect(page.locator(part)).to_have_count(0)
    expect(square(page, "e7")).to_have_attribute("aria-label", "e7, black pawn")


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_premove_is_made_at_once_or_forgotten_if_it_is_impossible(browsers: Browsers, by: str) -> None:
    white, black = two_people(browsers)

    def premove(page: Page, uci: str) -> None:
        if by == "mouse":
            drag(page, uci[:2], uci[2:])
        else:
            key_move(page, chess.Move.from_uci(uci))
        expect(page.locator("square.current-premove:visible")).to_have_count(2)

    click_move(white, chess.Move.from_uci("e2e4"))
    expect(white.locator(".status .outcome")).to_have_text("Black to move.")
    premove(white, "d2d4")
    expect(square(white, "d2")).to_have_attribute("aria-label", "d2, white pawn, premove")
    type_move(black, chess.Move.from_uci("e7e5"))
    expect(black.locator("#movetext [data-ply='3']")).to_have_text("d4")
    premove(white, "d4d5")
    type_move(black, chess.Move.from_uci("e5d4"))
    expect(white.locator("#movetext [data-ply='4']")).to_have_text("exd4")
    expect(white.locator("square.current-premove:visible")).to_have_count(0)
    expect(white).to_have_title(re.compile("^Your turn"))
    expect(white.get_by_role("alert")).to_be_hidden()


def test_premove_is_taken_back_by_a_press_beside_it(browsers: Browsers) -> None:
    white, black = two_people(browsers)
    click_move(white, chess.Move.from_uci("e2e4"))
    expect(white.locator(".status .outcome")).to_have_text("Black to move.")
    drag(white, "d2", "d4")
    expect(white.locator("square.current-premove:visible")).to_have_count(2)
    press(white, "e5")
    expect(white.locator("square.current-premove:visible")).to_have_count(0)
    type_move(black, chess.Move.from_uci("e7e6"))
    expect(white).to_have_title(re.compile("^Your turn"))


@pytest.mark.parametrize(("side", "target"), [("white", "a8"), ("black", "h1")])
def test_pieces_to_promote_to_are_those_of_the_mover_and_stand_at_the_target(
    browsers: Browsers, site: Served, side: str, target: str
) -> None:
    white, black = guests(browsers)
    position(site, f"8/P6k/8/8/8/8/6Kp/8 {side[0]} - - 0 1", white, black)
    page = white if side == "white" else black
    start = "a7" if side == "white" else "h2"
    drag(page, start, target)
    pieces = page.get_by_role("dialog").locator(f"piece.{side}")
    expect(pieces).to_have_count(4)
    expect(page.get_by_role("dialog").get_by_role("button").first).to_be_focused()
    first, cell = box(pieces.first), box(square(page, target))
    assert abs(first["x"] - cell["x"]) + abs(first["y"] - cell["y"]) < 6
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(square(page, start)).to_have_attribute("aria-label", re.compile(f"{side} pawn"))


def test_piece_in_hand_is_dragged_to_its_square(browsers: Browsers, site: Served) -> None:
    white, black = guests(browsers)
    fen = "rnbqkbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQKBNR[Pp] w KQkq - 0 3"
    position(site, fen, white, black, variant="crazyhouse")
    white.get_by_role("button", name="Drop a pawn, 1 in hand").hover()
    white.mouse.down()
    square(white, "e4").hover(force=True)
    expect(white.locator("piece.dragging")).to_be_visible()
    white.mouse.up()
    expect(white.locator("#movetext [data-ply='1']")).to_have_text("@e4")


def test_moves_are_heard_unless_the_sound_is_switched_off(browsers: Browsers, site: Served) -> None:
    page = browsers.open()
    page.add_init_script(COUNT_TONES)
    heard = page.locator("html")
    open_play(page, "Play by a link to share")
    game_id = int(page.url.rpartition("/")[2])
    with client_of(site) as client:
        client.join(game_id, player=BLACK)
        click_move(page, chess.Move.from_uci("e2e4"))
        expect(heard).to_have_attribute("data-heard", "1")
        client.move(game_id, "d5", player=BLACK)
        expect(heard).to_have_attribute("data-heard", "2")
        click_move(page, chess.Move.from_uci("e4d5"))
        expect(heard).to_have_attribute("data-heard", "4")  # a capture has two tones
        page.get_by_role("button", name="Sound on").click()
        client.move(game_id, "e5", player=BLACK)
        expect(page).to_have_title(re.compile("^Your turn"))
        expect(heard).to_have_attribute("data-heard", "4")
    page.reload()
    expect(page.get_by_role("button", name="Sound off")).to_be_visible()


def test_clock_is_red_and_heard_below_ten_seconds(browsers: Browsers, site: Served) -> None:
    page = browsers.open()
    open_play(page, "Play by a link to share")
    player = int(re.sub(r"\D", "", page.locator(".account").inner_text()))
    with client_of(site) as client:
        game_id = client.new_game(player, BLACK, clock="12+0")["game_id"]
        page.goto(f"/games/{game_id}")
        expect_board(page)
        client.state(game_id, player=BLACK)
        clock = page.locator(".bar.white .clock")
        expect(clock).to_have_class(re.compile("low"))
        assert float(clock.inner_text()) < 10
        expect(page.locator(".bar.black .clock")).not_to_have_class(re.compile("low"))


@pytest.mark.parametrize("kind", ["Chess", "Reconnaissance blind chess"])
def test_page_of_play_is_light_and_comes_with_its_position(browsers: Browsers, kind: str) -> None:
    page = browsers.open()
    open_play(page, "Play by a link to share", kind)
    answers: list[Any] = []
    fresh = page.context.new_page()
    fresh.on("response", lambda answer: answers.append(answer))
    fresh.goto(page.url)
    expect_board(fresh)
    bodies = [each.body() for each in answers if "event-stream" not in each.headers.get("content-type", "")]
    assert len(answers) <= MOST_REQUESTS
    assert sum(map(len, bodies)) <= MOST_BYTES
    without = browsers.open(javascript=False)
    without.context.add_cookies(page.context.cookies())
    images: list[str] = []
    without.on("request", lambda request: images.append(request.url) if ".svg" in request.url else None)
    without.goto(page.url)
    drawn = without.get_by_role("img", name="Board after ply 0")
    expect(drawn).to_be_visible()
    assert drawn.locator("use").count() == 32
    assert [each for each in images if "icon" not in each] == []
    first, second = box(page.locator("[data-square=e4]")), box(without.locator("rect.e4"))
    assert all(abs(first[name] - second[name]) < 4 for name in first)


def test_board_is_there_while_its_script_is_loading(browsers: Browsers) -> None:
    page = browsers.open()
    open_play(page, "Play by a link to share")
    page.route("**/chessground.min.js", lambda _: None)  # is never answered
    page.goto(page.url, wait_until="commit")
    expect(page.locator("#still svg use").first).to_be_visible()
    assert page.locator("#still svg use").count() == 32
    page.unroute_all(behavior="ignoreErrors")


def test_board_has_its_pieces_while_further_scripts_are_loading(browsers: Browsers) -> None:
    page = browsers.open()
    open_play(page, "Play by a link to share", "Reconnaissance blind chess", color="black")
    page.route("**/aid.js", lambda _: None)  # is never answered
    page.goto(page.url, wait_until="commit")
    expect(page.locator("#still")).to_be_hidden()
    expect(page.locator("#place cg-board piece.black")).to_have_count(16)
    expect(page.locator("#place .cg-wrap.orientation-black")).to_be_visible()
    page.unroute_all(behavior="ignoreErrors")


def test_game_that_waits_for_a_busy_bot_tells_its_place_in_the_queue(chromium: Browser) -> None:
    with served(env=site_environment(bots="random", bot_games="1")) as busy:
        windows = Browsers(chromium, busy.http)
        pages = [windows.open() for _ in range(3)]
        for page in pages:
            open_play(page, "Play random")
        expect(pages[0].locator("#queue")).to_be_hidden()
        places = [page.locator("#queue") for page in pages[1:]]
        loaded = list[str]()
        pages[2].on("request", lambda request: loaded.append(request.url.removeprefix(pages[2].url)))
        for number, place in enumerate(places, 1):
            expect(place).to_have_text(f"Your opponent is a busy bot: this game is number {number} in its queue.")
        pages[1].get_by_text("Call the game off …").click()
        pages[1].get_by_role("button", name="Call the game off").click()
        expect(places[1]).to_have_text("Your opponent is a busy bot: this game is number 1 in its queue.")
        assert "/queue" in loaded
        assert "" not in loaded  # the whole page
        resign(pages[0])
        expect(places[1]).to_be_hidden()
        windows.close()


# --- What a player of blind chess knows -------------------------------------------------------------------------------


def black_plays(site: Served, page: Page, sense: str, move: str) -> None:
    game_id = int(page.url.rpartition("/")[2])
    with client_of(site) as client:
        client.wait(game_id, player=BLACK)
        client.sense(game_id, sense, player=BLACK)
        client.move(game_id, move, player=BLACK)


def blind_play(page: Page, site: Served) -> None:
    """Begin a game of blind chess, and play two turns: White's pawn on e4 is lost."""
    open_play(page, "Play by a link to share", "Reconnaissance blind chess")
    with client_of(site) as client:
        client.join(int(page.url.rpartition("/")[2]), player=BLACK)
    for sense, move, seen, reply in (("e7", "e2e4", "e4", "d7d5"), ("d5", "g1f3", "e4", "d5e4")):
        sense_around(page, sense)
        type_move(page, chess.Move.from_uci(move))
        black_plays(site, page, seen, reply)
    expect(page.locator(".status .outcome")).to_have_text("Your turn: choose the square around which to sense.")


def test_unknown_squares_are_covered_and_remembered_pieces_faded_with_their_age(page: Page, site: Served) -> None:
    blind_play(page, site)
    expect(page.locator(".cell.unseen")).to_have_count(64 - 15)
    expect(page.locator(".cell.lost")).to_have_attribute("data-square", "e4")
    expect(page.locator("square.last-move:visible")).to_have_count(2)
    expect(square(page, "d5")).to_have_attribute("aria-label", "d5, empty, not seen, enemy pawn a turn ago")
    expect(square(page, "d5").locator("piece.black.pawn")).to_have_css("opacity", "0.45")
    expect(square(page, "d5").locator(".age")).to_have_text("1")
    expect(square(page, "h7").locator(".age")).to_have_text("2")
    sense_around(page, "e5")
    expect(page.locator(".cell.window")).to_have_count(9)
    expect(page.locator(".cell.unseen")).to_have_count(64 - 15 - 9)
    expect(square(page, "d5").locator("piece")).to_have_count(0)
    expect(square(page, "e4")).to_have_attribute("aria-label", re.compile("^e4, black pawn"))


def test_earlier_turns_are_looked_at_by_keys_while_the_game_goes_on(page: Page, site: Served) -> None:
    blind_play(page, site)
    turns = page.locator("#turns button")
    expect(turns).to_have_text(
        [
            re.compile("^1. Sensed around e7 and saw .* Asked for e2e4: e2e4 was made.$"),
            "2. The opponent captured nothing. Sensed around d5 and saw a pawn on d5. Asked for g1f3: g1f3 was made.",
            "3. The opponent captured the piece on e4.",
        ]
    )
    sense_around(page, "e5")
    type_move(page, chess.Move.from_uci("a2a3"))
    expect(page.locator(".status .outcome")).to_have_text("Black to move.")
    for key, number, pawn in (("ArrowLeft", 2, "e4"), ("ArrowLeft", 1, "e4"), ("ArrowRight", 2, "e4")):
        page.keyboard.press(key)
        expect(page.locator("#past")).to_contain_text(f"Turn {number}, as you knew it.")
        expect(turns.nth(number - 1)).to_have_attribute("aria-current", "step")
        expect(square(page, pawn)).to_have_attribute("aria-label", re.compile("white pawn"))
    black_plays(site, page, "e4", "a7a6")  # meanwhile
    expect(page).to_have_title(re.compile("^Your turn"))
    expect(turns).to_have_count(4)
    expect(page.locator("#past")).to_contain_text("Turn 2")
    press(page, "e5")  # leads back, and senses nothing
    expect(page.locator("#past")).to_be_hidden()
    expect(page.locator(".status .outcome")).to_have_text("Your turn: choose the square around which to sense.")
    expect(square(page, "e4")).to_have_attribute("aria-label", re.compile("e4, empty"))
    page.reload()
    expect(turns).to_have_count(4)
    page.keyboard.press("Home")
    expect(page.locator("#past")).to_contain_text("Turn 1")
    page.get_by_role("button", name="Back to the game").click()
    expect(page.locator("#past")).to_be_hidden()


def test_earlier_positions_of_chess_are_looked_at_while_the_game_goes_on(browsers: Browsers) -> None:
    white, black = two_people(browsers)
    for ply, san in enumerate(("e4", "e5", "Nf3")):
        page = black if ply % 2 else white
        expect(page).to_have_title(re.compile("^Your turn"))
        type_move(page, chess.Move.from_uci({"e4": "e2e4", "e5": "e7e5", "Nf3": "g1f3"}[san]))
    expect(white.locator("#movetext [data-ply='3']")).to_have_attribute("aria-current", "step")
    for key, ply in (("ArrowLeft", 2), ("ArrowLeft", 1), ("Home", 0), ("ArrowRight", 1)):
        white.keyboard.press(key)
        expect(white.locator("#past")).to_contain_text(f"After ply {ply}.")
    expect(square(white, "e7")).to_have_attribute("aria-label", "e7, black pawn")
    type_move(black, chess.Move.from_uci("b8c6"))  # meanwhile
    expect(white).to_have_title(re.compile("^Your turn"))
    expect(square(white, "b8")).to_have_attribute("aria-label", "b8, black knight")
    white.locator("#movetext [data-ply='2']").click()
    expect(square(white, "e5")).to_have_attribute("aria-label", "e5, black pawn")
    press(white, "d4")
    expect(white.locator("#past")).to_be_hidden()
    expect(square(white, "c6")).to_have_attribute("aria-label", "c6, black knight")
    click_move(white, chess.Move.from_uci("f1b5"))
    expect(white.locator("#movetext [data-ply='5']")).to_have_text("Bb5")


def test_key_steps_back_while_the_answer_to_a_typed_move_is_on_its_way(browsers: Browsers) -> None:
    white, _ = two_people(browsers)
    held: list[Any] = []
    white.route("**/act", lambda route: held.append((route, route.fetch())), times=1)
    type_move(white, chess.Move.from_uci("e2e4"))
    expect(white.locator("#movetext [data-ply='1']")).to_have_text("e4")
    white.locator("#move").dispatch_event("keydown", {"key": "Home"})  # before the page is drawn again
    expect(white.locator("#past")).to_contain_text("After ply 0.")
    for route, answer in held:
        route.fulfill(response=answer)
    white.keyboard.press("End")
    expect(white.locator("#past")).to_be_hidden()


def test_page_of_blind_chess_is_accessible_in_every_look(styled_page: Page, site: Served) -> None:
    blind_play(styled_page, site)
    check_accessible(styled_page)
    styled_page.keyboard.press("ArrowLeft")
    expect(styled_page.locator("#past")).to_be_visible()
    check_accessible(styled_page)


# --- One look ---------------------------------------------------------------------------------------------------------


def test_boards_of_play_replay_and_embedding_look_the_same(browsers: Browsers, site: Served) -> None:
    ended = chess_game(site, *MATE)
    live = chess_game(site, *MATE[:3])
    colors = []
    for path in (f"/games/{ended}", f"/games/{live}"):
        page = browsers.open(path)
        expect(page.locator(".cell")).to_have_count(64)
        colors.append(
            [
                page.locator(f".cell.{each}").first.evaluate("(cell) => getComputedStyle(cell).backgroundColor")
                for each in ("light", "dark")
            ]
        )
        cells, coords = box(page.locator(".place .cells")), box(page.locator("coords.files"))
        assert coords["y"] >= cells["y"] + cells["height"] - 2  # below the pieces, not on them
    drawn = browsers.open(f"/games/{ended}.svg")
    assert [drawn.locator(f"rect.{each}").first.get_attribute("fill") for each in ("light.a8", "dark.b8")] == [
        "#f0d9b5",
        "#b58863",
    ]
    assert colors == [["rgb(240, 217, 181)", "rgb(181, 136, 99)"]] * 2


def test_telephone_shows_the_board_and_the_links_to_plies_together(browsers: Browsers, site: Served) -> None:
    ended, blind = chess_game(site, *MATE, clock="600+0"), recon_game(site, recorded(29))
    page = browsers.open(f"/games/{ended}", device="telephone")
    height = page.viewport_size["height"] if page.viewport_size else 0
    steps = page.get_by_role("navigation", name="Plies")
    assert box(page.locator("figure.board"))["y"] >= 0
    assert box(steps)["y"] + box(steps)["height"] <= height
    page.get_by_role("link", name="Previous").click()
    expect(page.get_by_text("Ply 3 of 4")).to_be_visible()
    assert page.evaluate("scrollY") == 0
    page.goto(f"/games/{blind}?ply=5")
    boards = [box(page.locator("figure.board .place").nth(index)) for index in range(3)]
    assert len({round(each["y"]) for each in boards}) == 1
    assert boards[2]["x"] + boards[2]["width"] <= 390
    page.get_by_role("link", name="White’s view").click()
    expect(page.locator("figure.board")).to_have_count(1)
    assert box(page.locator("figure.board .place"))["width"] > 340
