"""Each player makes the same choices by the same seed with every runner: in this process, on a server, in a batch."""

from __future__ import annotations

import json
import logging
import math
import random
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from logging.handlers import QueueHandler
from pathlib import Path
from queue import SimpleQueue
from typing import Any, cast

import chess
import chess.engine
import pytest
from chess import Move, Square
from reconchess import GameHistoryEncoder

from gm_arena.specs import players_of
from gm_arena.stockfish import VARIABLE
from gm_bots.examples import Wanderer
from gm_client import GmError, connect, run, running
from gm_recon import History, Player, Turn, WinReason, play_local, read_json
from tests.arena.matches import played
from tests.arena.playing import BOTS
from tests.http.test_rc_connect import BIN
from tests.serving import Served, served
from tests.tools import require_module, require_tool

ONE, OTHER = 79_001, 79_002
QUICK = {
    "random": "random:seed=7",
    "minimax": "minimax:depth=1,seed=7",
    "expectation": "expectation:positions=4,depth=1,refined=2,seed=7",
    "recon-zero": "recon-zero:simulations=4,determinisations=2,seed=7,checkpoint=none",
}

Make = Callable[[], tuple[Player, Player]]


def ours(name: str) -> Make:
    if name == "expectation":
        require_tool("stockfish")
    if name == "recon-zero":
        require_module("numba")

    def make() -> tuple[Player, Player]:
        new = players_of(QUICK[name])
        return new(), new()

    return make


def of_reconchess(name: str) -> Make:
    """Return what makes two of reconchess's own bots, whose choices are by Python's global generator."""
    from reconchess.bots import attacker_bot
    from reconchess.bots.random_bot import RandomBot
    from reconchess.bots.trout_bot import TroutBot

    class Trout(TroutBot):  # type: ignore[misc]
        """TroutBot, whose Stockfish thinks by nodes and not by the clock."""

        def __init__(self) -> None:
            super().__init__()
            play = self.engine.play
            self.engine.play = lambda board, limit: play(board, chess.engine.Limit(nodes=200), game=object())

    kind: Any = {"RandomBot": RandomBot, "AttackerBot": attacker_bot.AttackerBot, "TroutBot": Trout}[name]

    attacks = deepcopy(attacker_bot.QUICK_ATTACKS)

    def make() -> tuple[Player, Player]:
        random.seed(7)
        attacker_bot.QUICK_ATTACKS[:] = deepcopy(attacks)  # of which it removes what it has played
        return kind(), kind()

    return make


def many_boards() -> tuple[Player, Player]:
    """Return two bots in the style of public ones, which keep boards and ask Stockfish."""
    from tests.arena.bots.many_boards import ManyBoards

    return ManyBoards(), ManyBoards()


def chosen(history: History) -> tuple[list[tuple[Square | None, Move | None, Move | None]], Any, Any]:
    """Return the senses and moves of a game; a batch names the queen that a pawn becomes."""

    def named(turn: Turn) -> Move | None:
        return turn.taken if turn.taken is not None else turn.requested

    turns = [(turn.sense, named(turn), turn.taken) for turn in history.turns]
    return turns, history.winner, history.win_reason


def close(players: tuple[Player, Player]) -> None:
    for player in players:
        getattr(player, "close", lambda: None)()


def locally(make: Make) -> History:
    players = make()
    history = play_local(*players, seconds=None, max_turns=12)
    close(players)
    return history


def on_a_server(make: Make, port: int) -> History:
    players = make()
    with connect(port=port, player=ONE) as client:
        game_id = client.new_game(ONE, OTHER, variant="rbc", max_turns=12)["game_id"]
    with ThreadPoolExecutor(2) as threads:
        ends = [
            threads.submit(run, player, game_id, port=port, player=number)
            for player, number in zip(players, (ONE, OTHER), strict=True)
        ]
        white, black = (end.result() for end in ends)
    close(players)
    assert white == black
    return white


def in_a_batch(make: Make) -> History:
    from gm_env import BatchedRbc
    from gm_env import run as run_batch

    players = make()
    (history,) = run_batch([players], BatchedRbc(1, max_turns=12), seconds=None)
    close(players)
    return history


