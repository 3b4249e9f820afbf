"""Insufficient material draws exactly the cases that ``docs/protocol/games.md`` lists, with automatic draws only."""

from __future__ import annotations

import pytest

from tests.games.talk import new_table
from tests.helpers import Client

DRAWN = {
    "bare kings": "4k3/8/8/8/8/8/8/4K3",
    "a knight": "4k3/8/8/8/8/8/8/4K1N1",
    "the other side's knight": "4k1n1/8/8/8/8/8/8/4K3",
    "a bishop": "4k3/8/8/8/8/8/8/4KB2",
    "the other side's bishop": "4kb2/8/8/8/8/8/8/4K3",
    "a bishop each, on dark squares": "4kb2/8/8/8/8/8/8/2B1K3",
    "a bishop each, on light squares": "2b1k3/8/8/8/8/8/8/4KB2",
}

PLAYED_ON = {
    "a bishop each, on squares of both colours": "2b1k3/8/8/8/8/8/8/2B1K3",
    "two knights": "4k3/8/8/8/8/8/8/1N2K1N1",
    "a knight each": "4k1n1/8/8/8/8/8/8/4K1N1",
    "a knight against a bishop": "4kb2/8/8/8/8/8/8/4K1N1",
    "two bishops of one side on squares of one colour": "4k3/8/8/8/8/8/1B6/2B1K3",
    "two bishops of one side on squares of both colours": "4k3/8/8/8/8/8/8/2B1KB2",
    "two bishops against one, all on squares of one colour": "4kb2/8/8/8/8/8/1B6/2B1K3",
    "a bishop and a knight": "4k3/8/8/8/8/8/8/4KBN1",
    "a pawn": "4k3/8/8/8/8/8/4P3/4K3",
    "a pawn that is blocked for good": "4k3/8/8/8/4p3/4P3/8/4K3",
    "a rook": "4k3/8/8/8/8/8/8/4K2R",
    "a queen": "4k2q/8/8/8/8/8/4P3/4K3",
}


@pytest.mark.parametrize("name", DRAWN)
async def test_insufficient_material_draws_the_game_unless_draws_are_claimed(client: Client, name: str) -> None:
    for turn in "wb":
        state = (await new_table(client, fen=f"{DRAWN[name]} {turn} - - 0 1", draws="automatic")).state
        assert (state["termination"], state["result"], state["phase"]) == ("draw_material", "1/2-1/2", "over")
    table = await new_table(client, fen=f"{DRAWN[name]} w - - 0 1")
    assert (table.state["termination"], table.state["draws"]) == ("available_move", 0)
    assert (await table.end("taken_draw_white", 1))["code"] == "not_available"
    table = await new_table(client, variant="crazyhouse", fen=f"{DRAWN[name]}[] w - - 0 1", draws="automatic")
    assert table.state["termination"] == "available_move"


@pytest.mark.parametrize("name", PLAYED_ON)
async def test_sufficient_material_does_not_draw_the_game(client: Client, name: str) -> None:
    for turn in "wb":
        state = (await new_table(client, fen=f"{PLAYED_ON[name]} {turn} - - 0 1", draws="automatic")).state
        assert (state["termination"], state["result"], state["phase"]) == ("available_move", "*", "move")


@pytest.mark.parametrize(
    ("fen", "move", "termination"),
    [
        pytest.param("4k3/8/8/8/8/8/3pK3/8 w - - 0 1", "Kxd2", "draw_material", id="the last piece is captured"),
        pytest.param("8/P7/8/8/8/8/8/k1K5 w - - 0 1", "a8=B", "draw_material", id="a pawn becomes a bishop"),
        pytest.param("7k/8/7K/8/2p5/8/8/5B2 w - - 0 1", "Bxc4", "stalemate", id="stalemate takes precedence"),
    ],
)
async def test_move_can_draw_the_game(client: Client, fen: str, move: str, termination: str) -> None:
    table = await new_table(client, fen=fen, draws="automatic")
    assert (await table.play(move))["termination"] == termination
