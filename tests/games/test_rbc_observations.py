"""What a seat of rbc has learnt: a sequence whose items are made on demand."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import chess
import pytest

from gmd.games import views
from gmd.games.game import Game
from gmd.games.rbc_knowledge import Observed
from tests.helpers import Client, memory_daemon
from tests.work import calls_during

#: Black is to move first.
BLACK_BEGINS = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


async def act(client: Client, kind: str, **fields: Any) -> dict[str, Any]:
    reply = await client.ask(kind, game_id=1, brief=True, **fields)
    assert reply["error"] is None
    return reply


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, BLACK_BEGINS])
async def test_observations_are_those_of_each_step_and_leave_out_later_ones(fen: str) -> None:
    rng = random.Random(1)
    expected: dict[bool, list[Observed]] = {chess.WHITE: [], chess.BLACK: []}
    taken = []
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game(variant="rbc", clock=None, fen=fen)
        live = await daemon.arbiter.live_game(1)
        for _ in range(30):
            mover = live.game.turn
            player = 1 if mover else 2
            moves = (await client.ask("actions", game_id=1, player=player))["move_actions"]
            shown = await act(client, "sense", player=player, square=rng.choice(["d4", "e5", None]))
            expected[mover].append(Observed("sense", read_cells(shown["state"]["last_sense"]["sense_result"])))
            taken.append((mover, views.observations(live.game, mover), list(expected[mover])))
            result = (await act(client, "move", player=player, move=rng.choice(moves)))["state"]
            if result["phase"] == "over":
                break
            last = result["last_result"]
            made = tuple(last[each] and chess.Move.from_uci(last[each]) for each in ("requested_move", "taken_move"))
            square = last["capture_square"] and chess.parse_square(last["capture_square"])
            expected[mover].append(Observed("move", move=(*made, square)))  # type: ignore[arg-type]
            expected[not mover].append(Observed("opponent", opponent_capture=square))
            for seat in chess.COLORS:
                found = views.observations(live.game, seat)
                assert found is not None
                assert list(found) == expected[seat]
                assert [found[-1], found[0], len(found)] == [expected[seat][-1], expected[seat][0], len(expected[seat])]
                assert found[3:7] == expected[seat][3:7]
    for _, then, list_then in taken:
        assert list(then or ()) == list_then


def read_cells(shown: list[list[str | None]]) -> list[tuple[chess.Square, chess.Piece | None]]:
    """Return the squares of a sense as the wire shows them."""
    return [(chess.parse_square(str(square)), read_piece(piece)) for square, piece in shown]


def read_piece(code: str | None) -> chess.Piece | None:
    """Return a piece as the wire names it."""
    if code is None:
        return None
    return chess.Piece.from_symbol(code[1].upper() if code[0] == "w" else code[1].lower())


async def passed(client: Client, turns: int, begin: int = 0) -> None:
    """Let both players sense nothing and pass."""
    for ply in range(begin, turns):
        await act(client, "sense", player=1 + ply % 2, square=None)
        await act(client, "move", player=1 + ply % 2, move=None)


async def test_observing_costs_the_same_in_a_long_game() -> None:
    def look(game: Game) -> None:
        _, observed = views.observed_in_play(game, chess.WHITE)
        assert observed[len(observed) - 1]

    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await client.new_game(variant="rbc", clock=None, reversible_moves=None)
        live = await daemon.arbiter.live_game(1)
        await passed(client, 4)
        short = calls_during(partial(look, live.game))
        await passed(client, 100, begin=4)
        assert calls_during(partial(look, live.game)) == short
