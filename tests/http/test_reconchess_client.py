"""reconchess's own client from PyPI plays here: its RemoteGame, its bots, its play_remote_game."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import chess
import pytest
import requests
import trio
from chess import Color, Move, Piece, Square
from reconchess import GameHistory, LocalGame, Player, RemoteGame, WinReason, play_remote_game, play_turn
from reconchess.bots.random_bot import RandomBot
from reconchess.history import GameHistoryEncoder
from reconchess.scripts import rc_register
from reconchess.scripts.rc_connect import RBCServer, check_package_version, ranked_mode, unranked_mode

from gm_recon import ReconGame
from gmd.daemon import Daemon
from tests.helpers import Client, Json
from tests.http.contract import LEFT_OUT, MANUAL
from tests.http.rbc import Table, rbc_table
from tests.http.request_catalogue import Route
from tests.proofs import cases
from tests.serving import Served, reserved_port, served
from tests.side_by_side import MoveResult, RandomPlayers, Start, drawn_start, play_side_by_side

_T = TypeVar("_T")

#: The return value of play_remote_game.
End = tuple[Color | None, WinReason, GameHistory]


async def in_thread(function: Callable[..., _T], *arguments: Any) -> _T:
    """Call a blocking function, as reconchess does. A failing test leaves the call behind."""
    return await trio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True)


def url_of(daemon: Daemon) -> str:
    return f"http://127.0.0.1:{daemon.http_port}"


class RemoteSide:
    """Side of gmd in a game played side by side, by two of reconchess's RemoteGames: see :class:`Side`."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._games: list[RemoteGame] = []
        self._turn = chess.WHITE

    @property
    def _game(self) -> RemoteGame:
        return self._games[self._turn]

    async def begin(self, fen: str, reversible_moves: int | None, max_turns: int | None) -> None:
        options: dict[str, Any] = {"fen": fen, "reversible_moves": reversible_moves, "max_turns": max_turns}
        game_id = await self._table.new_game(clock=None, **options)
        url = url_of(self._table.daemon)
        self._games = [RemoteGame(url, game_id, player.auth) for player in (self._table.black, self._table.white)]
        self._turn = chess.Board(fen).turn
        for color, game in enumerate(self._games):
            assert await in_thread(game.get_player_color) == bool(color)
            assert await in_thread(game.get_starting_board) == chess.Board(fen)
            assert await in_thread(game.get_opponent_name) == ("white-bot", "black-bot")[color]
            await in_thread(game.start)

    async def opponent_capture(self) -> Square | None:
        return await in_thread(self._game.opponent_move_results)

    async def actions(self) -> tuple[list[Square], list[Move]]:
        assert await in_thread(self._game.is_my_turn)
        assert await in_thread(self._game.get_seconds_left) == 10_000_000
        return await in_thread(self._game.sense_actions), await in_thread(self._game.move_actions)

    async def sense(self, square: Square | None) -> Sequence[tuple[Square, Piece | None]]:
        return [tuple(cell) for cell in await in_thread(self._game.sense, square)]

    async def move(self, requested: Move | None) -> MoveResult:
        asked, taken, captured = await in_thread(self._game.move, requested)
        await in_thread(self._game.end_turn)
        self._turn = not self._turn
        return asked, taken, captured

    async def resign(self) -> None:
        await in_thread(self._game._post, "resign", {})

    async def result(self) -> tuple[Color | None, str] | None:
        # Like its client, which asks until it is its turn.
        if not await in_thread(self._game.is_over):
            return None
        return await in_thread(self._game.get_winner_color), (await in_thread(self._game.get_win_reason)).name

    async def history(self) -> str:
        history = await in_thread(self._game.get_game_history)
        assert (history.get_white_player_name(), history.get_black_player_name()) == ("white-bot", "black-bot")
        history.store_players(None, None)
        return GameHistoryEncoder().encode(history)


async def test_null_move_raises_as_in_local_game_and_does_not_pass() -> None:
    async with rbc_table() as table:
        local = LocalGame()
        remote = RemoteGame(url_of(table.daemon), await table.new_game(), table.white.auth)
        local.start()
        await in_thread(remote.start)
        for _ in range(2):
            local.sense(None)
            await in_thread(remote.sense, None)
            with pytest.raises(ValueError, match="0000 was not in move_actions"):
                local.move(Move.null())
            with pytest.raises(ValueError, match="0000, the null move, is not in move_actions"):
                await in_thread(remote.move, Move.null())
        assert tuple(await in_thread(remote.move, None)) == local.move(None) == (None, None, None)