@pytest.mark.slow
@pytest.mark.parametrize("name", [*QUICK, "RandomBot", "AttackerBot", "TroutBot", "ManyBoards"])
def test_choices_are_equal_with_every_runner(
    name: str, daemon_process: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_module("numba")
    if name in ("TroutBot", "ManyBoards"):
        monkeypatch.setenv(VARIABLE, str(require_tool("stockfish")))
    make = many_boards if name == "ManyBoards" else ours(name) if name in QUICK else of_reconchess(name)
    expected = chosen(locally(make))
    assert len(expected[0]) > 4
    assert chosen(on_a_server(make, daemon_process.port)) == expected
    assert chosen(in_a_batch(make)) == expected


@pytest.mark.slow
def test_bot_in_a_file_chooses_alike_in_reconchess_in_a_match_and_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the public ones' style, in processes of its own."""
    from reconchess import LocalGame, play_local_game

    monkeypatch.setenv(VARIABLE, str(require_tool("stockfish")))
    here = play_local(*many_boards(), seconds=None)
    assert here.win_reason == WinReason.KING_CAPTURE
    *_, history = play_local_game(*many_boards(), LocalGame(seconds_per_player=None))
    assert chosen(read_json(json.dumps(history, cls=GameHistoryEncoder)).history) == chosen(here)

    file = BOTS / "many_boards.py"
    subprocess.run([sys.executable, BIN / "rc-bot-match", file, file], cwd=tmp_path, check=True, capture_output=True)
    (saved,) = tmp_path.glob("ManyBoards-ManyBoards-*.json")
    assert chosen(read_json(saved.read_text()).history) == chosen(here)

    bots = [f"{name}=reconchess:{file}" for name in ("one", "other")]
    ((game,), _) = played(tmp_path / "match.jsonl", *bots, "--variant", "rbc", "--games", 1)
    assert chosen(read_json(json.dumps(game["history"])).history) == chosen(here)


class Noting(Player):
    """A player that passes, and notes its calls."""

    def __init__(self, move: Move | None = None) -> None:
        self.calls: list[Any] = []
        self._move = move

    def handle_game_start(self, color: bool, board: chess.Board, opponent_name: str) -> None:
        self.calls.append((color, board.fen(), opponent_name))

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        self.calls.append(seconds_left)
        return chess.E4

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return self._move

    def handle_game_end(self, winner_color: bool | None, win_reason: WinReason | None, game_history: History) -> None:
        self.calls.append((winner_color, win_reason))


def test_player_is_run_in_a_game_with_a_clock_from_beginning_to_end(daemon_process: Served) -> None:
    port, white, black = daemon_process.port, Noting(), Noting()
    with connect(port=port, player=ONE) as client:
        clock = {"initial": 300, "increment": 0}
        game_id = client.new_game(ONE, None, variant="rbc", max_turns=1, clock=clock)["game_id"]  # type: ignore[typeddict-item]
    with ThreadPoolExecutor() as threads:
        end = threads.submit(run, black, game_id, port=port, player=OTHER)
        assert run(white, game_id, port=port, player=ONE) == end.result()
    start, left, ended = white.calls
    assert start == (chess.WHITE, chess.STARTING_FEN, start[2])
    assert 290 < left <= 300
    assert ended == (None, WinReason.TURN_LIMIT) == black.calls[-1]
    assert black.calls[0] == (chess.BLACK, chess.STARTING_FEN, str(ONE))


def test_player_that_fails_has_resigned(daemon_process: Served) -> None:
    with connect(port=daemon_process.port, player=ONE) as client:
        game = client.game(client.new_game(ONE, OTHER, variant="rbc")["game_id"])
        with pytest.raises(ValueError, match="e2e5"):
            run(Noting(Move.from_uci("e2e5")), game.game_id, port=daemon_process.port, player=ONE)
        assert game.state["termination"] == "resignation_white"


@pytest.mark.parametrize("method", ["handle_game_start", "handle_opponent_move_result", "handle_move_result"])
@pytest.mark.parametrize("error", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_player_that_raises_anything_anywhere_has_resigned(
    daemon_process: Served, method: str, error: type[BaseException]
) -> None:
    class Failing(Noting):
        pass

    def fail(*_: object) -> None:
        raise error

    setattr(Failing, method, fail)
    with connect(port=daemon_process.port, player=ONE) as client:
        game = client.game(client.new_game(ONE, OTHER, variant="rbc")["game_id"])
        with pytest.raises(error):
            run(Failing(), game.game_id, port=daemon_process.port, player=ONE)
        assert game.state["termination"] == "resignation_white"


def test_next_game_is_one_that_can_be_played_from_its_beginning(daemon_process: Served) -> None:
    port, player, other = daemon_process.port, 79_003, 79_007
    with connect(port=port, player=player) as client:
        client.new_game(player, other)  # chess
        begun = client.new_game(player, player, variant="rbc")["game_id"]
        client.sense(begun, None, seat="white")
        client.move(begun, None, seat="white")
        client.new_game(player, other, variant="rbc", max_turns=1)
    with ThreadPoolExecutor() as threads:
        end = threads.submit(run, Noting(), port=port, player=player)
        assert run(Noting(), port=port, player=other, color="black") == end.result(60)


def test_colour_of_a_game_with_both_seats_open_may_be_chosen(daemon_process: Served) -> None:
    port = daemon_process.port
    with connect(port=port, player=79_004) as client:
        game_id = client.new_game(None, None, variant="rbc", max_turns=1)["game_id"]  # type: ignore[typeddict-item]
    with ThreadPoolExecutor() as threads:
        black = threads.submit(run, Noting(), game_id, port=port, player=79_005, color="black")
        white = threads.submit(run, Noting(), game_id, port=port, player=79_006, color="white")
        assert black.result(60) == white.result(60)


def test_game_that_a_player_cannot_play_from_its_beginning_is_refused(daemon_process: Served) -> None:
    port = daemon_process.port
    with connect(port=port, player=ONE) as client:
        chess_game = client.new_game(ONE, OTHER)["game_id"]
        both = client.new_game(ONE, ONE, variant="rbc")["game_id"]
        begun = client.new_game(ONE, OTHER, variant="rbc")["game_id"]
        client.sense(begun, None)
        client.move(begun, None)
        over = client.new_game(ONE, OTHER, variant="rbc")["game_id"]
        client.game(over).resign()
    for game_id, message in (
        (chess_game, "is standard, and a player plays rbc"),
        (both, "has both seats; give color"),
        (begun, "is under way"),
        (over, f"^game_id: game {over} is over$"),
    ):
        with pytest.raises(ValueError, match=message):
            run(Noting(), game_id, port=port, player=ONE)
    with pytest.raises(ValueError, match="opponent: leave it out"):
        run(Noting(), begun, opponent=OTHER, port=port, player=ONE)


def test_new_game_has_the_terms_that_are_asked_for(daemon_process: Served) -> None:
    port, me, other = daemon_process.port, ONE + 30, ONE + 31
    fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    white, black = Noting(), Noting()
    with ThreadPoolExecutor() as threads:
        end = threads.submit(run, black, port=port, player=other)
        asked = {"clock": "60+0", "fen": fen, "max_turns": 2}
        assert run(white, opponent=other, port=port, player=me, **asked) == end.result(60)  # type: ignore[arg-type]
        (_, shown, _), *left, ended = white.calls
        assert shown == chess.Board(fen).fen()
        assert 50 < min(left) <= max(left) <= 60
        assert ended == (None, WinReason.TURN_LIMIT)
        end = threads.submit(run, Noting(), port=port, player=other)
        player = Noting()
        history = run(player, opponent=other, port=port, player=me, clock=None, reversible_moves=4)
        assert (len(history.turns), player.calls[1]) == (4, math.inf)


def test_terms_of_a_new_game_that_cannot_be_are_named(daemon_process: Served) -> None:
    port = daemon_process.port
    with connect(port=port) as client:
        account = client.register("asks-for-much")
        client.register("is-asked")
    hello = {"player": account["player"], "key": account["key"]}
    with pytest.raises(GmError, match=r"^clock: "):
        run(Noting(), opponent="is-asked", clock="soon", port=port, **hello)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^max_turns: leave it out, or name an opponent for a new game$"):
        run(Noting(), 1, max_turns=3, port=port, player=ONE)


def test_opponent_that_nobody_knows_is_refused_by_its_name(daemon_process: Served) -> None:
    port = daemon_process.port
    expected = r"^opponent: 'randm' is no bot of the server \(it has none\), nor a player to invite: "
    with connect(port=port) as client:
        account = client.register("knows-nobody")
    for hello in ({"player": ONE}, {"player": account["player"], "key": account["key"]}):
        with pytest.raises(ValueError, match=expected):
            run(Noting(), opponent="randm", port=port, **hello)  # type: ignore[arg-type]


def test_missing_player_is_asked_for(daemon_process: Served) -> None:
    for hello in ({}, {"player": None}, {"player": "first-bot"}):
        with pytest.raises(ValueError, match=r"^player: give a number as player=, or name= and key= of"):
            run(Noting(), opponent=OTHER, port=daemon_process.port, **hello)  # type: ignore[arg-type]


def test_long_waits_for_others_are_logged(daemon_process: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "SILENT_SECONDS", 0.01)
    logged: SimpleQueue[logging.LogRecord] = SimpleQueue()
    monkeypatch.setattr(logging.getLogger("gm_client.running"), "handlers", [QueueHandler(logged)])
    port, me, other = daemon_process.port, ONE + 20, ONE + 21
    with ThreadPoolExecutor() as threads, connect(port=port, player=other) as client:
        white = threads.submit(run, Noting(), port=port, player=me)
        assert logged.get(timeout=60).getMessage() == f"player {me}: waiting for a game"
        game_id = client.new_game(me, other, variant="rbc")["game_id"]
        assert logged.get(timeout=60).getMessage() == f"game {game_id}: waiting for player {other}"
        client.game(game_id).resign()
        assert white.result().winner
        game_id = client.new_game(other, me, variant="rbc")["game_id"]
        black = threads.submit(run, Noting(), game_id, port=port, player=me)
        assert logged.get(timeout=60).getMessage() == f"game {game_id}: waiting for player {other}"
        client.game(game_id).resign()
        assert black.result().winner is False


def test_batch_of_games_has_a_player_in_each_seat() -> None:
    require_module("numba")
    from gm_env import BatchedRbc
    from gm_env import run as run_batch

    players = [(Noting(), Noting()) for _ in range(5)]
    histories = run_batch(players, BatchedRbc(5, max_turns=2))
    assert [len(history.turns) for history in histories] == [4] * 5
    assert all(player.calls[-1] == (None, WinReason.TURN_LIMIT) for pair in players for player in pair)
    clock = iter(range(0, 10_000, 3))
    late = run_batch([(Noting(), Noting())], BatchedRbc(1), seconds=10.0, increment=0.0, now=lambda: float(next(clock)))
    assert (late[0].winner, late[0].win_reason) == (chess.BLACK, WinReason.TIMEOUT)
    batch = BatchedRbc(1)
    batch.sense(batch.sample_senses())
    with pytest.raises(ValueError, match="has begun"):
        run_batch([(Noting(), Noting())], batch)
    with pytest.raises(ValueError, match="1 pairs for 2 games"):
        run_batch([(Noting(), Noting())], BatchedRbc(2))


NO_SQUARE = "is not a square: use 0 (a1) to 63 (h8); chess.parse_square makes one of a name"
#: What is chosen and may not be, and the error of every runner.
REFUSED: list[tuple[str, Any, str]] = [
    ("choose_sense", "e4", f"square: 'e4' {NO_SQUARE}"),
    ("choose_sense", 64, f"square: 64 {NO_SQUARE}"),
    ("choose_move", "e2e4", "requested: 'e2e4' is not a chess.Move; chess.Move.from_uci makes one of a text"),
    ("choose_move", Move.from_uci("e2e5"), "e2e5 is not among the move actions"),
    ("choose_move", Move.null(), "0000 is not among the move actions"),
]


def test_action_that_is_not_allowed_is_refused_alike_by_every_runner(daemon_process: Served) -> None:
    require_module("numba")
    from gm_env import BatchedRbc
    from gm_env import run as run_batch

    port = daemon_process.port
    for method, answer, message in REFUSED:
        player = Noting()
        setattr(player, method, lambda *_, answer=answer: answer)
        with connect(port=port, player=ONE) as client:
            game_id = client.new_game(ONE, OTHER, variant="rbc")["game_id"]
        runners: list[Callable[[], object]] = [
            lambda player=player: play_local(player, Noting()),  # type: ignore[misc]
            lambda player=player, game_id=game_id: run(player, game_id, port=port, player=ONE),  # type: ignore[misc]
            lambda player=player: run_batch([(player, Noting())], BatchedRbc(1)),  # type: ignore[misc]
        ]
        for play in runners:
            with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
                play()


def test_class_in_place_of_a_player_is_refused_alike_by_every_runner(daemon_process: Served) -> None:
    require_module("numba")
    from gm_env import BatchedRbc
    from gm_env import run as run_batch

    port, kind, message = daemon_process.port, cast(Player, Noting), r"^player: Noting is a class; pass Noting\(\)$"
    with connect(port=port, player=ONE) as client:
        games = len(client.games()["games"])
        for play in (
            lambda: play_local(Noting(), kind),
            lambda: run(kind, opponent=OTHER, port=port, player=ONE),
            lambda: run_batch([(Noting(), kind)], BatchedRbc(1)),
        ):
            with pytest.raises(TypeError, match=message):
                play()
        assert len(client.games()["games"]) == games


class Closing(Noting):
    """A player that notes when it is closed."""

    def close(self) -> None:
        self.calls.append("closed")


def test_no_runner_closes_a_player_that_it_is_given(daemon_process: Served) -> None:
    require_module("numba")
    from gm_env import BatchedRbc
    from gm_env import run as run_batch

    white, black = Closing(), Closing()
    play_local(white, black, max_turns=1)
    with connect(port=daemon_process.port, player=ONE) as client:
        game_id = client.new_game(ONE, OTHER, variant="rbc", max_turns=1)["game_id"]
    with ThreadPoolExecutor() as threads:
        end = threads.submit(run, black, game_id, port=daemon_process.port, player=OTHER)
        run(white, game_id, port=daemon_process.port, player=ONE)
        end.result()
    run_batch([(white, black)], BatchedRbc(1, max_turns=1))
    for player in (white, black):
        assert player.calls.count((None, WinReason.TURN_LIMIT)) == 3
        assert "closed" not in player.calls


def test_player_in_two_games_of_a_batch_is_refused() -> None:
    require_module("numba")
    from gm_env import BatchedRbc
    from gm_env import run as run_batch

    with pytest.raises(ValueError, match="players: one is in two games"):
        run_batch([(Noting(), Noting())] * 3, BatchedRbc(3))


def test_missing_extra_of_the_environment_is_named() -> None:
    code = "import sys; sys.modules['numba'] = None; import gm_env"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = (
        "ModuleNotFoundError: gm_env needs the extra env: run .venv/bin/pip install -e '.[env]' in the clone of gmd"
    )
    assert ran.stderr.splitlines()[-1] == expected


def test_missing_extra_of_the_client_is_named() -> None:
    code = "import sys; sys.modules['chess'] = None; from gm_client import run"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stderr.endswith("gm_client.run needs python-chess: pip install 'grandmasterd-client[rbc]'\n")


def test_player_waits_for_a_game_beyond_the_server_s_longest_wait() -> None:
    with (
        served("--max-wait", "0.1") as daemon,
        ThreadPoolExecutor(1) as thread,
        connect(port=daemon.port, player=1) as client,
    ):
        waiting = thread.submit(run, Wanderer(), port=daemon.port, player=2)
        for _ in range(5):
            assert client.wait(any=True)["state"] is None
        for turn in client.turns(client.new_game(1, 2, variant="rbc", max_turns=1)["game_id"]):
            turn.sense(None)
            turn.move(None)
        assert waiting.result().win_reason is WinReason.TURN_LIMIT
