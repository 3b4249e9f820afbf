"""``ServerGame`` compared with reconchess's ``LocalGame``, method by method; and ``ServerSeat`` in place of
``RemoteGame``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chess
import pytest
from chess import Move
from reconchess import LocalGame, Player, WinReason, play_local_game
from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot

from gm_arena.reconchess_game import ServerGame, ServerSeat, play_seat
from gm_client import Client, GmError, connect
from tests.proofs import cases
from tests.serving import Served, reserved_port, served
from tests.side_by_side import POSITIONS, Chooser, RandomPlayers, Start, compare_histories, drawn_start

#: No clocks: those of two games never show the same time.
UNTIMED: tuple[None, None] = (None, None)


@pytest.fixture
def pair(daemon_process: Served) -> Iterator[tuple[Client, Client]]:
    """Yield White's client and Black's."""
    with connect(port=daemon_process.port, player=1) as white, connect(port=daemon_process.port, player=2) as black:
        yield white, black


class BothGames:
    """A LocalGame and a ServerGame: the same calls must give the same results, and leave the same state."""

    def __init__(self, start: Start, white: Client, black: Client) -> None:
        limits = (start.reversible_moves, start.max_turns)
        self.local, self.server = LocalGame(*UNTIMED, *limits), ServerGame(white, black, *UNTIMED, *limits)
        for game in (self.local, self.server):
            game.board = chess.Board(start.fen)
            game.turn = game.board.turn

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of both; ValueErrors are results."""
        one, other = (_outcome(getattr(game, name), *arguments) for game in (self.local, self.server))
        assert type(other) is type(one), (name, arguments, one, other)
        if not isinstance(one, ValueError):
            assert other == one, (name, arguments)
        return one

    def compare(self) -> None:
        """Compare all that can be asked without changing anything."""
        assert self.server.turn == self.local.turn
        assert self.server.board.fen(en_passant="fen") == self.local.board.fen(en_passant="fen")
        for name in ("sense_actions", "move_actions", "is_over", "get_seconds_left", "get_winner_color"):
            self.call(name)
        self.call("get_win_reason")
        assert (self.server.get_game_history() is None) == (self.local.get_game_history() is None)

    def act(self, name: str, *arguments: Any) -> Any:
        """Call a method that changes something, and compare all that can be seen afterwards."""
        result = self.call(name, *arguments)
        self.compare()
        return result


