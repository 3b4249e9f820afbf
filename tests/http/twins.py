"""Two games that look the same to a player, played over HTTP: every request must get the same answer in both.

The player sends every request that a game allows and, between the turns, those of :mod:`.request_catalogue`.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha256

import chess
import httpx
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gmd.daemon import Daemon
from gmd.http.pages.visitor import COOKIE
from tests.helpers import Json
from tests.http.helpers import open_http
from tests.http.pages.event_reader import begun
from tests.http.rbc import ENDED, PLAYERS, Table, answered, as_move, rbc_table
from tests.http.request_catalogue import OUTSIDE, HttpRequest, Route, Who
from tests.secrecy.paired_daemons import Distinguished
from tests.secrecy.twins import Action, OthersTurn, OwnTurn, Twins

GETS = (*PLAYERS, "is_over", "is_my_turn", *ENDED)

#: Status of the game, held for longer than :meth:`Pair.pass_time` ever passes in an opponent's turn.
HELD_STATUS = "game_status?wait=5"

#: What opens two tables.
Tables = AbstractAsyncContextManager[tuple[Table, Table]]

#: Headers that contain the time of the answer.
TIMES = ("date",)

#: Number of requests outside the game that are sent between two turns; at the end all are sent.
ASKED_BETWEEN = 3


class Twin:
    """One of the two games: the observer's requests, and the opponent's."""

    def __init__(self, table: Table, observer: chess.Color) -> None:
        self.table = table
        self.observer, self.opponent = (table.white, table.black) if observer else (table.black, table.white)
        self.game_id = 0

    async def begin(self, twins: Twins) -> None:
        """Create a game in which both players have made contact."""
        self.game_id = await self.table.new_game(fen=twins.fen, **twins.options)
        for player in (self.observer, self.opponent):
            answered(await player.post(self.game_id, "ready", {}))

    async def invited(self) -> int:
        """Let the opponent invite the observer, and return the game."""
        body = {"opponent": self.observer.auth[0], "color": False}
        sent = await self.table.client.post("/api/invitations/", json=body, auth=self.opponent.auth)
        game_id: int = answered(sent)["game_id"]
        return game_id


class Pair:
    """Both games, which get the same requests.

    :ivar compared: the number of answers so far.
    :ivar asked: the routes used so far.
    """

    def __init__(self, twins: tuple[Twin, Twin], clock: MockClock, rng: random.Random) -> None:
        self.twins = twins
        self.clock = clock
        self.rng = rng
        self.compared = 0
        self.asked: set[Route] = set()

    async def ask(self, method: str, what: str, body: Json | None = None, *, stranger: bool = False) -> None:
        """Send a request about the game in both.

        :raises Distinguished: the answers differ.
        """
        who: Who = "stranger" if stranger else "observer"
        await self.put(HttpRequest(method, f"/api/games/{{game_id}}/{what}", body, who))

    async def put(self, request: HttpRequest) -> None:
        """Send a request in both.

        :raises Distinguished: the answers differ.
        """
        received = [await send(twin, request) for twin in self.twins]
        for each in received:
            assert each.status_code < 500, f"{request}\n{each.text}"
        answers = [shown(each) for each in received]
        self.asked.add(request.route)
        self.compare(request, *answers)

    def compare(self, request: HttpRequest, one: object, other: object) -> None:
        self.compared += 1
        if one != other:
            raise Distinguished(f"{request}\n{one}\n{other}")

    async def invite(self) -> None:
        """Send invitations both ways, and follow one of them to its end; the observer gives up both games."""
        mine, theirs = "/api/invitations", "/api/invitations/{invitation_id}"
        games = [twin.game_id for twin in self.twins]
        await self.put(HttpRequest("POST", mine, {"opponent": self.twins[0].opponent.auth[0], "color": True}))
        for twin in self.twins:
            twin.game_id = await twin.invited()
        await self.put(HttpRequest("GET", mine))
        for request in (theirs, theirs, f"{theirs}/finish"):
            await self.put(HttpRequest("POST", request))
            await self.put(HttpRequest("GET", mine))
        await self.ask("POST", "error_resign", {})
        for twin, game_id in zip(self.twins, games, strict=True):
            answered(await twin.observer.post(twin.game_id - 1, "error_resign"))  # nobody has joined this game
            twin.game_id = game_id

    async def look_outside(self, *, at_everything: bool) -> None:
        """Send requests outside the game."""
        quick = [request for request in OUTSIDE if not request.slow]
        for request in OUTSIDE if at_everything else self.rng.sample(quick, ASKED_BETWEEN):
            await self.put(request)

    async def look(self, *, status: bool) -> None:
        """Send every request that changes nothing or is refused.

        :param status: also request the game's status, at once and held, as it is off turn.
        """
        await self.look_outside(at_everything=False)
        for what in (*GETS, "game_status", *([HELD_STATUS] if status else [])):
            await self.ask("GET", what)
        for what in (*GETS, "game_status"):
            await self.ask("GET", what, stranger=True)
        for what, body in (("ready", {}), ("sense", {"square": 64}), ("sense", {}), ("move", {})):
            await self.ask("POST", what, body)
        for what, body in (("sense", {"square": 3}), ("move", {"requested_move": None}), ("end_turn", {})):
            await self.ask("POST", what, body, stranger=True)

    async def take_turn(self, turn: OwnTurn) -> None:
        """Play the observer's turn, posting everything twice."""
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
        """Play the opponent's turn, while the observer waits for the game's status."""
        async with trio.open_nursery() as nursery:
            statuses: list[list[object]] = [[], []]
            for twin, answers in zip(self.twins, statuses, strict=True):
                nursery.start_soon(self._wait, twin, answers)
            await self._until_watched(statuses)
            for twin, action in zip(self.twins, turn.actions, strict=True):
                await self._others_sense(twin, action)
                await self.look(status=False)
                await self.ask("POST", "sense", {"square": 12})
                await self.ask("POST", "move", {"requested_move": as_move("e2e5")})
                if statuses != [[], []]:
                    raise Distinguished(f"the observer's status came when its opponent had sensed: {statuses}")
            self.pass_time()
            for twin, action in zip(self.twins, turn.actions, strict=True):
                body = {"requested_move": _uci(action.move)}
                answered(await twin.opponent.post(twin.game_id, "move", body))
                answered(await twin.opponent.post(twin.game_id, "end_turn", {}))
        self.compare(HttpRequest("GET", f"/api/games/{{game_id}}/{HELD_STATUS}"), *statuses)

    async def _wait(self, twin: Twin, answers: list[object]) -> None:
        answers.append(shown(await twin.observer.get(twin.game_id, HELD_STATUS)))

    async def _until_watched(self, statuses: list[list[object]]) -> None:
        """Return once both wait, or have been answered although nothing has happened."""
        for twin, answers in zip(self.twins, statuses, strict=True):
            while not answers and not twin.table.daemon.arbiter.watchers.watched(twin.game_id):
                await trio.lowlevel.checkpoint()

    async def _others_sense(self, twin: Twin, action: Action) -> None:
        answered(await twin.opponent.post(twin.game_id, "sense", {"square": action.sense}))
        await wait_all_tasks_blocked()

    def pass_time(self) -> None:
        """Let less time pass than a game's status is held for."""
        self.clock.jump(self.rng.choice([0.0, 0.25, 1.0]))