async def test_remote_game_behaves_like_local_game() -> None:
    async with rbc_table() as table:
        await play_side_by_side(Start(max_turns=4), RandomPlayers(random.Random(0)), RemoteSide(table))


@pytest.mark.slow
async def test_remote_games_of_any_start_behave_like_local_games() -> None:
    async with rbc_table() as table:
        for seed in range(1, 1 + cases(1)):
            rng = random.Random(seed)
            start = drawn_start(rng)
            limits = {"reversible_moves": start.reversible_moves, "max_turns": start.max_turns}
            if not ReconGame(start.fen, **limits).is_over():  # otherwise nobody could join the game
                await play_side_by_side(start, RandomPlayers(rng), RemoteSide(table))


#: Routes that no program of reconchess uses: RemoteGame checks the end and the turn in other ways and cannot resign,
#: and any request makes a player active.
UNASKED = {
    ("GET", "/api/games/{game_id}/is_over"),
    ("POST", "/api/games/{game_id}/resign"),
    ("POST", "/api/users/me"),
}


async def test_reconchess_uses_all_routes_but_three(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[Route] = set()
    really_ask = requests.Session.request

    def ask(session: requests.Session, method: str, url: str, **options: Any) -> requests.Response:
        path = url.partition("/api")[2].rstrip("/")
        path = re.sub(
            r"/games/\d+", "/games/{game_id}", re.sub(r"/invitations/\d+", "/invitations/{invitation_id}", path)
        )
        asked.add((method.upper(), f"/api{path}"))
        return really_ask(session, method, url, **options)

    monkeypatch.setattr(requests.Session, "request", ask)
    async with rbc_table() as table:
        fields = [f"--{name}=some-bot" for name in ("username", "email", "affiliation", "password")]
        monkeypatch.setattr(sys, "argv", ["rc-register", f"--server-url={url_of(table.daemon)}", *fields])
        await in_thread(use_everything, url_of(table.daemon), table.white.auth, table.black.auth)
    assert asked == {*MANUAL, *LEFT_OUT} - UNASKED


def use_everything(url: str, white: tuple[str, str], black: tuple[str, str]) -> None:
    """Do everything that reconchess's programs do, and play a whole game."""
    sys.argv[1:], others = (
        [f"--{name}=some-bot" for name in ("username", "email", "affiliation", "password")],
        sys.argv[1:],
    )
    sys.argv.append(f"--server-url={url}")
    rc_register.main()
    sys.argv[1:] = others
    inviting, invited = RBCServer(url, white), RBCServer(url, black)
    check_package_version(invited)
    ranked_mode(invited, keep_version=True)  # the bot has no version yet and begins one
    unranked_mode(invited)
    invited.set_max_games(1)
    assert invited.get_active_users() == [black[0]]
    game_id = inviting.send_invitation(black[0], True)
    assert invited.get_invitations() == [game_id]
    game = RemoteGame(url, invited.accept_invitation(game_id), black)
    with ThreadPoolExecutor() as threads:
        playing = threads.submit(play_remote_game, url, game_id, white, RandomBot())
        game.start()
        while not game.is_over():
            assert game.is_my_turn()
            play_turn(game, Giving(lambda: invited.error_resign(game_id)))
        assert playing.result()[0] == chess.WHITE
    invited.finish_invitation(game_id)


class Giving(RandomBot):
    """Bot that gives the game up in its first turn."""

    def __init__(self, give_up: Callable[[], None]) -> None:
        self._give_up = give_up
        self.color = chess.BLACK

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move | None:
        self._give_up()
        return None

    def handle_move_result(self, *_: Any) -> None:
        pass


async def play_on_tcp(client: Client, game_id: int, **actor: Any) -> str:
    """Play one seat at random, as a bot with only a socket does; return the termination."""
    rng = random.Random(1)
    while True:
        reply = await client.ask("wait", game_id=game_id, actions=True, **actor)
        assert reply["error"] is None, reply
        state: dict[str, Any] = reply["state"]
        if state["phase"] == "over":
            return str(state["termination"])
        if state["phase"] == "sense":
            await client.ask("sense", game_id=game_id, square=rng.choice(reply["sense_actions"]), **actor)
        elif state["phase"] == "move":
            await client.ask("move", game_id=game_id, move=rng.choice(reply["move_actions"]), **actor)


async def test_bot_of_reconchess_plays_a_bot_on_tcp() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game(max_turns=8)
        client = Client(await trio.open_tcp_stream("127.0.0.1", table.daemon.port))
        await client.ask("hello")
        name, key = table.black.auth
        ends: list[End] = []

        async def play() -> None:
            ends.append(await in_thread(play_remote_game, url_of(table.daemon), game_id, table.white.auth, RandomBot()))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play)
            termination = await play_on_tcp(client, game_id, player=table.black.id, key=key)
        (winner, reason, history), *_ = ends
        assert history.get_black_player_name() == name
        words = {"KING_CAPTURE": "victory", "TURN_LIMIT": "draw_turn_limit", "MOVE_LIMIT": "draw_fifty_moves"}
        assert termination.startswith(words[reason.name])
        assert termination.endswith(
            {True: "_white", False: "_black", None: "s" if "fifty" in termination else "limit"}[winner]
        )
        await client.aclose()


