"""People play in Chromium: against bots and each other, by mouse, keyboard, finger and typing."""

from __future__ import annotations

import random
import re

import chess
import pytest

from tests.browser.chromium import Browsers, Page, check_accessible, expect
from tests.browser.games import BLACK, client_of
from tests.browser.playing import (
    MOST_TURNS,
    Mover,
    choose,
    click_move,
    expect_board,
    key_move,
    moves_of,
    open_play,
    play_chess,
    press,
    resign,
    square,
    type_move,
    until_turn_or_end,
)
from tests.browser.test_following import look_away
from tests.serving import Served

pytestmark = pytest.mark.slow


def two_people(browsers: Browsers, *, variant: str = "", kind: str = "Chess") -> tuple[Page, Page]:
    """Return the pages of two people who play each other: of White, who has shared the link, and of Black."""
    white, black = browsers.open(), browsers.open()
    open_play(white, "Play by a link to share", kind, variant=variant)
    black.goto(white.get_by_label(re.compile("Send this link")).input_value())
    black.get_by_role("button", name="Play Black").click()
    for page in (white, black):
        expect_board(page)
        expect(page.locator(".status .outcome")).to_have_text(re.compile("Your turn|White to move"))
    return white, black


def position(site: Served, fen: str, white: Page, black: Page, **options: object) -> None:
    """Lead two people to a game of theirs that begins with a position."""
    players = [int(re.sub(r"\D", "", page.locator(".account").inner_text())) for page in (white, black)]
    with client_of(site) as client:
        game_id = client.new_game(*players, fen=fen, **options)["game_id"]
    for page in (white, black):
        page.goto(f"/games/{game_id}")
        expect_board(page)


def guests(browsers: Browsers) -> tuple[Page, Page]:
    """Return the pages of two people with cookies."""
    pages = browsers.open(), browsers.open()
    for page in pages:
        open_play(page, "Play by a link to share")
        page.get_by_text("Call the game off …").click()
        page.get_by_role("button", name="Call the game off").click()
        expect(page.locator(".status .outcome")).to_have_text(re.compile("withdrawn"))
    return pages


def test_newcomer_plays_a_whole_game_of_chess_by_mouse(browsers: Browsers) -> None:
    page = browsers.open()
    open_play(page, "Play minimax-beginner")
    play_chess(page, random.Random(1), click_move)
    expect(page.get_by_role("button", name="Rematch")).to_be_visible()


