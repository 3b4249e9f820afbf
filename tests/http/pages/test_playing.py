"""Playing on a game's page, by forms alone."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from gmd.daemon import Daemon
from gmd.http.pages.new_game import rematch_fields
from gmd.http.pages.visitor import COOKIE
from tests.http.pages.browser import ACCEPT, Browser, Form, Page, browsing, pages
from tests.http.pages.event_reader import cookie_of, pages_at_rest
from tests.http.pages.test_game_page import signed_in
from tests.http.pages.test_home import play_form


async def offered(browser: Browser, variant: str = "standard", color: str = "white", **fields: str) -> Page:
    """Make a game whose link is shared, and return its page."""
    form = play_form(await browser.get("/"), "rbc" if variant == "rbc" else "standard")
    return await browser.submit(form, opponent="link", variant=variant, color=color, **fields)


async def begun(browser: Browser, other: Browser, variant: str = "standard", **fields: str) -> Page:
    """Make a game of two browsers, the first of which has White; return the first one's page."""
    await offered(browser, variant, **fields)
    page = await other.get("/games/1")
    await other.submit(page.form("/games/1/join"), seat="black")
    return await browser.get("/games/1")


def act_form(page: Page, kind: str) -> Form:
    """Return the form of a page for a kind of action."""
    path = page.path.removesuffix("/act")
    fitting = [form for form in page.forms if form.action == f"{path}/act" and form.fields.get("kind") == kind]
    return fitting[-1]  # the last one of those for a sense is typed into


async def act(browser: Browser, kind: str, path: str = "/games/1", **fields: str) -> Page:
    """Load the page of a game, fill in the form for an action, and return the page that follows."""
    return await browser.submit(act_form(await browser.get(path), kind), **fields)


async def state_of(daemon: Daemon, game_id: int = 1) -> dict[str, object]:
    found: dict[str, object] = (await daemon.ask("state", game_id=game_id))["state"]
    return found


async def test_link_is_shown_to_its_maker_and_gives_the_seat_to_whoever_opens_it() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        page = await offered(browser)
        assert f'value="http://127.0.0.1:{daemon.http_port}/games/1"' in page.response.text
        assert "Waiting for a second player." in page.text
        theirs = await other.get("/games/1")
        assert "Send this link" not in theirs.text
        assert theirs.form("/games/1/join").buttons == [("seat", "black")]
        joined = await other.submit(theirs.form("/games/1/join"), seat="black")
        assert joined.path == "/games/1"
        assert "White to move." in joined.text
        assert "Your turn to move." in (await browser.get("/games/1")).text


async def test_visitor_must_sign_in_for_a_seat_where_only_registered_players_play() -> None:
    async with pages(require_registration=True) as (daemon, browser), browsing(daemon) as other:
        await signed_in(daemon, browser, "ann")
        await offered(browser)
        page = await other.get("/games/1")
        assert "/sign-in?next=/games/1" in page.links
        assert "/games/1/join" not in [form.action for form in page.forms]
        await signed_in(daemon, other, "bob")
        page = await other.get("/games/1")
        joined = await other.submit(page.form("/games/1/join"), seat="black")
        assert "White to move." in joined.text


async def test_open_game_is_called_off_by_its_maker() -> None:
    async with pages() as (_, browser):
        await offered(browser)
        page = await act(browser, "call_off")
        assert "The invitation was withdrawn" in page.text


@pytest.mark.parametrize("typed", [" Nf3 ", "g1f3"])
async def test_move_is_typed_in_either_notation(typed: str) -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other)
        page = await act(browser, "move", move=typed)
        assert (page.path, page.response.history[0].status_code) == ("/games/1", 303)
        assert (await state_of(daemon))["last_move"] == "g1f3"
        assert "/games/1?ply=1" in page.links
        assert "Your turn to move." in (await other.get("/games/1")).text


async def test_refused_move_stays_in_the_form_with_the_reason() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other)
        page = await act(browser, "move", move="e5")
        assert page.status == 400
        assert "e5" in act_form(page, "move").fields["move"]
        assert "'e5'" in page.text
        again = await browser.submit(act_form(page, "move"), move="e4")
        assert (again.path, again.status) == ("/games/1", 200)
        assert (await state_of(daemon))["ply_index"] == 1