def _outcome(method: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return method(*arguments)
    except ValueError as error:
        return error


def play_on_both(games: BothGames, players: Chooser) -> None:
    """Play a whole game on both."""
    games.call("store_players", "white's name", "black's name")
    games.act("start")
    while not games.local.is_over():
        play_turn_on_both(games, players)
    games.act("end")
    after_the_end(games)
    compare_histories(games.local.get_game_history(), games.server.get_game_history())


def play_turn_on_both(games: BothGames, players: Chooser) -> None:
    games.call("opponent_move_results")
    squares, moves = games.local.sense_actions(), games.local.move_actions()
    games.act("sense", players.choose_sense(games.local, squares, moves))
    if players.resigns():
        games.act("resign")
        return
    while isinstance(games.act("move", players.choose_move(games.local, moves.copy())), ValueError):
        pass
    games.act("end_turn")


def after_the_end(games: BothGames) -> None:
    """Check that further actions change nothing and raise no error."""
    games.call("opponent_move_results")
    games.act("sense", chess.E4)
    games.act("move", Move.from_uci("e2e4"))
    games.act("move", None)
    one, other = (game.get_game_history() for game in (games.local, games.server))
    assert other.get_white_player_name() == one.get_white_player_name()
    assert other.get_black_player_name() == one.get_black_player_name()


#: The rules are compared in depth in tests/games: here a few games suffice.
@pytest.mark.parametrize("position", ["the start", "castling", "promotions", "en passant for either pawn"])
def test_game_is_played_as_local_game_plays_it(position: str, pair: tuple[Client, Client]) -> None:
    start = Start(POSITIONS[position], max_turns=chess.Board(POSITIONS[position]).fullmove_number + 6)
    play_on_both(BothGames(start, *pair), RandomPlayers(random.Random(position)))


@pytest.mark.slow
def test_random_games_match_local_game(pair: tuple[Client, Client]) -> None:
    for seed in range(cases(4)):
        rng = random.Random(seed)
        try:
            play_on_both(BothGames(drawn_start(rng), *pair), RandomPlayers(rng))
        except BaseException as error:
            error.add_note(f"in the game of seed {seed}")
            raise


def test_forbidden_action_raises_what_local_game_raises(pair: tuple[Client, Client]) -> None:
    games = BothGames(Start(), *pair)
    games.act("start")
    for square in (64, -1):
        assert isinstance(games.act("sense", square), ValueError)
    games.act("sense", chess.E7)
    for uci in ("e2e5", "e7e5", "a1b1", "e2e4q", "0000"):
        assert isinstance(games.act("move", Move.from_uci(uci)), ValueError)
    games.act("move", Move.from_uci("e2e4"))


def test_turn_is_one_sense_and_then_one_move(pair: tuple[Client, Client]) -> None:
    """LocalGame trusts its caller, who may sense again and again; a server does not."""
    game = ServerGame(*pair, *UNTIMED)
    game.start()
    with pytest.raises(GmError, match="sense first"):
        game.move(None)
    seen = game.sense(chess.E7)
    assert game.sense(chess.E7) == seen  # the client may not have received the first reply
    with pytest.raises(GmError, match="you have sensed"):
        game.sense(chess.E2)


@pytest.mark.parametrize("done", [("sense",), ("sense", "move", "end_turn")])
def test_game_that_is_ended_early_has_no_winner(done: tuple[str, ...], pair: tuple[Client, Client]) -> None:
    games = BothGames(Start(), *pair)
    games.act("start")
    for name in done:
        games.act(name, *([] if name == "end_turn" else [None]))
    games.act("end")
    after_the_end(games)
    assert games.server.get_win_reason() is None
    compare_histories(games.local.get_game_history(), games.server.get_game_history())
    state = pair[0].state(games.server.game_id)["state"]
    assert state["phase"] == "over"  # no player would continue


def assert_not_on_server(game: ServerGame) -> None:
    with pytest.raises(RuntimeError, match="call start"):
        game.game_id  # noqa: B018


def test_game_that_is_over_before_its_start_is_never_made_on_the_server(pair: tuple[Client, Client]) -> None:
    no_king = Start("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w kq - 0 1")
    at_its_limit = Start("4k3/8/8/8/8/8/8/4K3 w - - 7 9", reversible_moves=7)
    for start, names in ((Start(), ("resign", "start")), (no_king, ("start",)), (at_its_limit, ("start",))):
        games = BothGames(start, *pair)
        for name in (*names, "end"):
            games.act(name)
        compare_histories(games.local.get_game_history(), games.server.get_game_history())
        assert_not_on_server(games.server)


def test_unstarted_game_has_its_full_time(pair: tuple[Client, Client]) -> None:
    for limits in ((), (60, 1), (None, None), (0, 5)):
        local, server = LocalGame(*limits), ServerGame(*pair, *limits)
        assert server.get_seconds_left() == local.get_seconds_left()
        for game in (local, server):
            game.start()
        assert server.is_over() is local.is_over()
        assert (server.get_winner_color(), server.get_win_reason()) == (
            local.get_winner_color(), local.get_win_reason(),
        )  # fmt: skip


def test_game_is_made_from_the_position_reached_before_its_start(pair: tuple[Client, Client]) -> None:
    games = BothGames(Start(), *pair)
    games.compare()
    assert_not_on_server(games.server)
    for uci in ("e2e4", "d7d5"):
        games.act("move", Move.from_uci(uci))
        games.call("opponent_move_results")
    games.act("start")
    games.act("sense", None)
    assert games.act("move", Move.from_uci("e4d5"))[2] == chess.D5


def test_clock_is_the_servers_and_its_time_runs_out(pair: tuple[Client, Client]) -> None:
    game = ServerGame(*pair)
    game.start()
    assert 0 < game.get_seconds_left() <= 900
    game.sense(None)
    game.move(None)
    game.end_turn()
    assert 0 < game.get_seconds_left() <= 900
    over = [LocalGame(0.01, None), ServerGame(*pair, 0.01, None)]
    for game in over:
        game.start()
        while not game.is_over():
            pass
        game.end()
        assert (game.get_winner_color(), game.get_win_reason()) == (chess.BLACK, WinReason.TIMEOUT)
        assert game.get_seconds_left() <= 0


def test_one_player_may_have_both_seats(pair: tuple[Client, Client]) -> None:
    play_on_both(BothGames(Start(max_turns=3), pair[0], pair[0]), RandomPlayers(random.Random(3)))


def test_registered_players_take_their_seats(daemon_process: Served) -> None:
    """The other player has only been invited to its second game."""
    with connect(port=daemon_process.port) as one, connect(port=daemon_process.port) as other:
        for client, name in ((one, "server-game-one"), (other, "server-game-other")):
            registered = client.register(name)
            client.hello(player=registered["player"], key=registered["key"])
        play_on_both(BothGames(Start(max_turns=3), one, other), RandomPlayers(random.Random(3)))
        game_id = one.new_game(one.player, other.player, variant="rbc", max_turns=5)["game_id"]
        ends = play_seats((one, other), game_id, (Noting(), Noting()))
        assert ends[0] == ends[1]


def test_client_without_a_seat_is_refused(pair: tuple[Client, Client], daemon_process: Served) -> None:
    with connect(port=daemon_process.port) as nobody:
        with pytest.raises(ValueError, match="needs a player"):
            ServerGame(nobody, pair[0])
        game = ServerGame(pair[0], pair[0])
        game.start()
        for client in (nobody, *pair):
            with pytest.raises(ValueError, match=r"player (None|2) has no seat|player 1 has both seats"):
                ServerSeat(client, game.game_id)


def test_reconchess_s_own_loop_plays_it_as_local_game(pair: tuple[Client, Client]) -> None:
    ends = []
    for game in (LocalGame(*UNTIMED, None, 20), ServerGame(*pair, *UNTIMED, None, 20)):
        random.seed(7)
        ends.append(play_local_game(RandomBot(), AttackerBot(), game))
    (*local, one), (*server, other) = ends
    assert server == local
    compare_histories(one, other)
    assert (other.get_white_player_name(), other.get_black_player_name()) == ("RandomBot", "AttackerBot")


class Noting(RandomBot):
    """A bot that records its calls."""

    def __init__(self) -> None:
        self.rng = random.Random(1)
        self.started: tuple[Any, ...] = ()
        self.ended: tuple[Any, ...] = ()
        self.least = math.inf

    def handle_game_start(self, color: chess.Color, board: chess.Board, opponent_name: str) -> None:
        self.started = (color, board, opponent_name)

    def choose_sense(self, sense_actions: list[int], move_actions: list[Move], seconds_left: float) -> int:
        self.least = min(self.least, seconds_left)
        return self.rng.choice(sense_actions)

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        return self.rng.choice([*move_actions, None])

    def handle_game_end(self, winner: chess.Color | None, reason: WinReason | None, history: Any) -> None:
        self.ended = (winner, reason, history)


def play_seats(clients: tuple[Client, Client], game_id: int, bots: tuple[Player, Player]) -> list[Any]:
    """Play both seats, each in its own thread."""
    with ThreadPoolExecutor(2) as threads:
        seats = [ServerSeat(client, game_id) for client in clients]
        return list(threads.map(play_seat, seats, bots))


def test_two_programs_play_a_seat_each(pair: tuple[Client, Client]) -> None:
    white, black = Noting(), Noting()
    game_id = pair[0].new_game(1, 2, variant="rbc", max_turns=15)["game_id"]
    ends = play_seats(pair, game_id, (white, black))
    assert ends[0] == ends[1] == white.ended == black.ended
    assert ends[0][2].num_turns() > 0
    assert white.started == (chess.WHITE, chess.Board(), "2")
    assert black.started == (chess.BLACK, chess.Board(), "1")
    assert 0 < min(white.least, black.least) <= 905


def test_finished_seat_reports_its_result(pair: tuple[Client, Client]) -> None:
    game_id = pair[0].new_game(1, 2, variant="rbc")["game_id"]
    white, black = (ServerSeat(client, game_id) for client in pair)
    assert (white.is_my_turn(), black.is_my_turn()) == (True, False)
    assert (len(white.sense_actions()), black.sense_actions(), black.move_actions()) == (64, [], [])
    assert white.get_game_history() is white.get_winner_color() is white.get_win_reason() is None
    with pytest.raises(GmError, match="turn"):
        black.sense(None)
    black.resign()
    for seat in (white, black):
        assert seat.is_over()
        assert (seat.get_winner_color(), seat.get_win_reason()) == (chess.WHITE, WinReason.RESIGN)
        assert seat.sense(chess.E4) == []
        assert seat.move(Move.from_uci("e2e4")) == (Move.from_uci("e2e4"), None, None)
        seat.end_turn()


@pytest.mark.slow
def test_game_survives_its_server(tmp_path: Path) -> None:
    """The server is killed within the turns of both players, and started again on the same port."""
    turns: list[list[tuple[Any, ...]]] = [
        [("start",), ("sense", chess.E7)],
        [("move", Move.from_uci("e2e4")), ("end_turn",), ("sense", chess.E4)],
        [("move", None)],
    ]
    with reserved_port() as port, Client(port=port, player=1) as white, Client(port=port, player=2) as black:
        games: BothGames | None = None
        for steps in turns:
            with served("--data", str(tmp_path), "--port", str(port)):
                for client in (white, black):
                    client.open()  # so that it knows its player
                games = games or BothGames(Start(), white, black)
                for name, *arguments in steps:
                    games.act(name, *arguments)
