"""Who a page is for: guests, registered players, and the cookies that name them."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from gmd.daemon import Daemon
from gmd.event_log.directory import SESSION_KEY, DataError
from gmd.event_log.interface import LogFailed
from gmd.event_log.opening import open_store
from gmd.http.pages import session_key as session_keys
from gmd.http.pages.session_key import session_key
from gmd.http.pages.visitor import (
    COOKIE,
    FIRST_GUEST,
    LAST_GUEST,
    LEFT_COOKIE,
    NOBODY,
    SESSION_SECONDS,
    Sessions,
)
from gmd.players.account import FIRST_PLAYER, MOST_ENDED
from tests.http.pages.browser import Browser, browsing, pages
from tests.postgres import new_term
from tests.tls import Certificates

PASSWORD = "correct horse"


def sessions_of(daemon: Daemon) -> Sessions:
    assert daemon.http is not None
    assert daemon.http.site is not None
    return daemon.http.site.sessions


async def sign_in(browser: Browser, name: str = "ann", password: str = PASSWORD) -> httpx.Response:
    form = (await browser.get("/sign-in")).form("/sign-in")
    return (await browser.submit(form, name=name, password=password)).response


def set_cookie(response: httpx.Response) -> str:
    """Return the header that set a cookie, in the answer before the redirect."""
    found: str = response.history[0].headers["set-cookie"]
    return found


async def test_looking_sets_no_cookie_and_playing_makes_a_guest_who_stays_the_same() -> None:
    async with pages() as (daemon, browser):
        for path in ("/", "/sign-in", "/register"):
            assert "set-cookie" not in (await browser.get(path)).response.headers
        await browser.submit((await browser.get("/")).form("/play", variant="standard"), opponent="link")
        guest = sessions_of(daemon).read(browser.client.cookies[COOKIE])
        assert guest.player is not None
        assert FIRST_GUEST <= guest.player < LAST_GUEST
        assert not guest.registered
        await browser.submit((await browser.get("/")).form("/play", variant="rbc"), opponent="link")
        rows = (await daemon.ask("games", player=guest.player))["games"]
        assert [row["variant"] for row in rows] == ["rbc", "standard"]
        assert guest.name in (await browser.get("/")).text


@pytest.mark.parametrize("secret", ["password", "key"])
async def test_registered_player_signs_in_and_out(secret: str) -> None:
    async with pages() as (daemon, browser):
        reply = await daemon.ask("register", name="ann", password=PASSWORD)
        page = await sign_in(browser, password=PASSWORD if secret == "password" else reply["key"])
        assert set_cookie(page).endswith("; HttpOnly; Max-Age=7776000; Path=/; SameSite=lax")
        home = await browser.get("/")
        assert "Signed in as ann" in home.text
        await browser.submit(home.form("/sign-out"))
        assert COOKIE not in browser.client.cookies
        assert "Signed in" not in (await browser.get("/")).text


async def test_wrong_password_is_refused_and_counted_like_everywhere_else() -> None:
    async with pages(max_failures_per_minute=1) as (daemon, browser):
        await daemon.ask("register", name="ann", password=PASSWORD)
        refused = await sign_in(browser, password="battery staple")
        assert (refused.status_code, COOKIE in browser.client.cookies) == (403, False)
        assert "Name and password do not belong together. Check both." in refused.text
        assert 'value="ann"' in refused.text
        assert "battery" not in refused.text
        busy = await sign_in(browser, password="battery staple")
        assert busy.status_code == 503
        assert int(busy.headers["retry-after"]) > 0
        unknown = await sign_in(browser, name="nobody-at-all")
        assert unknown.status_code == 503


async def test_newcomer_registers_and_is_signed_in() -> None:
    async with pages() as (daemon, browser):
        form = (await browser.get("/register?next=/sign-in")).form("/register")
        differing = await browser.submit(form, name="ann", password=PASSWORD, again="another one")
        assert differing.status == 400
        assert "The two passwords differ: type the same one twice." in differing.text
        short = await browser.submit(form, name="ann", password="short", again="short")
        assert "5 characters are not between 8 and 256." in short.text
        made = await browser.submit(form, name="ann", password=PASSWORD, again=PASSWORD)
        assert (made.path, COOKIE in browser.client.cookies) == ("/sign-in", True)
        assert (await daemon.ask("hello", name="ann", password=PASSWORD))["player"] == FIRST_PLAYER
        async with browsing(daemon) as other:
            taken = await other.submit(form, name="Ann", password=PASSWORD, again=PASSWORD, csrf="")
            assert taken.status == 400
            assert "taken" in taken.text


async def test_newcomer_with_the_link_registers_and_is_shown_how_to_connect_a_bot() -> None:
    async with pages(invite="spring term") as (daemon, browser):
        form = (await browser.get("/register")).form("/register")
        refused = await browser.submit(form, name="ann", password=PASSWORD, again=PASSWORD, invite="autumn")
        assert (refused.status, "The code is wrong" in refused.text) == (400, True)
        form = (await browser.get("/register?invite=spring%20term")).form("/register")
        assert form.fields["invite"] == "spring term"
        made = await browser.submit(form, name="ann", password=PASSWORD, again=PASSWORD)
        key = re.search(r"Your key is ([\w-]{43})", made.text)
        assert key is not None
        assert (await daemon.ask("hello", name="ann", key=key[1]))["player"] == FIRST_PLAYER
        assert f'run(MyBot(), name="ann", key="{key[1]}")' in made.text
        assert f"--server-url http://127.0.0.1:{daemon.http_port} --username ann" in made.text
        assert "Signed in as" in (await browser.get("/")).text


async def test_register_page_says_that_only_the_operator_registers() -> None:
    async with pages(max_registrations_per_hour=0) as (_, browser):
        page = await browser.get("/register")
        assert "the operator registers the players" in page.text
        assert [form.action for form in page.forms] == []
        fields = {"name": "ann", "password": PASSWORD, "again": PASSWORD}
        assert (await browser.post("/register", fields)).status_code == 400


@pytest.mark.parametrize("change", ["rekey", "revoke"])
async def test_cookie_is_worthless_once_the_key_changes(change: str) -> None:
    async with pages() as (daemon, browser):
        player = (await daemon.ask("register", name="ann", password=PASSWORD))["player"]
        await sign_in(browser)
        assert "Signed in as ann" in (await browser.get("/")).text
        await daemon.ask_as_operator(change, player=player)
        assert "Signed in" not in (await browser.get("/")).text
        refused = await browser.post("/play", {"opponent": "name", "name": "bob"})
        assert refused.status_code != 303


async def test_forged_stale_and_foreign_cookies_name_nobody() -> None:
    async with pages() as (daemon, _), pages() as (other, _):
        await daemon.ask("register", name="ann", password=PASSWORD)
        sessions = sessions_of(daemon)
        value = sessions.issue(FIRST_PLAYER)
        assert sessions.read(value).name == "ann"
        player, _, issued, nonce, signature = value.split(".")
        later = str(int(issued) + 1)
        for forged in (
            f"{FIRST_PLAYER + 1}.0.{issued}.{nonce}.{signature}",
            f"{player}.0.{later}.{nonce}.{signature}",
            f"{player}.0.{issued}.{'0' * 32}.{signature}",
            f"{player}.0.{issued}.{nonce}.{'0' * 64}",
            f"{player}.0.{issued}.{nonce}.",
            f"{player}.1.{issued}.{nonce}.{signature}",
            f"0.0.{issued}.{nonce}.{signature}",
            f"0{value}",
            f"{value}\n",
            f"{value}.",
            value.upper(),
            "٣" + value[1:],
            "",
            "x" * 100_000,
        ):
            assert sessions.read(forged) == NOBODY
        assert sessions.read(None) == NOBODY
        assert sessions_of(other).read(value) == NOBODY  # signed with another key
        guest = sessions.issue(FIRST_GUEST)
        assert sessions.read(guest).player == FIRST_GUEST
        assert sessions.read(guest.replace(str(FIRST_GUEST), str(FIRST_PLAYER), 1)) == NOBODY


async def test_unregistered_id_in_the_range_of_players_names_nobody() -> None:
    """A cookie outlives the player where another log is put into the directory."""
    async with pages() as (daemon, _):
        sessions = sessions_of(daemon)
        assert sessions.read(sessions.issue(FIRST_PLAYER)) == NOBODY


async def test_guests_cannot_act_where_players_must_register() -> None:
    async with pages(require_registration=True) as (daemon, browser):
        home = await browser.get("/")
        assert "On this server registered players play" in home.text
        assert [form.action for form in home.forms] == []
        refused = await browser.post("/play", {"opponent": "link"})
        assert refused.status_code == 403
        assert "Only registered players play here" in refused.text
        await daemon.ask("register", name="ann", password=PASSWORD)
        await sign_in(browser)
        await browser.submit((await browser.get("/")).form("/play", variant="rbc"), opponent="link")
        assert len((await daemon.ask("games"))["games"]) == 1


async def test_cookie_is_secure_under_tls(certificates: Certificates) -> None:
    async with pages(tls_cert=str(certificates.cert), tls_key=str(certificates.key)) as (daemon, _):
        address = f"https://localhost:{daemon.http_port}"
        async with httpx.AsyncClient(base_url=address, verify=certificates.trust(), trust_env=False) as client:
            answer = await client.post("/play", data={"opponent": "link"}, headers={"origin": address})
            assert answer.headers["set-cookie"].endswith("; Path=/; SameSite=lax; Secure")


@pytest.mark.parametrize(("trusted", "secure"), [("127.0.0.1", True), ("192.0.2.1", False)])
async def test_cookie_is_secure_behind_a_trusted_proxy_that_has_tls(trusted: str, secure: bool) -> None:
    async with pages(trusted_proxies=trusted) as (_, browser):
        answer = await browser.post("/play", {"opponent": "link"}, x_forwarded_proto="https")
        assert ("Secure" in set_cookie(answer)) is secure


# --- Spectators who have the key --------------------------------------------------------------------------------

SPECTATING = {"spectate": "live", "spectator_key": "sesame", "require_registration": True}


async def live_clocks(browser: Browser) -> str:
    page = await browser.get("/")
    return page.text.partition("Games being played")[2].partition("Finished lately")[0]


async def test_spectator_with_the_key_sees_live_games_in_full() -> None:
    async with pages(**SPECTATING) as (daemon, browser), browsing(daemon) as other:
        white, black = [await daemon.ask("register", name=name, password=PASSWORD) for name in ("ann", "bob")]
        seats = {"player_white": white["player"], "player_black": black["player"]}
        game = await daemon.ask_as_operator("new_game", player=white["player"], variant="rbc", clock="900+5", **seats)
        await daemon.ask_as_operator("join", player=black["player"], game_id=game["game_id"])
        assert "ann – bob –" in await live_clocks(browser)
        wrong = await browser.submit((await browser.get("/sign-in")).form("/spectate"), spectator_key="guess")
        assert wrong.status == 403
        assert "The key is wrong, or this server has none; ask the operator for it." in wrong.text
        watching = await browser.submit((await browser.get("/sign-in")).form("/spectate"), spectator_key="sesame")
        assert "Watching live games in full" in watching.text
        assert "ann 15:00 bob 15:00" in await live_clocks(browser)
        await sign_in(browser)  # and a player sees its own game from its seat
        assert "ann 15:00 bob –" in await live_clocks(browser)
        await browser.submit((await browser.get("/")).form("/sign-out"))
        assert "ann – bob –" in await live_clocks(browser)
        await sign_in(other)
        assert "ann 15:00 bob –" in await live_clocks(other)


async def test_guesses_at_the_spectator_key_are_limited() -> None:
    async with pages(**SPECTATING, max_failures_per_minute=1) as (_, browser):
        form = (await browser.get("/sign-in")).form("/spectate")
        statuses = [(await browser.submit(form, spectator_key=key)).status for key in ("one", "two", "sesame")]
        assert statuses == [403, 503, 503]


@pytest.mark.slow
async def test_cookie_of_a_spectator_is_worthless_once_the_key_changes(tmp_path: Path) -> None:
    settings = {**SPECTATING, "data": str(tmp_path)}
    async with pages(**settings) as (_, browser):
        await browser.submit((await browser.get("/sign-in")).form("/spectate"), spectator_key="sesame")
        cookie = browser.client.cookies[COOKIE]
    for key, watching in (("sesame", True), ("another", False)):
        async with pages(**{**settings, "spectator_key": key}) as (daemon, _):
            assert sessions_of(daemon).read(cookie).oversees is watching


@pytest.mark.parametrize("settings", [{}, {"spectate": "live"}, {"spectator_key": "sesame"}])
async def test_key_is_not_asked_for_where_it_shows_nothing_more(settings: dict[str, str]) -> None:
    async with pages(**settings) as (_, browser):
        assert "/spectate" not in [form.action for form in (await browser.get("/sign-in")).forms]
        answer = await browser.post("/spectate", {"spectator_key": "sesame"})
        assert COOKIE not in answer.headers.get("set-cookie", "")
        assert COOKIE not in browser.client.cookies


# --- Signing out -----------------------------------------------------------------------------------------------------


async def test_copied_cookie_of_a_registered_player_acts_no_more_after_sign_out_nor_after_a_restart(
    tmp_path: Path,
) -> None:
    async with pages(data=str(tmp_path)) as (daemon, browser), browsing(daemon) as elsewhere:
        await daemon.ask("register", name="ann", password=PASSWORD)
        for each in (browser, elsewhere):
            await sign_in(each)
        copy, other = browser.client.cookies[COOKIE], elsewhere.client.cookies[COOKIE]
        form = (await browser.get("/")).form("/sign-out")
        await browser.submit(form)
        browser.client.cookies.set(COOKIE, copy)
        await browser.post("/play", {"opponent": "link", "csrf": form.fields["csrf"]})
        (made,) = (await daemon.ask("games"))["games"]
        assert FIRST_PLAYER not in (made["player_white"], made["player_black"])
        assert "Signed in as ann" in (await elsewhere.get("/")).text
    async with pages(data=str(tmp_path)) as (daemon, _):
        assert [sessions_of(daemon).read(cookie).registered for cookie in (copy, other)] == [False, True]


@pytest.mark.slow
async def test_many_sign_outs_end_all_cookies_of_a_player_and_take_no_more_room() -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("register", name="ann", password=PASSWORD)
        sessions = sessions_of(daemon)
        cookies = [sessions.issue(FIRST_PLAYER) for _ in range(2 * MOST_ENDED)]
        for number, cookie in enumerate(cookies):
            await sessions.end(cookie)
            ended = [each for each in cookies if not sessions.read(each).registered]
            assert ended == (cookies[: number + 1] if number < MOST_ENDED else cookies)
        await sign_in(browser)
        assert "Signed in as ann" in (await browser.get("/")).text


@pytest.mark.parametrize("kind", ["guest", "spectator"])
async def test_copied_cookie_of_a_guest_or_a_spectator_acts_no_more_after_sign_out_nor_after_a_restart(
    kind: str, tmp_path: Path
) -> None:
    settings = {"data": str(tmp_path), **(SPECTATING if kind == "spectator" else {})}

    async def known(browser: Browser) -> str:
        if kind == "guest":
            await browser.submit((await browser.get("/")).form("/play", variant="standard"), opponent="link")
        else:
            await browser.submit((await browser.get("/sign-in")).form("/spectate"), spectator_key="sesame")
        return browser.client.cookies[COOKIE]

    async with pages(**settings) as (daemon, browser), browsing(daemon) as elsewhere:
        cookies = await known(browser), await known(elsewhere)
        sessions = sessions_of(daemon)
        assert NOBODY not in map(sessions.read, cookies)
        await browser.submit((await browser.get("/guest" if kind == "guest" else "/")).form("/sign-out"))
        assert [sessions.read(cookie) == NOBODY for cookie in cookies] == [True, False]
    async with pages(**settings) as (daemon, _):
        assert [sessions_of(daemon).read(cookie) == NOBODY for cookie in cookies] == [True, False]


async def test_guests_who_leave_do_not_bring_back_a_spectators_ended_cookie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_keys, "MOST_STORED", 3)
    async with pages(**SPECTATING) as (daemon, _):
        sessions = sessions_of(daemon)
        spectator = sessions.issue(None, oversees=True)
        guests = [sessions.issue(FIRST_GUEST + number) for number in range(5)]
        for cookie in (spectator, *guests):
            await sessions.end(cookie)
        assert sessions.read(spectator) == NOBODY
        assert [sessions.read(guest) == NOBODY for guest in guests] == [False, False, True, True, True]


async def test_sign_out_that_cannot_be_stored_is_reported_and_can_be_repeated(tmp_path: Path) -> None:
    async with pages(data=str(tmp_path)) as (daemon, browser):
        await browser.submit((await browser.get("/")).form("/play", variant="standard"), opponent="link")
        cookie = browser.client.cookies[COOKIE]
        blocker = (tmp_path / SESSION_KEY).with_suffix(".new")
        blocker.mkdir()
        failed = await browser.submit((await browser.get("/guest")).form("/sign-out"))
        assert (failed.status, sessions_of(daemon).read(cookie) == NOBODY) == (500, False)
        blocker.rmdir()
        await browser.submit((await browser.get("/guest")).form("/sign-out"))
        assert sessions_of(daemon).read(cookie) == NOBODY


async def test_key_that_was_removed_is_not_written_back_by_a_sign_out(tmp_path: Path) -> None:
    async with pages(data=str(tmp_path)) as (daemon, browser):
        await browser.submit((await browser.get("/")).form("/play", variant="standard"), opponent="link")
        (tmp_path / SESSION_KEY).unlink()
        cookie = browser.client.cookies[COOKIE]
        await browser.submit((await browser.get("/guest")).form("/sign-out"))
        assert sessions_of(daemon).read(cookie) == NOBODY
    assert not (tmp_path / SESSION_KEY).exists()


# --- Guests who have a name, leave and come back ----------------------------------------------------------------------


async def test_guest_has_the_name_that_it_chose_and_the_same_session(tmp_path: Path) -> None:
    async with pages(data=str(tmp_path)) as (daemon, browser):
        form = (await browser.get("/")).form("/play", variant="standard")
        await browser.submit(form, opponent="link", nickname="Zoë")
        guest = sessions_of(daemon).read(browser.client.cookies[COOKIE])
        assert (guest.name, guest.nickname) == ("Zoë (guest)", "Zoë")
        (row,) = (await daemon.ask("games"))["games"]
        opened = await browser.get(f"/games/{row['game_id']}")
        renamed = await browser.submit((await browser.get("/guest")).form("/guest"), nickname="Kim")
        assert "Kim (guest)" in renamed.text
        assert "Zoë" not in renamed.text
        await browser.submit(opened.form(f"{opened.path}/act", kind="call_off"))  # a page of before, with its token
        assert (await daemon.ask("games", status="over"))["games"] != []
        cookie = browser.client.cookies[COOKIE]
    async with pages(data=str(tmp_path)) as (_, browser):
        assert "Kim" not in (await browser.get(f"/players/{guest.player}")).text
        browser.client.cookies.set(COOKIE, cookie)
        assert "Kim (guest)" in (await browser.get("/")).text
        unnamed = await browser.submit((await browser.get("/guest")).form("/guest"), nickname="")
        assert f"Guest {guest.player}" in unnamed.text


@pytest.mark.parametrize("name", ["x" * 25, " ", "a  b", "<b>", "Ann\N{RIGHT-TO-LEFT OVERRIDE}", "-a", "a\nb"])
async def test_name_that_cannot_be_shown_as_it_is_is_refused(name: str) -> None:
    async with pages() as (_, browser):
        form = (await browser.get("/")).form("/play", variant="standard")
        assert (await browser.submit(form, opponent="link", nickname=name)).status == 400
        assert COOKIE not in browser.client.cookies


async def test_registered_player_has_no_nickname() -> None:
    async with pages() as (daemon, browser):
        await daemon.ask("register", name="ann", password=PASSWORD)
        await sign_in(browser)
        await browser.post("/play", {"opponent": "link", "nickname": "Kim", "csrf": csrf_of(daemon, browser)})
        assert "Signed in as ann" in (await browser.get("/")).text
        assert "Kim" not in (await browser.get("/")).text


def csrf_of(daemon: Daemon, browser: Browser) -> str:
    return sessions_of(daemon).read(browser.client.cookies[COOKIE]).csrf


async def test_guest_who_has_left_comes_back_once_and_only_in_its_browser() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as elsewhere:
        form = (await browser.get("/")).form("/play", variant="standard")
        await browser.submit(form, opponent="link", nickname="Kim")
        before = sessions_of(daemon).read(browser.client.cookies[COOKIE])
        leaving = await browser.get("/guest")
        assert "A game of yours is not over. Clocks run on after you have left." in leaving.text
        home = await browser.submit(leaving.form("/sign-out"))
        assert COOKIE not in browser.client.cookies
        left = browser.client.cookies[LEFT_COOKIE]
        assert sessions_of(daemon).read(left) == NOBODY
        assert (await elsewhere.post("/come-back", {"csrf": ""})).status_code == 403
        await browser.submit(home.form("/come-back"))
        after = sessions_of(daemon).read(browser.client.cookies[COOKIE])
        assert (after.player, after.name) == (before.player, "Kim (guest)")
        assert after.csrf != before.csrf
        elsewhere.client.cookies.set(LEFT_COOKIE, left)
        assert (await elsewhere.post("/come-back", {"csrf": ""})).status_code == 403


# --- The key of the signatures ---------------------------------------------------------------------------------------


async def test_restart_ends_no_session(tmp_path: Path) -> None:
    async with pages(data=str(tmp_path)) as (daemon, browser):
        await daemon.ask("register", name="ann", password=PASSWORD)
        await sign_in(browser)
        cookie = browser.client.cookies[COOKIE]
    assert (tmp_path / SESSION_KEY).stat().st_mode & 0o777 == 0o600
    async with pages(data=str(tmp_path)) as (_, browser):
        browser.client.cookies.set(COOKIE, cookie)
        assert "Signed in as ann" in (await browser.get("/")).text
    (tmp_path / SESSION_KEY).unlink()
    async with pages(data=str(tmp_path)) as (_, browser):
        browser.client.cookies.set(COOKIE, cookie)
        assert "Signed in" not in (await browser.get("/")).text


def test_key_is_different_for_every_daemon_in_memory() -> None:
    assert session_key(None).secret != session_key(None).secret


@pytest.mark.slow
async def test_daemon_that_takes_over_a_database_has_the_same_key_and_ended_cookies(
    database_url: str, tmp_path: Path
) -> None:
    with open_store("", database_url):
        pass
    one = session_key(tmp_path / "one", database_url, new_term(database_url))
    await one.end(b"01234567", oversees=True)
    other = session_key(tmp_path / "two", database_url, new_term(database_url))
    assert (len(one.secret), other.secret == one.secret) == (32, True)
    assert [other.has_ended(digest, oversees=True) for digest in (b"01234567", b"76543210")] == [True, False]
    with pytest.raises(LogFailed):  # another daemon serves by now
        await one.end(b"76543210", oversees=True)
    with pytest.raises(DataError, match="database: it cannot be used: "):
        session_key(tmp_path, "postgresql://127.0.0.1:1/games")


@pytest.mark.parametrize("size", [5, 33, 40])
def test_damaged_key_is_reported_with_what_to_do(size: int, tmp_path: Path) -> None:
    key = session_key(tmp_path)
    assert session_key(tmp_path).secret == key.secret
    (tmp_path / SESSION_KEY).write_bytes(bytes(size))
    with pytest.raises(DataError, match=rf"has {size} bytes, which is no key; remove it, and visitors sign in again"):
        session_key(tmp_path)


async def test_stale_cookie_names_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async with pages() as (daemon, browser):
        await browser.submit((await browser.get("/")).form("/play", variant="rbc"), opponent="link")
        issued = time.time()
        monkeypatch.setattr(time, "time", lambda: issued + SESSION_SECONDS - 10)
        assert sessions_of(daemon).read(browser.client.cookies[COOKIE]).player is not None
        monkeypatch.setattr(time, "time", lambda: issued + SESSION_SECONDS + 10)
        assert sessions_of(daemon).read(browser.client.cookies[COOKIE]) == NOBODY


def test_key_is_made_although_a_crash_has_left_half_of_one(tmp_path: Path) -> None:
    (tmp_path / SESSION_KEY).with_suffix(".new").write_bytes(b"half")
    assert len(session_key(tmp_path).secret) == 32
    assert [file.name for file in tmp_path.iterdir()] == [SESSION_KEY]


async def test_visitor_shows_no_secret_in_its_repr() -> None:
    """A visitor may be logged with an error."""
    async with pages() as (daemon, _):
        sessions = sessions_of(daemon)
        visitor = sessions.read(sessions.issue(FIRST_GUEST))
        assert visitor.csrf not in repr(visitor)
        assert replace(visitor, csrf="") != visitor
