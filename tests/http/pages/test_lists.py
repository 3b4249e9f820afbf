"""``/games`` and ``/players``, lists of all that may be seen with their filters, and what leads from them to a game."""

from __future__ import annotations

import re

from gmd.daemon import Daemon
from tests.http.pages.browser import Page, pages
from tests.http.pages.test_home import played, signed_in

BLIND = {"variant": "rbc"}


def games_on(page: Page) -> list[int]:
    """Return the games of a list in their order."""
    return [int(found[1]) for link in page.links if (found := re.fullmatch(r"/games/(\d+)", link))]


async def three_games(daemon: Daemon) -> list[int]:
    over = await played(daemon, "f3", "e5", "g4", "Qh4#", white=3, black=4)
    return [over, await played(daemon, "e4", white=3, black=5), await played(daemon, white=5, black=3, **BLIND)]


async def test_games_are_filtered_by_status_variant_and_players() -> None:
    async with pages() as (daemon, browser):
        over, live, blind = await three_games(daemon)
        for query, expected in (
            ("", [blind, live, over]),
            ("status=over", [over]),
            ("status=live&variant=", [blind, live]),
            ("variant=rbc", [blind]),
            ("player=3", [blind, live, over]),
            ("player=4", [over]),
            ("player=3&opponent=5", [blind, live]),
            ("opponent=4", [over]),
            ("player=4&opponent=5", []),
            ("player=nobody", []),
            (f"before={blind}", [live, over]),
        ):
            assert games_on(await browser.get(f"/games?{query}")) == expected, query
        assert (await browser.get("/games?status=lost")).status == 400


async def test_list_of_games_shows_no_more_of_a_blind_game_than_the_home_page() -> None:
    async with pages() as (daemon, browser):
        game_id = await played(daemon, white=1, black=2, clock="300", **BLIND)
        await daemon.ask("sense", game_id=game_id, player=1, square="e7")
        row = re.search(r"<tbody>(.*?)</tbody>", (await browser.get("/games")).response.text, re.DOTALL)
        assert row is not None
        shown = " ".join(re.sub("<[^>]*>", " ", row[1]).split())
        assert shown == f"RBC {game_id} Guest 1 – Guest 2 – 0 White to move"


async def test_players_are_those_who_have_played_and_no_others() -> None:
    async with pages() as (daemon, browser):
        ann, bob = [await daemon.ask("register", name=name) for name in ("ann", "bob")]
        await daemon.ask("new_game", player_white=ann["player"], player_black=7, player=ann["player"], key=ann["key"])
        listed = await browser.get("/players")
        assert f"/players/{ann['player']}" in listed.links
        assert f"/players/{bob['player']}" not in listed.links
        assert "/players/7" not in listed.links
        assert f"/players/{ann['player']}" not in (await browser.get("/players?name=bo")).links
        assert f"/players/{ann['player']}" in (await browser.get("/players?name=AN")).links
        guests = await browser.get("/players?kind=guests")
        assert "/players/7" in guests.links
        assert f"/players/{ann['player']}" not in guests.links


async def test_player_is_challenged_by_the_form_that_its_page_links_to() -> None:
    async with pages(bots="random") as (daemon, browser):
        await daemon.ask("register", name="cleo")
        bob = await daemon.ask("register", name="bob")
        await daemon.ask("new_game", player_white=bob["player"], player_black=7, player=bob["player"], key=bob["key"])
        (bot,) = (player for player, _ in daemon.roster.bots())
        form = (await browser.get(f"/?opponent=bot:{bot}")).form("/play", variant="rbc")
        assert form.fields["opponent"] == f"bot:{bot}"
        page = await browser.get(f"/players/{bob['player']}")
        assert "/sign-in?next=/%3Fname=bob" in page.links
        assert not [link for link in (await browser.get("/players/7")).links if link.startswith("/?")]
        await signed_in(browser, daemon)
        (link,) = (link for link in (await browser.get(f"/players/{bob['player']}")).links if link.startswith("/?"))
        await daemon.ask("invitations", player=bob["player"], key=bob["key"])  # now bob is here
        await browser.submit((await browser.get(link)).form("/play", variant="rbc"))
        (invitation,) = (await daemon.ask("invitations", player=bob["player"], key=bob["key"]))["received"]
        assert invitation["name"] == "ann"


async def test_form_begins_with_a_variant_that_the_chosen_opponent_plays() -> None:
    async with pages(bots="minimax-beginner,random") as (daemon, browser):
        beginner = next(player for player, kind in daemon.roster.bots() if kind.name == "minimax-beginner")
        form = (await browser.get(f"/?opponent=bot:{beginner}&variant=dark_chess")).form("/play")
        assert (form.fields["variant"], form.fields["opponent"]) == ("standard", f"bot:{beginner}")
        usual = (await browser.get("/")).form("/play")
        assert usual.fields["opponent"] == f"bot:{beginner}"
        assert (await browser.get("/?variant=draughts")).status == 400


async def test_board_on_the_home_page_is_never_that_of_a_running_game_that_hides_something() -> None:
    async with pages() as (daemon, browser):
        blind = await played(daemon, white=1, black=2, **BLIND)
        dark = await played(daemon, "e4", white=1, black=2, variant="dark_chess")
        assert "/rules/sensed.svg" in (await browser.get("/")).sources
        over = await played(daemon, "f3", "e5", "g4", "Qh4#", white=3, black=4)
        assert f"/games/{over}.svg?ply=4" in (await browser.get("/")).sources
        live = await played(daemon, "e4", white=3, black=4)
        sources = (await browser.get("/")).sources
        assert f"/games/{live}.svg?ply=1" in sources
        assert not [each for each in sources if each.startswith((f"/games/{blind}.", f"/games/{dark}."))]
