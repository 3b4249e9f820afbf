"""The home page: games, players and the ranked table, each as its visitor may see it."""

from __future__ import annotations

import re

import pytest
import trio

from gmd.daemon import Daemon
from gmd.http.pages.visitor import FIRST_GUEST
from tests.helpers import Json
from tests.http.pages.browser import Browser, Form, Page, pages

PASSWORD = "correct horse"


def section(page: Page, name: str) -> str:
    """Return the text of a section of a page."""
    found = re.search(rf'<section aria-labelledby="{name}">(.*?)</section>', page.response.text, re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]*>", " ", found[1]).split())


def play_form(page: Page, variant: str = "standard") -> Form:
    return page.form("/play", variant=variant)


async def played(daemon: Daemon, *moves: str, white: int = 1, black: int = 2, **options: object) -> int:
    """Return a game in which some moves were played."""
    game_id: int = (await daemon.ask("new_game", player_white=white, player_black=black, **options))["game_id"]
    for ply, move in enumerate(moves):
        await daemon.ask("move", game_id=game_id, player=black if ply % 2 else white, move=move)
    return game_id


async def only_game(daemon: Daemon) -> Json:
    (row,) = (await daemon.ask("games"))["games"]
    found: Json = row
    return found


async def test_empty_server_says_so() -> None:
    async with pages() as (_, browser):
        home = await browser.get("/")
        assert section(home, "live") == "Games being played No game is being played."
        assert section(home, "finished") == "Finished lately No game has ended yet."
        assert section(home, "featured").startswith("Blind chess in a picture")
        assert "Ranked table" not in home.text
        assert "Players here" not in home.text


async def test_games_are_listed_with_players_clocks_and_results_in_words() -> None:
    async with pages() as (daemon, browser):
        ann = await daemon.ask("register", name="ann")
        live = await daemon.ask("new_game", player_white=1, player_black=2, variant="crazyhouse", clock="600+0")
        await played(daemon, "f3", "e5", "g4", "Qh4#", white=3, black=4)
        rbc = await daemon.ask(
            "new_game", player=ann["player"], key=ann["key"], player_white=ann["player"], player_black=5, variant="rbc"
        )
        await daemon.ask("end_game", game_id=rbc["game_id"], player=5, termination="resignation_black")
        home = await browser.get("/")
        head = "Game White Black Moves Status"
        assert section(home, "live") == (
            f"Games being played {head} Crazyhouse {live['game_id']} Guest 1 10:00 Guest 2 10:00 0 White to move"
        )
        assert section(home, "finished") == (
            f"Finished lately {head} "
            "RBC 3 ann Guest 5 0 1-0 White won by resignation "
            "Chess 2 Guest 3 Guest 4 2 0-1 Black won by checkmate"
        )
        assert {"/games/1", "/games/2", "/games/3"} <= set(home.links)


async def test_clocks_of_a_live_blind_game_are_hidden_from_spectators_and_the_players_own_is_shown() -> None:
    async with pages() as (daemon, browser):
        form = play_form(await browser.get("/"), "rbc")
        await browser.submit(form, opponent="link", color="white", clock="900+5")
        game_id = (await only_game(daemon))["game_id"]
        await daemon.ask("join", game_id=game_id, player=2)
        mine = section(await browser.get("/"), "live")
        assert re.search(r"Guest \d+ 1[45]:\d\d Guest 2 – 0", mine), mine
        browser.client.cookies.clear()
        live = section(await browser.get("/"), "live")
        assert re.search(r"Guest \d+ – Guest 2 – 0 White to move", live), live


@pytest.mark.parametrize("variant", ["standard", "chess960", "crazyhouse"])
async def test_chess_is_played_by_a_link(variant: str) -> None:
    async with pages() as (daemon, browser):
        home = await browser.get("/")
        page = await browser.submit(play_form(home), opponent="link", color="black", variant=variant, clock="180+2")
        row = await only_game(daemon)
        assert (row["variant"], row["player_white"], row["status"]) == (variant, None, "open")
        assert row["player_black"] >= FIRST_GUEST
        assert page.path == f"/games/{row['game_id']}"
        state = (await daemon.ask("state", game_id=row["game_id"]))["state"]
        assert state["clock"] == {"white": 180.0, "black": 180.0}
        home = await browser.get("/")
        assert f"Game {row['game_id']}" not in section(home, "live")
        for name in ("mine", "offered"):
            assert f"{row['game_id']} open seat Guest {row['player_black']} 0 Waits for a player" in section(home, name)