def test_newcomer_plays_a_whole_game_of_blind_chess(browsers: Browsers) -> None:
    page, rng = browsers.open(), random.Random(3)
    open_play(page, "Play random", "Reconnaissance blind chess")
    for turn in range(MOST_TURNS):
        if until_turn_or_end(page) == "end":
            break
        expect(page.locator(".status .outcome")).to_have_text(re.compile("choose the square around which to sense"))
        sensed = rng.choice([each for each in chess.SQUARES if 0 < each % 8 < 7 and 0 < each // 8 < 7])
        square(page, chess.square_name(sensed)).hover(force=True)
        expect(page.locator(".cell.aim")).to_have_count(9)
        press(page, chess.square_name(sensed))
        expect(page.locator(".observed li").last).to_contain_text(f"Sensed around {chess.square_name(sensed)}")
        expect(page.locator(".cell.window")).to_have_count(9)
        if turn % 5 == 4:
            page.get_by_role("button", name="Pass", exact=True).click()
        else:
            (click_move if turn % 2 else key_move)(page, rng.choice(moves_of(page)))
        expect(page.locator(".status .outcome")).not_to_have_text("Your turn to move.")
    else:
        resign(page)
    expect(page.get_by_role("button", name="Rematch")).to_be_visible()
    page.get_by_role("link", name="See the whole game").click()
    expect(page.locator(".board figcaption")).to_have_text(["The truth", "White’s view", "Black’s view"])


def test_two_people_play_dark_chess_and_see_what_their_pieces_attack(browsers: Browsers) -> None:
    white, black = two_people(browsers, variant="dark_chess")
    expect(white.locator("h1")).to_contain_text("Dark chess")
    movers: list[Mover] = [click_move, type_move, key_move]
    for ply, uci in enumerate(["e2e4", "f7f6", "d1h5", "a7a6"]):
        mover = black if ply % 2 else white
        expect(mover).to_have_title(re.compile("^Your turn"))
        movers[ply % 3](mover, chess.Move.from_uci(uci))
    expect(white.locator(".cell.unseen[data-square=b8]")).to_be_visible()
    expect(square(white, "e8")).to_have_attribute("aria-label", "e8, black king")
    expect(square(black, "h5")).to_have_class(re.compile("unseen"))
    click_move(white, chess.Move.from_uci("h5e8"))
    for page in (white, black):
        expect(page.locator(".status .outcome")).to_have_text("1-0 White won by king capture.")
    black.get_by_role("link", name="See the whole game").click()
    expect(black.locator(".board figcaption")).to_have_text(["The truth", "White’s view", "Black’s view"])


def test_two_people_play_each_other_and_both_follow(browsers: Browsers) -> None:
    white, black = two_people(browsers)
    movers: list[Mover] = [click_move, type_move, key_move]
    board = chess.Board()
    for ply, san in enumerate(["f3", "e5", "g4", "Qh4#"]):
        mover, other = (white, black) if board.turn else (black, white)
        expect(mover).to_have_title(re.compile("^Your turn"))
        movers[ply % 3](mover, board.push_san(san))
        for page in (mover, other):
            expect(page.locator(f"#movetext [data-ply='{ply + 1}']")).to_have_text(san)
            expect(page.get_by_label("FEN")).to_have_value(board.fen())
    for page in (white, black):
        expect(page.locator(".status .outcome")).to_have_text("0-1 Black won by checkmate.")
    white.get_by_role("button", name="Rematch").click()
    expect(white.locator(".bar.black .label")).to_have_text("(you)")
    expect(black.locator("#next")).to_contain_text("You have another game: ")
    expect(black.locator("#next a")).to_have_attribute("href", "/games/" + white.url.rpartition("/")[2])
    black.get_by_role("button", name="Rematch").click()
    expect(black).to_have_url(white.url)
    expect(black.locator(".status .outcome")).to_have_text("Your turn to move.")


def test_typing_goes_on_in_the_field_after_the_opponents_move(browsers: Browsers) -> None:
    white, black = two_people(browsers)
    field = white.get_by_label("Your move")
    type_move(white, chess.Move.from_uci("e2e4"))
    expect(field).to_be_hidden()
    click_move(black, chess.Move.from_uci("e7e5"))
    expect(field).to_be_focused()
    expect(field).to_have_value("")


def test_pawn_is_promoted_to_the_piece_that_is_chosen(browsers: Browsers, site: Served) -> None:
    white, black = guests(browsers)
    position(site, "8/P6k/8/8/8/8/6Kp/8 w - - 0 1", white, black)
    press(white, "a7")
    press(white, "a8")
    white.get_by_role("dialog").press("Escape")
    expect(white.locator(".status .outcome")).to_have_text("Your turn to move.")
    click_move(white, chess.Move.from_uci("a7a8n"))
    expect(black.get_by_label("FEN")).to_have_value(re.compile("^N7/7k/"))
    key_move(black, chess.Move.from_uci("h2h1r"))
    expect(white.get_by_label("FEN")).to_have_value(re.compile("/7r w "))


def test_piece_in_hand_is_dropped(browsers: Browsers, site: Served) -> None:
    white, black = guests(browsers)
    fen = "rnbqkbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQKBNR[Pp] w KQkq - 0 3"
    position(site, fen, white, black, variant="crazyhouse")
    white.get_by_role("button", name="Drop a pawn, 1 in hand").click()
    expect(square(white, "e4")).to_have_class(re.compile("target"))
    press(white, "e4")
    expect(white.locator("#movetext [data-ply='1']")).to_have_text("@e4")
    expect(black).to_have_title(re.compile("^Your turn"))  # before, the keys would do nothing
    button = black.get_by_role("button", name="Drop a pawn, 1 in hand")
    button.focus()
    black.keyboard.press("Enter")
    square(black, "e5").focus()
    black.keyboard.press("Enter")
    expect(white.locator("#movetext [data-ply='2']")).to_have_text("@e5")


def test_castling_of_chess960_is_made_by_either_square(browsers: Browsers, site: Served) -> None:
    white, black = guests(browsers)
    for target in ("h1", "g1"):
        position(site, "4k3/8/8/8/8/8/8/4K2R w K - 0 1", white, black, variant="chess960")
        click_move(white, chess.Move.from_uci(f"e1{target}"))
        expect(black.get_by_label("FEN")).to_have_value(re.compile("/5RK1 b "))


def test_refused_move_says_why_and_stays_in_its_field(browsers: Browsers) -> None:
    browsers.allow("status of 4")
    white, _ = two_people(browsers)
    field = white.get_by_label("Your move")
    field.fill("e5")
    field.press("Enter")
    expect(white.get_by_role("alert")).to_contain_text("e5")
    expect(field).to_have_value("e5")
    field.fill("e4")
    field.press("Enter")
    expect(white.locator("#movetext [data-ply='1']")).to_have_text("e4")
    expect(white.get_by_role("alert")).to_be_hidden()
    expect(field).to_have_value("")


def test_marks_for_suspected_pieces_stay_over_turns_and_in_the_browser(browsers: Browsers) -> None:
    white, black = two_people(browsers, kind="Reconnaissance blind chess")
    sent: list[str] = []
    white.on("request", lambda request: sent.append(request.url))
    white.get_by_role("button", name="Mark a queen").click()
    press(white, "d5")
    expect(square(white, "d5")).to_have_attribute("data-suspect", "♛")
    assert sent == []
    white.get_by_role("button", name="Mark a queen").click()
    press(white, "e7")
    type_move(white, chess.Move.from_uci("e2e4"))
    expect(black).to_have_title(re.compile("^Your turn"))
    expect(square(white, "d5")).to_have_attribute("data-suspect", "♛")
    white.reload()
    expect(square(white, "d5")).to_have_attribute("data-suspect", "♛")
    expect(square(black, "d5")).not_to_have_attribute("data-suspect", "♛")
    white.get_by_role("button", name="Erase marks").click()
    press(white, "d5")
    expect(square(white, "d5")).not_to_have_attribute("data-suspect", "♛")


def test_flip_turns_the_board_and_the_players(page: Page) -> None:
    open_play(page, "Play by a link to share")
    expect(page.locator(".cell").first).to_have_attribute("data-square", "a8")
    page.get_by_role("link", name="Flip the board").click()
    expect(page.locator(".cell").first).to_have_attribute("data-square", "h1")
    expect(page.locator("#game")).to_have_class(re.compile("flipped"))


def test_board_of_a_telephone_is_as_wide_as_the_window_and_is_played_by_finger(browsers: Browsers) -> None:
    page = browsers.open(device="telephone")
    open_play(page, "Play random")
    box = page.locator("#place").bounding_box()
    assert box is not None
    assert box["width"] > 370
    square(page, "e2").tap(force=True)
    square(page, "e4").tap(force=True)
    expect(page.locator("#movetext [data-ply='1']")).to_have_text("e4")


@pytest.mark.parametrize("kind", ["Chess", "Reconnaissance blind chess"])
def test_page_of_a_player_is_accessible_in_every_look(styled_page: Page, kind: str) -> None:
    open_play(styled_page, "Play random", kind)
    expect(styled_page).to_have_title(re.compile("^Your turn"))
    check_accessible(styled_page)


def test_blind_game_is_playable_without_javascript(browsers: Browsers, site: Served) -> None:
    page = browsers.open("/", javascript=False)
    for field, value in (("variant", "rbc"), ("opponent", "link"), ("color", "white")):
        choose(page, field, value)
    page.get_by_role("button", name="Play", exact=True).click()
    with client_of(site) as client:
        client.join(int(page.url.rpartition("/")[2]), player=BLACK)
    page.get_by_role("button", name="Look again").click()
    page.get_by_role("button", name="e7", exact=True).click()
    expect(page.locator(".observed")).to_contain_text("Sensed around e7 and saw")
    page.get_by_label("Ask for a move").fill("e2e4")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".observed")).to_contain_text("Asked for e2e4: e2e4 was made.")
    page.get_by_text("Resign …").click()
    page.get_by_role("button", name="Resign the game").click()
    expect(page.get_by_text("Black won by resignation")).to_be_visible()


