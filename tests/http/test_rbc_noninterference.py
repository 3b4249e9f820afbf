"""Nothing hidden shows over HTTP either: in two games that look the same to a player, every route answers the same."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import chess
import httpx
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.helpers import Json
from tests.helpers_proof import proof_size
from tests.http.rbc import Player, Table, answered, as_move, rbc_table
from tests.noninterference import Told
from tests.test_noninterference import LEAKS
from tests.twin_games import PASSING_PAWNS, Action, OthersTurn, OwnTurn, Twins, draw_twins

GETS = (
    "color",
    "starting_board",
    "opponent_name",
    "sense_actions",
    "move_actions",
    "seconds_left",
    "opponent_move_results",
    "is_over",
    "is_my_turn",
    "winner_color",
    "win_reason",
    "game_history",
)

#: Of an answer, what says when it was made.
TIMES = ("date",)


class Twin:
    """One of the two games: the observer's requests, and the opponent's."""

    def __init__(self, table: Table, observer: chess.Color) -> None:
        self.table = table
        self.observer, self.opponent = (table.white, table.black) if observer else (table.black, table.white)
        self.game_id = 0

    async def begin(self, twins: Twins) -> None:
        """A new game, in which both are there."""
        self.game_id = await self.table.new_game(fen=twins.fen, **twins.options)
        for player in (self.observer, self.opponent):
            answered(await player.post(self.game_id, "ready", {}))


class Pair:
    """Both, asked the same.

    :ivar compared: how many answers there have been.
    """

    def __init__(self, twins: tuple[Twin, Twin], clock: MockClock, rng: random.Random) -> None:
        self.twins = twins
        self.clock = clock
        self.rng = rng
        self.compared = 0

    async def ask(self, method: str, what: str, body: Json | None = None, *, stranger: bool = False) -> None:
        """Ask in both games.

        :raises Told: the answers are different.
        """
        answers = []
        for twin in self.twins:
            player = twin.table.other if stranger else twin.observer
            answers.append(shown(await send(player, twin.game_id, method, what, body)))
        self.compare(f"{method} {what} {body}", *answers)

    def compare(self, request: str, one: object, other: object) -> None:
        self.compared += 1
        if one != other:
            raise Told(f"{request}\n{one}\n{other}")

    async def look(self, *, status: bool) -> None:
        """Everything that changes nothing, or is refused.

        :param status: ask for the game's status, too, which is waited for off one's turn.
        """
        for what in (*GETS, "game_status") if status else GETS:
            await self.ask("GET", what)
        for what in (*GETS, "game_status"):
            await self.ask("GET", what, stranger=True)
        for what, body in (("ready", {}), ("sense", {"square": 64}), ("sense", {}), ("move", {})):
            await self.ask("POST", what, body)
        for what, body in (("sense", {"square": 3}), ("move", {"requested_move": None}), ("end_turn", {})):
            await self.ask("POST", what, body, stranger=True)

    async def take_turn(self, turn: OwnTurn) -> None:
        """The observer's turn, everything posted twice."""
        await self.look(status=True)
        await self.ask("POST", "move", {"requested_move": as_move(turn.forbidden.uci())})
        await self.ask("POST", "end_turn", {})
        self.pass_time()
        for _ in range(2):
            await self.ask("POST", "sense", {"square": turn.action.sense})
        await self.ask("POST", "sense", {"square": 0 if turn.action.sense else 1})
        await self.ask("POST", "move", {"requested_move": as_move(turn.forbidden.uci())})
        await self.look(status=True)
        self.pass_time()
        for _ in range(2):
            await self.ask("POST", "move", {"requested_move": _uci(turn.action.move)})
            await self.ask("POST", "end_turn", {})
        await self.ask("POST", "resign", {})

    async def watch_turn(self, turn: OthersTurn) -> None:
        """The opponent's turn, while the observer waits for the game's status."""
        async with trio.open_nursery() as nursery:
            told: list[list[object]] = [[], []]
            for twin, answers in zip(self.twins, told, strict=True):
                nursery.start_soon(self._wait, twin, answers)
            await self._until_watched(told)
            for twin, action in zip(self.twins, turn.actions, strict=True):
                await self._others_sense(twin, action)
                await self.look(status=False)
                await self.ask("POST", "sense", {"square": 12})
                await self.ask("POST", "move", {"requested_move": as_move("e2e5")})
                if told != [[], []]:
                    raise Told(f"the observer's status came when its opponent had sensed: {told}")
            self.pass_time()
            for twin, action in zip(self.twins, turn.actions, strict=True):
                body = {"requested_move": _uci(action.move)}
                answered(await twin.opponent.post(twin.game_id, "move", body))
                answered(await twin.opponent.post(twin.game_id, "end_turn", {}))
        self.compare("GET game_status", *told)

    async def _wait(self, twin: Twin, answers: list[object]) -> None:
        answers.append(shown(await twin.observer.get(twin.game_id, "game_status")))

    async def _until_watched(self, told: list[list[object]]) -> None:
        """Return once both wait, or have been told something though nothing has happened."""
        for twin, answers in zip(self.twins, told, strict=True):
            while not answers and not twin.table.daemon.arbiter.watchers.watched(twin.game_id):
                await trio.lowlevel.checkpoint()

    async def _others_sense(self, twin: Twin, action: Action) -> None:
        answered(await twin.opponent.post(twin.game_id, "sense", {"square": action.sense}))
        await wait_all_tasks_blocked()

    def pass_time(self) -> None:
        """Less than the status of a game is waited for."""
        self.clock.jump(self.rng.choice([0.0, 0.25, 1.0]))


