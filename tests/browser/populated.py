"""A daemon with games of every kind and ranked players, whose pages are tested, photographed and looked at."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from gm_client.blocking import Client, ContestReport, Fields, connect
from gmd.net.listening import SOCKET_NAME
from tests.browser.conftest import site_environment
from tests.browser.games import BLACK, MATE, WHITE, blind_game, chess_game, client_of
from tests.http.pages.test_contests import MATCH, TOURNAMENT
from tests.serving import Served, served

PASSWORD = "correct horse battery"
#: An opening of some length, with captures.
SPANISH = (
    *("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Bxc6", "dxc6", "O-O", "f6"),
    *("d4", "exd4", "Nxd4", "c5", "Nb3", "Qxd1", "Rxd1"),
)
#: A game of blind chess: senses and moves. White does not see the queen come.
BLIND = (
    *(("e7", "e2e4"), ("d2", "e7e5"), ("e6", "g1f3"), ("f3", "b8c6"), ("c6", "f1b5"), ("b5", "a7a6")),
    *(("b7", "b5c6"), ("b4", "d7c6"), ("d6", "e1g1"), ("f2", "c8g4"), ("f5", "h2h3"), ("g3", "h7h5")),
    *(("f5", "h3g4"), ("g3", "h5g4"), ("c7", "f3e5"), ("e4", "d8h4"), ("d7", "d2d3"), ("g2", "h4h2")),
    *(("b7", "b1c3"), ("e4", "h2g1")),
)
#: The ply of it that is shown: Black has taken back, without knowing what.
SHOWN = 14


@contextmanager
def populated(name: str = "random-walker") -> Iterator[tuple[Served, dict[str, str]]]:
    """Run a daemon with games of many kinds, and yield it with the addresses of its pages by their names.

    :param name: the name of one of the players.
    """
    with tempfile.TemporaryDirectory() as data:
        environment = site_environment(data=data, bots="minimax,random")
        with served(env=environment) as site:
            with connect(path=str(Path(data, SOCKET_NAME))) as operator:
                players = _ranked_games(site, operator, name)
            yield site, _games(site, players)


def _games(site: Served, players: list[Fields]) -> dict[str, str]:
    """Play games of every kind; return the addresses of all pages."""
    ended = chess_game(site, *MATE, clock="600+0")
    blind = blind_game(site, BLIND, *players[:2])
    live = chess_game(site, *SPANISH, clock="900+5")
    crazyhouse = chess_game(site, "e4", "d5", "exd5", "Qxd5", "Nc3", "Qa5", variant="crazyhouse", clock="300+3")
    dark = chess_game(site, "e4", "e5", "Nf3", variant="dark_chess", clock="300+3")
    with client_of(site) as client:
        hidden = client.new_game(WHITE, BLACK, variant="rbc", clock="900+5")["game_id"]
        client.sense(hidden, "e7", player=WHITE)
        client.move(hidden, "e2e4", player=WHITE)
        match = client.contest("0123456789abcdef", cast(ContestReport, MATCH))["contest_id"]
        tournament = client.contest("fedcba9876543210", cast(ContestReport, TOURNAMENT))["contest_id"]
    return {
        "home": "/",
        "sign-in": "/sign-in",
        "register": "/register",
        "game-chess-over": f"/games/{ended}",
        "game-chess-live": f"/games/{live}",
        "game-crazyhouse": f"/games/{crazyhouse}",
        "game-dark-hidden": f"/games/{dark}",
        "game-rbc-over": f"/games/{blind}?ply={SHOWN}",
        "game-rbc-over-one": f"/games/{blind}?ply={SHOWN}&view=white",
        "game-rbc-belief": f"/games/{blind}?ply={SHOWN}&belief=any",
        "game-rbc-counts": f"/games/{blind}/counts",
        "game-rbc-hidden": f"/games/{hidden}",
        "embed-chess": f"/embed/{ended}",
        "embed-rbc": f"/embed/{blind}?ply={SHOWN}",
        "contests": "/contests",
        "contest-match": f"/contests/{match}",
        "contest-tournament": f"/contests/{tournament}",
        "player": f"/players/{players[0]['player']}",
        "players": "/players",
        "guests": "/players?kind=guests",
        "games": "/games",
        "rules": "/rules",
        "help": "/help",
        "ranked": "/ranked",
        "error": "/nowhere",
    }


def _ranked_games(site: Served, operator: Client, name: str) -> list[Fields]:
    """Register players, and let them play ranked games that the stronger one wins; return their ids and keys."""
    names = (
        "oracle",
        "trout",
        "strangefish",
        "attacker",
        name,
    )
    players: dict[str, Fields] = {}
    with client_of(site) as client:
        for each in names:
            made = client.register(each, password=PASSWORD)
            players[each] = {"player": made["player"], "key": made["key"]}
            client.settings(version=1, **players[each])
        for index, white in enumerate(names):
            for black in names[index + 1 :]:
                game_id = operator.pair(white, black, variant="rbc", ranked=True)["game_id"]
                for each in (white, black):
                    client.accept(game_id, **players[each])
                client.end_game(game_id, "resignation_black", **players[black])
    return list(players.values())