def test_clocks_start_once_both_players_have_the_page_in_view(browsers: Browsers, site: Served) -> None:
    white, black = browsers.open(), browsers.open()
    open_play(white, "Play by a link to share")
    black.goto(white.url)
    black.get_by_role("button", name="Play Black").click()
    players = [int(re.sub(r"\D", "", page.locator(".account").inner_text())) for page in (white, black)]
    with client_of(site) as client:
        game_id = client.new_game(*players, clock="300")["game_id"]
        black.context.add_init_script(
            "Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })"
        )
        with white.expect_response(re.compile("/act$")):
            white.goto(f"/games/{game_id}")
        black.goto(f"/games/{game_id}")
        expect_board(black)
        client.move(game_id, "e4", player=players[0])
        expect(black.locator(".status .outcome")).to_have_text("Your turn to move.")
        assert client.state(game_id)["state"]["clock"]["black"] == 300.0
        with black.expect_response(re.compile("/act$")) as said:
            look_away(black, "visible")
        assert said.value.status == 200
        while client.state(game_id)["state"]["clock"]["black"] == 300.0:
            pass


def test_page_says_again_that_its_player_is_present_when_that_has_failed(browsers: Browsers, site: Served) -> None:
    page = browsers.open()
    open_play(page, "Play by a link to share")
    player = int(re.sub(r"\D", "", page.locator(".account").inner_text()))
    with client_of(site) as client:
        game_id = client.new_game(player, BLACK, clock="300")["game_id"]
        page.route("**/act", lambda route: route.abort(), times=1)
        browsers.allow("ERR_FAILED|Failed to fetch")
        with page.expect_response(re.compile("/act$")):
            with page.expect_event("requestfailed", lambda request: request.url.endswith("/act")):
                page.goto(f"/games/{game_id}")
            expect_board(page)
            client.move(game_id, "e4", player=player)


def test_game_is_played_by_typing_where_the_moving_board_is_missing(browsers: Browsers) -> None:
    browsers.allow("chessground|ERR_FAILED")
    page = browsers.open()
    page.route("**/chessground.min.js", lambda route: route.abort())
    open_play(page, "Play random")
    for ply, uci in ((1, "e2e4"), (3, "a2a3")):
        before = page.locator("#still img").get_attribute("src")
        type_move(page, chess.Move.from_uci(uci))
        expect(page.locator(f"#movetext [data-ply='{ply}']")).to_be_visible()
        until_turn_or_end(page)
        expect(page.locator("#still img")).not_to_have_attribute("src", before or "")
