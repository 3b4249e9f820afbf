"""Players as bots on a server: their calls, failures, seeds, and what is optional."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest
import trio.testing
from chess import Move, Square

from gm_arena.bot import Bot, BotUnusable
from gm_arena.bridge import Bridge
from gm_arena.player_bot import PlayerBot, PlayerBots
from gm_arena.reconchess_bot import ReconchessBots
from gm_arena.specs import bots_of, players_of
from gm_client.trio_client import connect
from gm_recon import History, Player, WinReason
from tests.arena.matches import run
from tests.arena.playing import Witness, bridged, new_games
from tests.serving import Served

ME, OTHER = 78_101, 78_102


class Noting(Player):
    """A player that moves at random, and notes what it is told."""

    score, depth = "+35", 3

    def __init__(self, rng: random.Random, move: Callable[[list[Move]], Move | None] | None = None) -> None:
        self._rng, self._move = rng, move or rng.choice
        self.notes: list[Any] = []
        self.asked: list[Move | None] = []

    def handle_game_start(self, color: bool, board: chess.Board, opponent_name: str) -> None:
        self.notes.append((color, board.fen(), opponent_name))

    def handle_opponent_move_result(self, captured: bool, square: Square | None) -> None:
        self.notes.append((captured, square))

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        self.notes.append(seconds_left)
        return chess.E4

    def handle_sense_result(self, sense_result: list[tuple[Square, chess.Piece | None]]) -> None:
        assert len(sense_result) == 9

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        self.asked.append(self._move(move_actions))
        return self.asked[-1]

    def handle_game_end(self, winner: bool | None, reason: WinReason | None, history: History) -> None:
        self.notes.append((winner, reason, [turn.requested for turn in history.turns]))

    def close(self) -> None:
        self.notes.append("closed")


class Keeping(PlayerBots):
    """Bots that keep their players."""

    def __init__(self, seed: int | None = None, move: Callable[[list[Move]], Move | None] | None = None) -> None:
        self.made: list[Noting] = []
        self.bots: list[Bot] = []

        def make(rng: random.Random) -> Noting:
            self.made.append(Noting(rng, move))
            return self.made[-1]

        super().__init__("noting", make, seed=seed)

    async def start(self, nursery: trio.Nursery) -> Bot:
        self.bots.append(await super().start(nursery))
        return self.bots[-1]


async def test_player_is_told_of_its_game_from_beginning_to_end(daemon_process: Served) -> None:
    bots = Keeping()
    clock = {"initial": 600, "increment": 0}
    plan = new_games(ME, max_turns=2, clock=clock)
    witness = await bridged(daemon_process.port, ME, bots, plan)
    assert [played.failed for played in witness.played] == [False, False]
    white, black = sorted(bots.made, key=lambda player: -player.notes[0][0])
    assert white.notes[0] == (chess.WHITE, chess.STARTING_FEN, str(ME))
    assert white.notes[1] == black.notes[1] == (False, None)
    assert 500 < white.notes[2] <= 600
    played = [move for pair in zip(white.asked, black.asked, strict=True) for move in pair]
    assert white.notes[-2:] == black.notes[-2:] == [(None, WinReason.TURN_LIMIT, played), "closed"]
    assert {(bot.score, bot.depth) for bot in bots.bots} == {("+35", 3)}


async def test_move_that_may_not_be_requested_loses_as_an_illegal_one(daemon_process: Served) -> None:
    bots = Keeping(move=lambda moves: Move.from_uci("e2e5"))
    witness = await bridged(daemon_process.port, ME, bots, new_games(OTHER, colors=["white"]))
    (played,) = witness.played
    assert (played.failed, played.state["termination"]) == (True, "resignation_white")
    assert bots.made[0].notes[-1] == "closed"


async def test_players_that_hang_do_not_stop_others() -> None:
    """There are more of them than trio has threads by default."""
    released = threading.Event()

    def hang(rng: random.Random) -> Noting:
        released.wait(60)
        return Noting(rng)

    hanging, quick = PlayerBots("hanging", hang), PlayerBots("quick", Noting)
    try:
        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(hanging.start, nursery)
            await trio.testing.wait_all_tasks_blocked()
            with trio.fail_after(20):
                await quick.start(nursery)
            released.set()
    finally:
        released.set()


async def test_seed_of_a_game_makes_its_player_s_choices(daemon_process: Served) -> None:
    """Whatever its number among the games of the bot: a match's games begin in any order."""

    async def asked(seed: int) -> list[Move | None]:
        rng = random.Random(seed)
        bot = PlayerBot(player := Noting(rng), rng, 7)
        async with await connect(port=daemon_process.port, player=ME) as client:
            game_id = (await client.new_game(ME, OTHER, variant="rbc"))["game_id"]
            place = Bridge._place(None, (await client.state(game_id))["state"], chess.WHITE)  # type: ignore[arg-type]
            place.seed = 3
            await bot.begin(place)
            async for turn in client.turns(game_id):
                await bot.take_turn(turn)
                break
        return player.asked

    assert await asked(1) == await asked(2)