async def test_random_colour_is_sometimes_the_one_and_sometimes_the_other() -> None:
    async with pages() as (daemon, browser):
        form = play_form(await browser.get("/"), "rbc")
        await browser.submit(form, opponent="link")
        form = play_form(await browser.get("/"), "rbc")
        assert form.fields["color"] == "random"
        found = set[bool]()
        for _ in range(63):
            await browser.submit(form, opponent="link")
            found.update(row["player_white"] is None for row in (await daemon.ask("games", limit=64))["games"])
            if len(found) == 2:
                break
        assert found == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["standard", "rbc"])
async def test_bot_that_is_always_there_is_played_by_one_click(variant: str) -> None:
    async with pages(bots="random") as (daemon, browser):
        form = play_form(await browser.get("/"), variant)
        link, bot = form.choices["opponent"]
        assert link == "link"
        await browser.submit(form, opponent=bot, color="white")
        row = await only_game(daemon)
        assert row["variant"] == variant
        begun = await daemon.ask("wait", game_id=row["game_id"], player=row["player_white"], timeout=60)
        assert begun["state"]["phase"] in ("sense", "move")
        assert "random" in section(await browser.get("/"), "mine")


async def test_bot_is_offered_for_what_it_plays() -> None:
    async with pages(bots="minimax-beginner,random") as (daemon, browser):
        home = await browser.get("/")
        opponents = (
            "A friend by a link to share Random senses and moves at random Beginner minimax-beginner looks 1 ply"
        )
        assert opponents in section(home, "play")
        (player,) = (player for player, kind in daemon.roster.bots() if kind.name == "minimax-beginner")
        refused = await browser.submit(play_form(home), opponent=f"bot:{player}", variant="crazyhouse")
        assert refused.status == 400
        assert "Minimax-beginner does not play Crazyhouse; choose another." in refused.text


async def signed_in(browser: Browser, daemon: Daemon) -> None:
    await daemon.ask("register", name="ann", password=PASSWORD)
    form = (await browser.get("/sign-in")).form("/sign-in")
    await browser.submit(form, name="ann", password=PASSWORD)


async def test_registered_player_sees_who_is_here_and_invites_them() -> None:
    async with pages() as (daemon, browser):
        await signed_in(browser, daemon)
        bob = await daemon.ask("register", name="bob")
        absent = await browser.submit(play_form(await browser.get("/")), opponent="name", name="bob")
        assert absent.status == 409
        assert "bob" in absent.text
        await daemon.ask("invitations", player=bob["player"], key=bob["key"])  # now bob is here
        home = await browser.get("/")
        assert section(home, "present") == "Players here ann bob"
        await browser.submit(play_form(home), opponent="name", name="bob", color="black", clock="300+3")
        (invitation,) = (await daemon.ask("invitations", player=bob["player"], key=bob["key"]))["received"]
        assert (invitation["name"], invitation["color"]) == ("ann", "white")
        assert "ann" in section(await browser.get("/"), "mine")


async def test_ranked_table_has_the_ratings() -> None:
    async with pages(anchors="ann=1000") as (daemon, browser):
        ann, bob = [await daemon.ask("register", name=name) for name in ("ann", "bob")]
        players = [{"player": each["player"], "key": each["key"]} for each in (ann, bob)]
        for player, version in ((players[0], 1), (players[1], 1), (players[1], 2)):
            await daemon.ask("settings", version=version, **player)
        paired = await daemon.ask_as_operator("pair", white="ann", black="bob", variant="rbc", ranked=True)
        for player in players:
            await daemon.ask("accept", game_id=paired["game_id"], **player)
        await daemon.ask("end_game", game_id=paired["game_id"], termination="resignation_black", **players[1])
        while not (await daemon.ask("leaderboard"))["games"]:
            await trio.lowlevel.checkpoint()
        shown = section(await browser.get("/"), "ranked")
        rows = r"1 bob version 2 \d+ ± \d+ 1 0 0 1 2 ann 1000 \(fixed\) 1 1 0 0 The whole table$"
        assert re.search(rows, shown), shown
