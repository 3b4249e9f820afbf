"""Real games between well-known players: loaded at once, and played again move by move."""

from __future__ import annotations

import io
from pathlib import Path

import chess.pgn
import pytest

from tests.games.talk import new_table, refused_game
from tests.helpers import Client
from tests.oracle import Oracle, start_board

PGN = Path(__file__).parent.parent / "data" / "pgn"

SIX_GAMES = (PGN / "kasparov-deep-blue-1997.pgn").read_text()


def split(text: str) -> list[str]:
    """Return the games of a PGN file; each begins with its Event header."""
    return ["[Event " + game for game in text.split("[Event ")[1:]]


GAMES = {
    "karpov-kasparov": (PGN / "karpov-kasparov.pgn").read_text(),
    "kasparov-topalov": (PGN / "kasparov-topalov.pgn").read_text(),
    **{f"kasparov-deep-blue-{number}": game for number, game in enumerate(split(SIX_GAMES), 1)},
}

#: Plies given by the files' own PlyCount headers, and the final board where a file gives it.
PLIES = {
    "karpov-kasparov": 80,
    "kasparov-topalov": 87,
    "kasparov-deep-blue-1": 89,
    "kasparov-deep-blue-2": 89,
    "kasparov-deep-blue-3": 95,
    "kasparov-deep-blue-4": 111,
    "kasparov-deep-blue-5": 98,
    "kasparov-deep-blue-6": 37,
}
END = {"karpov-kasparov": "8/5pk1/7p/8/1p4P1/1P1R2P1/3N1qBP/3Nr2K w"}


def read(text: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    return game


@pytest.mark.parametrize("name", GAMES)
async def test_real_game_loads_to_its_end_and_can_be_continued(client: Client, name: str) -> None:
    """None of these games ended on the board, so there is a next move whatever the Result header says."""
    game = read(GAMES[name])
    oracle = Oracle(start_board("standard"))
    for move in game.mainline_moves():
        oracle.push(move)
    table = await new_table(client, pgn=GAMES[name])
    assert table.state == oracle.state(table.id)
    assert table.state["ply_index"] == PLIES[name]
    assert " ".join(table.state["fen"].split()[:2]) == END.get(name, " ".join(game.end().board().fen().split()[:2]))
    history = await client.ask("history", game_id=table.id)
    assert history["moves"] == oracle.ucis
    assert max(map(len, history["pgn"].splitlines())) < 80
    assert list(read(history["pgn"]).mainline_moves()) == list(game.mainline_moves())
    if "Result" in game.headers and "[Result " in GAMES[name]:
        assert f'[Result "{game.headers["Result"]}"]' in history["pgn"]
    assert (table.state["termination"], table.state["result"]) == ("available_move", "*")
    assert (await table.play((await table.actions())[0]))["ply_index"] == PLIES[name] + 1


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
async def test_real_game_can_be_played_move_by_move(client: Client, name: str) -> None:
    table = await new_table(client)
    oracle = Oracle(start_board("standard"))
    for node in read(GAMES[name]).mainline():
        state = await table.play(node.san() if node.ply() % 3 else node.uci())
        oracle.push(node.move)
        assert state == oracle.state(table.id)


@pytest.mark.parametrize("newline", ["\r\n", "\n\n", " \n "])
async def test_line_ends_and_a_byte_order_mark_change_nothing(client: Client, newline: str) -> None:
    for game in GAMES.values():
        plain = await new_table(client, pgn=game)
        dressed = await new_table(client, pgn="\ufeff" + game.replace("\n", newline))
        assert (dressed.state["pgn"], dressed.state["fen"]) == (plain.state["pgn"], plain.state["fen"])


async def test_file_of_six_games_is_refused_with_their_number(client: Client) -> None:
    reply = await refused_game(client, pgn=SIX_GAMES)
    assert (reply["code"], reply["error"]) == ("bad_pgn", "pgn: holds 6 games; send one game at a time")
    assert (await client.ask("games"))["games"] == []