async def test_minimax_takes_over_a_game_of_blind_chess(daemon_process: Served) -> None:
    bots = bots_of("minimax:depth=1")
    async with await connect(port=daemon_process.port, player=ME) as client:
        game_id = (await client.new_game(ME, ME, variant="rbc", max_turns=5))["game_id"]
        for move in ("e2e4", "d7d5", "e4d5"):
            seat = "black" if move == "d7d5" else "white"
            await client.sense(game_id, None, seat=seat)
            await client.move(game_id, move, seat=seat)
        await client.sense(game_id, "d5", seat="black")
    witness: Witness = await bridged(daemon_process.port, ME, bots, lambda bridge: bridge.play_one(game_id))
    assert [played.failed for played in witness.played] == [False, False]


async def test_player_in_a_file_needs_no_base_class_of_reconchess(daemon_process: Served, tmp_path: Path) -> None:
    (tmp_path / "own_player.py").write_text(
        "from gm_recon import Player\n"
        "class Passing(Player):\n"
        "    def choose_sense(self, *_):\n"
        "        return None\n"
        "    def choose_move(self, *_):\n"
        "        return None\n"
        "    def handle_game_end(self, winner, reason, history):\n"
        "        assert reason.name == 'TURN_LIMIT' and len(history.turns) == 4\n"
    )
    bots = ReconchessBots(str(tmp_path / "own_player.py"))
    witness = await bridged(daemon_process.port, ME, bots, new_games(ME, max_turns=2))
    assert bots.name == "Passing"
    assert [played.failed for played in witness.played] == [False, False]


TWO = """
import gm_recon
class Left(gm_recon.Player):
    def choose_sense(self, *_):
        return None
    def choose_move(self, *_):
        return None
class Right(Left):
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["Left", "Right"])
def test_class_of_a_file_with_two_players_is_named_after_a_colon(wanted: str, tmp_path: Path) -> None:
    (tmp_path / "two_players.py").write_text(TWO)
    bot = f"reconchess:{tmp_path / 'two_players.py'}:{wanted}"
    assert type(players_of(bot)()).__name__ == wanted
    status, out, _ = run(f"a={bot}", "b=reconchess:reconchess.bots.random_bot", "--games", "2", "--max-moves", "2")
    assert status == 0
    assert "a" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "complaint"),
    [
        (":Middle", "two_players.py has no player Middle; its players: Left, Right"),
        ("", "two_players.py has several players: Left, Right; name one, as in {}:Left"),
    ],
)
def test_file_without_the_one_player_is_refused_with_those_that_it_has(
    suffix: str, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "two_players.py").write_text(TWO)
    source = str(tmp_path / "two_players.py")
    with pytest.raises(BotUnusable) as unusable:
        players_of(f"reconchess:{source}{suffix}")()
    assert complaint.format(source) in str(unusable.value)
    status, _, said = run(f"a=reconchess:{source}{suffix}", "b=reconchess:reconchess.bots.random_bot", "--games", "2")
    assert status == 2
    assert complaint.format(source) in said