def _uci(move: chess.Move | None) -> Json | None:
    return None if move is None else as_move(move.uci())


async def send(twin: Twin, request: HttpRequest) -> httpx.Response:
    """Send one request; as from reconchess's client, the body is JSON without a content type."""
    table, auths = twin.table, {"observer": twin.observer.auth, "stranger": twin.table.other.auth}
    auths["impostor"] = (twin.opponent.auth[0], "not its key")
    url = request.url(twin.game_id)
    if request.visits:
        return await visit(twin, request, url)
    content = b"" if request.body is None else json.dumps(request.body).encode()
    return await table.client.request(request.method, url, content=content, auth=auths.get(request.who))


async def visit(twin: Twin, request: HttpRequest, url: str) -> httpx.Response:
    """Send one request as a browser does."""
    client, daemon = twin.table.client, twin.table.daemon
    visitors = {"observer": twin.observer, "stranger": twin.table.other}
    headers, form = {"accept": "text/html", "host": "gmd.test"}, request.form  # pages name the address that they have
    if (visitor := visitors.get(request.who)) is not None:
        cookie, token = session_of(twin.table, visitor.id, request.path)
        headers["cookie"] = f"{COOKIE}={cookie}"
        form = None if form is None else {**form, "csrf": token}
    if request.lasts:
        return await beginning_of(daemon, url, headers)
    if form is None:
        return await client.request(request.method, url, headers=headers)
    answer = await client.post(url, data=form, headers={**headers, "sec-fetch-site": "same-origin"})
    client.cookies.clear()
    return answer


