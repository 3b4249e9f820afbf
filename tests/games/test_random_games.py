"""Random games through the protocol: every field of every state is what python-chess says it must be."""

from __future__ import annotations

import io
import random
from collections import Counter
from typing import Any

import chess
import chess.pgn
import pytest

from tests.games.playing import STYLES, choose, spell
from tests.helpers import Client, Json, memory_daemon
from tests.oracle import Oracle, actions, fen, start_board
from tests.proofs import cases

VARIANTS = ("standard", "chess960", "crazyhouse")

#: Plies after which a game is abandoned.
LENGTHS = (40, 120, 250, 400)


def drawn_options(variant: str, rng: random.Random) -> Json:
    """Draw options that decide how a game ends and where it starts."""
    options: Json = {"variant": variant, "draws": rng.choice(["claimed", "automatic"])}
    if rng.random() < 0.1:
        options["max_moves"] = rng.randint(1, 60)
    if variant == "chess960" or (variant == "crazyhouse" and rng.random() < 0.2):
        options["position"] = rng.randrange(960)
    return options


def oracle_for(options: Json) -> Oracle:
    board = start_board(options["variant"], position=options.get("position"))
    return Oracle(board, options["variant"], options["draws"], options.get("max_moves"))


class RandomGame:
    """One game played on both sides; each reply is compared with the oracle's state."""

    def __init__(self, client: Client, variant: str, number: int, seen: Counter[str]) -> None:
        self.client = client
        self.rng = random.Random(f"{variant} {number}")
        self.options = drawn_options(variant, self.rng)
        self.style = self.rng.choice(list(STYLES))
        self.length = self.rng.choice(LENGTHS)
        self.oracle = oracle_for(self.options)
        self.name = f"game {number}, {self.style}, {self.options}"
        self.seen = seen
        self.game_id = 0

    async def play(self) -> None:
        """Play the whole game."""
        reply = await self.client.new_game(**self.options)
        self.game_id = reply["game_id"]
        self.check(reply["state"])
        while self.oracle.termination == "available_move" and len(self.oracle.sans) < self.length:
            await self.turn()
        self.seen[self.oracle.termination] += 1
        await self.look_back()

    async def turn(self) -> None:
        """Make a move, or rarely take a draw or resign."""
        chance = self.rng.random()
        if self.oracle.available_draws and chance < 0.03:
            await self.end(f"taken_draw_{self.mover}")
        elif self.oracle.draw_offered and chance < 0.1:
            await self.end("draw_agreed")
        elif chance > 0.999:
            await self.end(self.rng.choice(["resignation_white", "resignation_black"]))
        else:
            await self.move()

    async def move(self) -> None:
        """Make a move, in SAN or UCI with equal probability."""
        board = self.oracle.board
        move = choose(board, self.style, self.rng)
        text, offer = spell(board, move, self.rng), self.rng.random() < 0.02
        self.note(board, move)
        player = 1 if board.turn else 2
        reply = await self.ask("move", player=player, move=text, offer_draw=offer)
        self.oracle.push(move, offer_draw=offer)
        self.check(reply["state"])

    async def end(self, termination: str) -> None:
        """End the game by the will of the side to move or of the side that resigns."""
        player = {"white": 1, "black": 2}.get(termination.rpartition("_")[2]) or (1 if self.oracle.board.turn else 2)
        reply = await self.ask("end_game", player=player, termination=termination)
        self.oracle.end(termination)
        self.check(reply["state"])

    async def look_back(self) -> None:
        """Check the replies of the other kinds at the end of play."""
        oracle = self.oracle
        self.check((await self.ask("state"))["state"])
        reply = await self.ask("actions", player=1)
        live_turn = oracle.termination == "available_move" and oracle.board.turn
        assert reply["sense_actions"] is None, self.name
        assert (reply["move_actions"] and sorted(reply["move_actions"])) == (
            actions(oracle.board) if live_turn else None
        ), self.name
        history = await self.ask("history")
        assert history["moves"] == oracle.ucis, self.name
        await self.load_again(history["pgn"])

    async def load_again(self, pgn: str) -> None:
        """Check that python-chess and the server read the same game from the PGN."""
        game = chess.pgn.read_game(io.StringIO(pgn))
        assert game is not None, self.name
        assert not game.errors, (self.name, game.errors)
        end, board = game.end().board(), self.oracle.board
        assert (end.board_fen(), end.turn, end.ply()) == (board.board_fen(), board.turn, board.ply()), self.name
        loaded = await self.client.new_game(pgn=pgn, brief=True, draws=self.options["draws"])
        assert (loaded["state"]["fen"], loaded["state"]["ply_index"]) == (fen(board), len(self.oracle.sans)), self.name

    async def ask(self, kind: str, **fields: Any) -> Json:
        reply = await self.client.ask(kind, game_id=self.game_id, **fields)
        assert reply["error"] is None, (self.name, self.oracle.board.fen(), fields, reply)
        return reply

    def check(self, state: Json) -> None:
        """Assert that every field is correct, and that there is no other."""
        expected = self.oracle.state(self.game_id)
        if state != expected:
            wrong = {key: (state.get(key), expected.get(key)) for key in state | expected}
            wrong = {key: (got, want) for key, (got, want) in wrong.items() if got != want}
            pytest.fail(f"{self.name}, ply {len(self.oracle.sans)}, {expected['fen']}: got, expected: {wrong}")

    def note(self, board: chess.Board, move: chess.Move) -> None:
        """Count rare moves."""
        self.seen["castling"] += board.is_castling(move)
        self.seen["en passant"] += board.is_en_passant(move)
        self.seen["promotion"] += move.promotion is not None
        self.seen["drop"] += move.drop is not None

    @property
    def mover(self) -> str:
        return "white" if self.oracle.board.turn else "black"


#: Events that the games of the ordinary run must reach to be useful.
REACHED = {
    "standard": {"castling", "en passant", "promotion", "victory_black", "draw_material", "draw_move_limit"},
    "chess960": {"castling", "en passant", "promotion", "victory_black", "draw_material", "draw_fifty_moves"},
    "crazyhouse": {"castling", "en passant", "promotion", "drop", "victory_white", "draw_move_limit"},
}
#: The games of the ordinary run that reach them in the fewest plies.
EVENTFUL = {"standard": (11, 19, 37, 47), "chess960": (8, 13, 28, 34), "crazyhouse": (36, 45, 51)}


@pytest.mark.parametrize("variant", VARIANTS)
async def test_every_field_of_every_state_matches_the_oracle(variant: str) -> None:
    seen: Counter[str] = Counter()
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        for number in (*EVENTFUL[variant], *range(100, 100 + cases(1) - 1)):
            await RandomGame(client, variant, number, seen).play()
    assert {name for name in REACHED[variant] if not seen[name]} == set()
