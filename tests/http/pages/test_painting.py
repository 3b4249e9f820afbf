"""Pictures of games as PNG: what sites show that load the page of a game and the picture that it names."""

from __future__ import annotations

import html
import re

import chess
import pytest

from gmd.games.notation import run_through
from gmd.http.pages import painting
from gmd.http.pages.drawing import Picture, draw
from tests.http.pages.browser import Browser, pages
from tests.http.pages.draw_pieces import pieces, pixels, rasterized
from tests.http.pages.test_game_page import MATE, blind_game, over, played

PICTURES = {
    "move": Picture("r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R", last_move="f1c4"),
    "check": Picture("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR", "d8h4", chess.E1),
    "sensed": Picture("8/8/8/3p4/8/8/8/4K3", window=frozenset({chess.D5, chess.D6}), unseen=frozenset({chess.A1})),
    "blind": Picture("8/8/8/8/8/8/8/8", unseen=frozenset(chess.SQUARES)),
    "remembered": Picture("8/8/8/8/8/8/8/4K3", lost=chess.B2, remembered=((chess.D8, "q", 3), (chess.C8, "b", 0))),
    "believed": Picture("8/8/8/8/8/8/8/4K3", shares=[0.5 if square > 47 else 0.0 for square in chess.SQUARES]),
}


def painted(picture: Picture, *, flip: bool = False) -> bytes:
    return run_through(painting.paint_steps(picture, flip=flip))


#: The width of the strip for coordinates that an SVG has at the left and below.
STRIP = painting.SQUARE // 3


def compare(png: bytes, svg: str, gradient: int | None = None, *, flip: bool = False) -> None:
    """Compare pictures square by square; they are the same without the strip and the texts.

    :param gradient: a square whose background the SVG has as a gradient.
    """
    side = painting.SQUARE
    found, expected = pixels(png), pixels(rasterized(svg))[: painting.SIZE, STRIP:]
    assert found.shape == expected.shape
    for square in chess.SQUARES:
        file, rank = chess.square_file(square), chess.square_rank(square)
        row, column = (rank, 7 - file) if flip else (7 - rank, file)
        here = slice(row * side, (row + 1) * side), slice(column * side, (column + 1) * side)
        assert abs(found[here] - expected[here]).mean() < (40 if square == gradient else 2), chess.square_name(square)


async def seen_by_crawler(browser: Browser, game_id: int, query: str = "") -> tuple[dict[str, str], bytes]:
    """Load a game's page without a cookie, and the picture that it names; return the page's tags and the picture."""
    page = (await browser.client.get(f"/games/{game_id}{query}")).text
    tags = dict(re.findall(r'<meta property="(og:[a-z:]+)" content="([^"]*)">', page))
    answer = await browser.client.get(html.unescape(tags["og:image"]))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == tags["og:image:type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG\r\n\x1a\n")
    size = (int.from_bytes(answer.content[16:20], "big"), int.from_bytes(answer.content[20:24], "big"))
    assert size == (int(tags["og:image:width"]), int(tags["og:image:height"])) == (painting.SIZE, painting.SIZE)
    return tags, answer.content


async def test_crawler_finds_the_picture_of_a_finished_game_and_what_it_shows() -> None:
    async with pages() as (daemon, browser):
        tags, picture = await seen_by_crawler(browser, await played(daemon, *MATE))
        assert picture == painted(PICTURES["check"])
        assert tags["og:image:alt"] == "The board after ply 4"


async def test_crawler_of_a_link_to_a_ply_finds_the_picture_of_that_ply() -> None:
    async with pages() as (daemon, browser):
        tags, picture = await seen_by_crawler(browser, await played(daemon, *MATE), "?ply=1&flip=1")
        assert picture == painted(Picture("rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR", "f2f3"), flip=True)
        assert tags["og:image:alt"] == "The board after ply 1"
        assert tags["og:url"].endswith("/games/1?ply=1&amp;flip=1")


async def test_crawler_finds_the_present_position_of_an_open_game_in_progress() -> None:
    async with pages() as (daemon, browser):
        game_id = await played(daemon, "e4")
        _, picture = await seen_by_crawler(browser, game_id)
        assert picture == painted(Picture("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR", "e2e4"))


@pytest.mark.parametrize("variant", ["rbc", "dark_chess"])
async def test_crawler_sees_nothing_of_a_blind_game_until_it_is_over(variant: str) -> None:
    async with pages() as (daemon, browser):
        game_id = await played(daemon, "e2e4", "d7d5", variant=variant)
        tags, picture = await seen_by_crawler(browser, game_id)
        assert picture == painted(PICTURES["blind"])
        assert tags["og:image:alt"] == "The board is hidden until the game is over"
        await daemon.ask("end_game", game_id=game_id, player=1, termination="resignation_white")
        assert (await seen_by_crawler(browser, game_id))[1] != picture


@pytest.mark.slow
async def test_picture_as_png_shows_what_the_same_address_shows_as_svg() -> None:
    async with pages() as (daemon, browser):
        game_id = await over(daemon, "e2e4", "d7d5", variant="rbc")
        for query in ("", "ply=1&flip=1", "view=white", "view=black&flip=1", "view=black&belief=any"):
            painted = await browser.client.get(f"/games/{game_id}.png?{query}")
            drawn = await browser.client.get(f"/games/{game_id}.svg?{query}&size={painting.SIZE + STRIP}")
            compare(painted.content, drawn.text)


async def test_player_of_a_blind_game_gets_its_own_view_and_others_none() -> None:
    async with pages() as (daemon, browser):
        game_id = await blind_game(daemon, browser)
        own = (await browser.client.get(f"/games/{game_id}.png")).content
        browser.client.cookies.clear()
        assert (await browser.client.get(f"/games/{game_id}.png")).content == painted(PICTURES["blind"]) != own
        assert (await browser.client.get(f"/games/{game_id}.png?ply=1")).status_code == 409


async def test_no_step_of_a_picture_paints_more_than_a_rank() -> None:
    assert sum(1 for _ in painting.paint_steps(PICTURES["move"], flip=False)) >= 8


def test_pieces_are_those_of_python_chess() -> None:
    kept, drawn = pixels(painting.SHEET.read_bytes()), pixels(pieces())
    assert kept.shape == drawn.shape
    assert abs(kept - drawn).mean() < 1  # another version of resvg may paint some edges otherwise


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("name", PICTURES)
def test_picture_looks_as_its_svg(name: str, flip: bool) -> None:
    picture = PICTURES[name]
    compare(painted(picture, flip=flip), draw(picture, flip=flip, size=painting.SIZE + STRIP), picture.check, flip=flip)