async def beginning_of(daemon: Daemon, url: str, headers: dict[str, str]) -> httpx.Response:
    """Return what comes at once of an answer that has no end, and close the connection."""
    async with await open_http(daemon) as stream:
        reader = await begun(stream, url, headers.get("cookie", "").partition("=")[2] or None)
        content = await reader.drained()
        status, *lines = reader.head.decode().split("\r\n")
        return httpx.Response(int(status.split()[1]), headers=[line.split(": ", 1) for line in lines], content=content)


def session_of(table: Table, player: int, what: str) -> tuple[str, str]:
    """Return a player's cookie and the token of its forms, which is the same at both tables.

    :param what: what it is for: another cookie for each, so that the one that signs out ends no other.
    """
    for daemon in table.daemons:
        assert daemon.http is not None
        assert daemon.http.site is not None
        sessions = daemon.http.site.sessions
        sessions._key.secret = bytes(32)
    unsigned = f"{player}.0.{int(time.time())}.{sha256(what.encode()).hexdigest()[:32]}"
    account = table.daemon.authenticator.registry.get(player)
    cookie = f"{unsigned}.{sessions._signature(unsigned, account, oversees=False)}"
    return cookie, sessions.read(cookie).csrf


def shown(response: httpx.Response) -> object:
    """Return everything in an answer that its recipient can see."""
    headers = [(name, value) for name, value in response.headers.raw if name.decode() not in TIMES]
    return response.status_code, headers, response.content


def two_tables() -> Tables:
    """Yield two daemons with the same short history."""
    return alike(rbc_table)


@asynccontextmanager
async def alike(opened: Callable[..., AbstractAsyncContextManager[Table]]) -> AsyncIterator[tuple[Table, Table]]:
    """Yield two tables with the same short history; the player without a part in the game takes no games.

    :param opened: opens one of them, with the given settings.
    """
    often = 10**9
    patience = {
        "max_failures_per_minute": often,
        "max_registrations_per_hour": often,
        "max_invitations_per_minute": often,
    }
    settings = {"idle_timeout": 10_000, "frame_timeout": 10_000, "metrics_token": "the operator's", **patience}
    clock = trio.lowlevel.current_clock()
    assert isinstance(clock, MockClock)
    clock.rate = 0.0
    async with opened(**settings) as one, opened(**settings) as other:
        for table in (one, other):
            auth = table.other.auth
            answered(await table.client.post("/api/users/me/max_games", json={"max_games": 0}, auth=auth))
        try:
            yield one, other
        finally:
            clock.rate = 1.0  # connections linger for a moment before they are closed


async def play(pair: Pair, twins: Twins) -> None:
    """Play a pair of games in which the observer sends every request that it can.

    :raises Distinguished: some answers differed.
    """
    for twin in pair.twins:
        await twin.begin(twins)
    await pair.invite()
    for turn in twins.turns:
        await (pair.take_turn(turn) if isinstance(turn, OwnTurn) else pair.watch_turn(turn))
    await pair.look(status=twins.boards[0].turn == twins.observer)
    await pair.look_outside(at_everything=True)
    for what in ("error_resign", "resign"):
        await pair.ask("POST", what, {})
    for what in ("game_status", "winner_color", "win_reason"):
        await pair.ask("GET", what)


def pair_of(tables: tuple[Table, Table], twins: Twins, clock: MockClock, rng: random.Random) -> Pair:
    one, other = (Twin(table, twins.observer) for table in tables)
    return Pair((one, other), clock, rng)