async def test_form_of_a_page_that_is_out_of_date_says_so() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        old = act_form(await begun(browser, other), "move")
        await browser.submit(old, move="e4")
        await act(other, "move", move="e5")
        late = await browser.submit(old, move="d4")
        assert late.status == 409
        assert (await state_of(daemon))["ply_index"] == 2
        assert "The game has gone on since this page was made: this is how it stands now." in late.text
        again = await browser.submit(old, move="e4")  # but a form that is sent twice has acted once
        assert again.status == 200
        assert (await state_of(daemon))["ply_index"] == 2


async def test_resignation_takes_a_second_step() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        page = await begun(browser, other)
        assert "<summary>Resign" in page.response.text
        page = await browser.submit(act_form(page, "resign"))
        assert "Black won by resignation." in page.text
        assert page.form("/games/1/rematch")


async def test_draw_is_offered_with_a_move_and_accepted() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other)
        page = await act(browser, "move", move="e4", offer_draw="1")
        assert "You have offered a draw." in page.text
        theirs = await other.get("/games/1")
        assert "Your opponent offers a draw." in theirs.text
        await other.submit(act_form(theirs, "accept_draw"))
        assert (await state_of(daemon))["termination"] == "draw_agreed"


async def test_draw_is_claimed_on_the_third_repetition() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other)
        state = await state_of(daemon)
        for move, color in (("Nf3", "white"), ("Nf6", "black"), ("Ng1", "white"), ("Ng8", "black")) * 2:
            await daemon.ask("move", game_id=1, player=state[f"player_{color}"], move=move)
        page = await act(browser, "claim_draw")
        assert "Draw claimed by White" in page.text


async def test_stranger_can_do_nothing() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other, browsing(daemon) as stranger:
        await begun(browser, other)
        page = await stranger.get("/games/1")
        assert [form.action for form in page.forms] == []
        answer = await stranger.post("/games/1/act", {"kind": "resign"})
        assert answer.status_code == 403
        assert (await stranger.post("/games/1/join", {"seat": ""})).status_code == 409
        assert (await stranger.post("/games/9/act", {"kind": "resign"})).status_code == 404


@pytest.mark.slow
async def test_player_whose_game_waits_for_a_busy_bot_learns_its_place() -> None:
    async with (
        pages(bots="random", bot_games=1, bot_idle_timeout=10_000) as (daemon, browser),
        browsing(daemon) as other,
    ):
        (bot,) = (player for player, _ in daemon.roster.bots())
        for each in (browser, other):
            await each.submit(play_form(await each.get("/"), "standard"), opponent=f"bot:{bot}")
        assert "this game is number 1 in its queue" in (await other.get("/games/2")).text
        asked = [(browser, 1), (browser, 2), (other, 1), (other, 2)]
        answers = [(await each.client.get(f"/games/{game_id}/queue")).json() for each, game_id in asked]
        assert [each["ahead"] for each in answers] == [None, None, None, 0]


# --- Blind games ------------------------------------------------------------------------------------------------------


async def test_blind_game_is_played_by_forms() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        page = await begun(browser, other, "rbc")
        assert "fen" not in page.ids  # it would be no position: what the player cannot see is missing
        assert "Your turn: choose the square around which to sense." in page.text
        (board,) = (form for form in page.forms if len(form.buttons) == 64)
        assert board.buttons[0] == ("square", "a8")
        page = await browser.submit(board, square="e7")
        assert "Sensed around e7 and saw" in page.text
        page = await browser.submit(act_form(page, "move"), move="E2-E4")
        assert "Asked for e2e4: e2e4 was made." in page.text
        theirs = await other.get("/games/1")
        (board,) = (form for form in theirs.forms if len(form.buttons) == 64)
        assert board.buttons[0] == ("square", "h1")
        await other.submit(act_form(theirs, "sense_nothing"))
        page = await act(other, "pass")
        assert "Passed." in page.text
        assert (await state_of(daemon))["ply_index"] == 2


# --- First contact ----------------------------------------------------------------------------------------------------


async def contacted(daemon: Daemon) -> list[bool]:
    """Return whether Black and White have made first contact in game 1."""
    return (await daemon.arbiter.live_game(1)).game.contacted


#: What any page on any site can make a browser ask for.
ADDRESSES = ("", "?ply=0", "?part=1", ".svg", ".png", ".json", ".pgn", ".history.json", "/aid", "/queue", "/events")