def _uci(move: chess.Move | None) -> Json | None:
    return None if move is None else as_move(move.uci())


async def send(player: Player, game_id: int, method: str, what: str, body: Json | None) -> httpx.Response:
    """One request."""
    return await (player.get(game_id, what) if method == "GET" else player.post(game_id, what, body))


def shown(response: httpx.Response) -> object:
    """All of an answer that whoever gets it can see."""
    headers = [(name, value) for name, value in response.headers.raw if name.decode() not in TIMES]
    return response.status_code, headers, response.content


@asynccontextmanager
async def two_tables() -> AsyncIterator[tuple[Table, Table]]:
    """Two daemons that have done the same, which is to say nothing."""
    patience = {"idle_timeout": 10_000, "frame_timeout": 10_000}
    async with rbc_table(**patience) as one, rbc_table(**patience) as other:
        yield one, other


async def play(tables: tuple[Table, Table], twins: Twins, clock: MockClock, rng: random.Random) -> int:
    """Play a pair of games, the observer asking all it can; how many answers were compared.

    :raises Told: some were different.
    """
    one, other = (Twin(table, twins.observer) for table in tables)
    pair = Pair((one, other), clock, rng)
    for twin in pair.twins:
        await twin.begin(twins)
    for turn in twins.turns:
        await (pair.take_turn(turn) if isinstance(turn, OwnTurn) else pair.watch_turn(turn))
    await pair.look(status=twins.boards[0].turn == twins.observer)
    await pair.ask("POST", "error_resign", {})
    for what in ("game_status", "winner_color", "win_reason"):
        await pair.ask("GET", what)
    return pair.compared


@pytest.mark.proof
async def test_a_player_is_told_the_same_in_games_that_look_the_same(mock_clock: MockClock) -> None:
    pairs = proof_size(3, 1_000, 40)
    different = compared = 0
    async with two_tables() as tables:
        for seed in range(pairs):
            rng = random.Random(seed)
            twins = draw_twins(rng)
            different += twins.differ
            try:
                compared += await play(tables, twins, mock_clock, rng)
            except* Told as told:
                told.add_note(f"in the games of seed {seed}")
                raise
    assert different > 0.6 * pairs
    print(f"{pairs} pairs, {different} of them of different positions in the end, {compared} answers compared")


#: Those of the daemon's possible faults that a route would pass on.
OF_ROUTES = (
    "the order of errors",
    "the phase off turn",
    "the order of moves",
    "a wait that ends at a sense",
)


#: So many that each shows.
PAIRS = 40


@pytest.mark.parametrize("leak", OF_ROUTES)
async def test_it_is_found_out_where_something_shows(
    leak: str, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*LEAKS[leak])
    async with two_tables() as tables:
        assert await is_told(tables, mock_clock)


async def is_told(tables: tuple[Table, Table], clock: MockClock) -> bool:
    """Whether some pair of games can be told apart."""
    told = False
    for seed in range(PAIRS):
        rng = random.Random(seed)
        try:
            await play(tables, draw_twins(rng, [PASSING_PAWNS], limited=False), clock, rng)
        except* Told:
            told = True
        if told:
            break
    return told