class Knight(Player):
    """Player that moves a knight out and back and senses its square; some of its choices make something happen to
    the server.
    """

    def __init__(self, happen: Callable[[], None], *choices: int) -> None:
        self._happen = happen
        self._choices = choices
        self._chosen = 0
        self.result: tuple[Color | None, WinReason, GameHistory] | None = None

    def handle_game_start(self, color: Color, board: chess.Board, opponent_name: str) -> None:
        out = Move.from_uci("g1f3" if color else "g8f6")
        self._moves = [out, Move(out.to_square, out.from_square)]

    def choose_sense(self, sense_actions: list[Square], move_actions: list[Move], seconds_left: float) -> Square:
        self._choose()
        return self._moves[0].to_square

    def choose_move(self, move_actions: list[Move], seconds_left: float) -> Move:
        self._choose()
        self._moves.reverse()
        return self._moves[1]

    def handle_game_end(self, winner: Color | None, reason: WinReason, history: GameHistory) -> None:
        self.result = winner, reason, history

    def _choose(self) -> None:
        self._chosen += 1
        if self._chosen in self._choices:
            self._happen()


TURNS = 4


@pytest.mark.slow
def test_game_survives_repeated_kills_of_its_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with reserved_port() as port, reserved_port() as http_port:
        arguments = ("--data", str(tmp_path), "--http", "--http-port", str(http_port), "--port", str(port))
        trio.run(play_through_kills, arguments, f"http://127.0.0.1:{http_port}")
    capsys.readouterr()  # the client prints the addresses that it could not reach


async def play_through_kills(arguments: Sequence[str], url: str) -> None:
    """Let two bots play while the server is killed and restarted whenever one of them has chosen."""
    (kill, killed), (over, overs) = trio.open_memory_channel[None](0), trio.open_memory_channel[GameHistory](0)

    async def play(player: Json, game_id: int, bot: Player) -> None:
        *_, history = await in_thread(play_remote_game, url, game_id, (player["name"], player["key"]), bot)
        await over.send(history)

    def happen() -> None:
        trio.from_thread.run(kill.send, None)

    bots = Knight(happen, 3, 6), Knight(happen, 5)  # two senses and a move
    async with trio.open_nursery() as nursery:
        with served(*arguments) as daemon:
            players, game_id = await begin(daemon)
            for player, bot in zip(players, bots, strict=True):
                nursery.start_soon(play, player, game_id, bot)
            await killed.receive()
        for _ in range(2):
            with served(*arguments):
                await killed.receive()
        with served(*arguments):
            histories = [await overs.receive() for _ in bots]
    assert [bot.result for bot in bots] == [(None, WinReason.TURN_LIMIT, history) for history in histories]
    taken = [str(histories[0].taken_move(turn)) for turn in histories[0].turns()]
    assert taken == ["g1f3", "g8f6", "f3g1", "f6g8"] * (TURNS // 2)


async def begin(daemon: Served) -> tuple[list[Json], int]:
    """Return two players and the id of a game between them."""
    client = Client(await trio.open_tcp_stream(daemon.host, daemon.port))
    await client.ask("hello")
    players = [await client.ask("register", name=name) for name in ("white-bot", "black-bot")]
    white, black = ({"player": player["player"], "key": player["key"]} for player in players)
    seats = {"player_white": white["player"], "player_black": black["player"]}
    reply = await client.ask("new_game", variant="rbc", max_turns=TURNS, **seats, **white)
    assert (await client.ask("join", game_id=reply["game_id"], **black))["error"] is None
    await client.aclose()
    return players, reply["game_id"]