async def test_player_whom_another_site_makes_load_its_game_loses_no_time(mock_clock: MockClock) -> None:
    """An image, a page that is loaded in advance, a stream of events: none shows that the player is there."""
    async with pages_at_rest(mock_clock, start_timeout=1_000) as (daemon, browser):
        ann = await signed_in(daemon, browser, "ann")
        players = {"player": ann, "player_white": ann, "player_black": None}
        await daemon.ask_as_operator("new_game", **players, variant="rbc", clock="60")
        await daemon.ask("join", player=1, game_id=1)
        for address in ADDRESSES:
            path = f"/games/1{address}"
            for headers in ({"accept": ACCEPT}, {"accept": "image/*"}, {"sec-purpose": "prefetch"}):
                async with browser.client.stream("GET", path, headers=headers):
                    assert await contacted(daemon) == [True, False], address
            await browser.client.head(path)
            assert await contacted(daemon) == [True, False], address
        mock_clock.jump(100.0)
        assert (await state_of(daemon))["result"] == "*"


async def test_player_without_scripts_is_present_once_it_looks_again() -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("new_game", player_white=1, player_black=2, clock="180+2")
        browser.client.cookies.set(COOKIE, cookie_of(daemon, 2))
        page = await browser.get("/games/1")
        assert await contacted(daemon) == [False, False]
        again = await browser.submit(act_form(page, "ready"))
        assert (again.status, again.path) == (200, "/games/1")
        assert await contacted(daemon) == [True, False]


async def test_player_of_both_seats_is_present_for_both() -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("new_game", player_white=1, player_black=1, variant="rbc", clock="180+2")
        browser.client.cookies.set(COOKIE, cookie_of(daemon, 1))
        again = await act(browser, "ready", "/games/1?view=black")
        assert str(again.response.url).endswith("/games/1?view=black")
        assert await contacted(daemon) == [True, True]


async def test_script_that_says_its_player_is_ready_gets_the_view() -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("new_game", player_white=1, player_black=2, clock="180+2")
        await daemon.ask("wait", player=2, game_id=1, timeout=0)
        browser.client.cookies.set(COOKIE, cookie_of(daemon, 1))
        form = act_form(await browser.get("/games/1"), "ready")
        answer = await browser.post(form.action, {**form.fields, "since": "0"}, accept="application/json")
        assert answer.status_code == 200
        assert (answer.json()["seat"], answer.json()["clock"]["running"]) == ("white", "white")
        assert await contacted(daemon) == [True, True]


async def test_forged_request_does_not_show_that_the_player_is_present() -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("new_game", player_white=1, player_black=2, clock="180+2")
        browser.client.cookies.set(COOKIE, cookie_of(daemon, 1))
        form = act_form(await browser.get("/games/1"), "ready")
        for csrf, headers in (("", {}), ("0" * 64, {}), (None, {"sec_fetch_site": "cross-site"})):
            fields = form.fields if csrf is None else {**form.fields, "csrf": csrf}
            assert (await browser.post(form.action, fields, **headers)).status_code == 403
            assert await contacted(daemon) == [False, False]


async def test_forms_that_make_and_join_a_game_show_that_their_players_are_present() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await offered(browser, clock="180+2")
        assert await contacted(daemon) == [False, True]
        page = await other.get("/games/1")
        await other.submit(page.form("/games/1/join"), seat="black")
        assert await contacted(daemon) == [True, True]


# --- Invitations and rematches ----------------------------------------------------------------------------------------


async def invited(daemon: Daemon, browser: Browser, other: Browser) -> None:
    """Sign both in, and let the first one invite the other one to play Black."""
    bob = await signed_in(daemon, other, "bob")
    ann = await signed_in(daemon, browser, "ann")
    await daemon.ask_as_operator("new_game", player=ann, player_white=ann, player_black=bob)


async def test_invited_player_accepts_on_the_page_of_the_game() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await invited(daemon, browser, other)
        mine = await browser.get("/games/1")
        assert "The game begins when your opponent accepts." in mine.text
        theirs = await other.get("/games/1")
        assert "You are invited to play Black." in theirs.text
        joined = await other.submit(theirs.form("/games/1/join"))
        assert "White to move." in joined.text


async def test_invited_player_declines() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await invited(daemon, browser, other)
        page = await act(other, "call_off")
        assert "The invitation was declined" in page.text


async def test_rematch_of_guests_is_one_game_with_the_colours_changed() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other, "rbc", clock="300+3")
        over = await act(browser, "resign")
        early = await other.get("/games/1")
        page = await browser.submit(over.form("/games/1/rematch"))
        assert page.path == "/games/2"
        theirs = await other.submit(early.form("/games/1/rematch"))
        assert theirs.path == "/games/2"
        first, second = await state_of(daemon, 1), await state_of(daemon, 2)
        assert (second["player_white"], second["player_black"]) == (first["player_black"], first["player_white"])
        assert (second["variant"], second["clock"] is not None) == ("rbc", True)
        assert "Your turn" in theirs.text


async def test_rematch_of_registered_players_is_an_invitation() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await signed_in(daemon, other, "bob")
        await signed_in(daemon, browser, "ann")
        await begun(browser, other)
        over = await act(browser, "resign")
        page = await browser.submit(over.form("/games/1/rematch"))
        assert "The game begins when your opponent accepts." in page.text
        theirs = await other.submit((await other.get("/games/1")).form("/games/1/rematch"))
        assert theirs.path == "/games/2"
        assert (await state_of(daemon, 2))["phase"] == "move"


async def test_rematch_of_a_blind_game_against_oneself() -> None:
    async with pages() as (daemon, browser):
        await offered(browser, "rbc")
        player = (await state_of(daemon))["player_white"]
        await daemon.ask("join", game_id=1, player=player, seat="black")
        await daemon.ask("end_game", game_id=1, player=player, termination="resignation_white")
        page = await browser.submit((await browser.get("/games/1")).form("/games/1/rematch"))
        assert (page.status, page.path) == (200, "/games/2")
        again = await browser.submit((await browser.get("/games/1")).form("/games/1/rematch"))
        assert again.path == "/games/2"


async def test_rematches_asked_for_at_once_are_one_game() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other)
        await act(browser, "resign")
        forms = [(each, (await each.get("/games/1")).form("/games/1/rematch")) for each in (browser, other)]
        paths = []

        async def ask(asker: Browser, form: Form) -> None:
            paths.append((await asker.submit(form)).path)

        async with trio.open_nursery() as nursery:
            for each in forms:
                nursery.start_soon(ask, *each)
        assert paths == ["/games/2", "/games/2"]


async def test_rematch_of_a_game_in_progress_is_refused() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other, browsing(daemon) as stranger:
        page = await begun(browser, other)
        csrf = act_form(page, "move").fields["csrf"]
        answer = await browser.post("/games/1/rematch", {"csrf": csrf})
        assert answer.status_code == 409
        assert "This game is not over" in Page(answer).text
        assert (await stranger.post("/games/1/rematch", {"csrf": ""})).status_code == 403


# --- Scripts ----------------------------------------------------------------------------------------------------------


async def test_script_gets_the_live_view_or_the_refusal_as_json() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        form = act_form(await begun(browser, other), "move")
        good = await browser.post(form.action, {**form.fields, "move": "e4", "since": "0"}, accept="application/json")
        assert good.status_code == 200
        view = good.json()
        assert (view["ply"], view["seat"], [move["san"] for move in view["moves"]]) == (1, "white", ["e4"])
        assert view["can"]["phase"] == "wait"
        bad = await browser.post(form.action, {**form.fields, "move": "e5", "ply": "1"}, accept="application/json")
        assert bad.status_code == 409
        assert bad.json()["code"] == "not_your_turn"
        stale = await browser.post(form.action, {**form.fields, "move": "d4"}, accept="application/json")
        assert stale.json()["error"] == "The game has gone on since this page was made: this is how it stands now."
        assert bad.headers["cache-control"] == "no-store"


def test_rematch_has_the_options_of_the_game_and_a_new_start_position() -> None:
    options = {"variant": "standard", "fen": "x", "position": None, "draws": "claimed", "clock": None}
    assert rematch_fields(options) == {"variant": "standard", "fen": "x", "draws": "claimed", "clock": None}
    assert rematch_fields({**options, "variant": "chess960"}) == {
        "variant": "chess960",
        "draws": "claimed",
        "clock": None,
    }
