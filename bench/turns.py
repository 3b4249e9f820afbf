"""A whole turn of blind chess: as by reconchess's client, with nine HTTP requests, and as by a client of gmd's.

It prints turns a second and the server's processor time per turn, and on request the same for another checkout of gmd
with the same requests, run by run.
"""

from __future__ import annotations

import json
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from statistics import median
from typing import NamedTuple

from . import servers
from .load import Connection, frame

#: Concurrent games.
AT_ONCE = (1, 50)
#: Turns per run, of all games together.
TURNS = 200
#: Knights that move out and back, without end.
MOVES = ("g1f3", "g8f6", "f3g1", "f6g8")
#: The sensed square, whose window is the same whatever was played.
SQUARE, SQUARE_NUMBER = "e4", 28

#: The requests of reconchess's play_turn before the sense, including is_over.
LOOKS = (
    "game_status",
    "sense_actions",
    "move_actions",
    "opponent_move_results",
    "seconds_left",
)
#: Requests a turn: these, and sense, seconds_left again, move, end_turn; over TCP sense, move, wait.
HTTP_REQUESTS, TCP_REQUESTS = len(LOOKS) + 4, 3
#: The headers that the library requests, which reconchess's client uses, adds to each request.
HEADERS = (
    "User-Agent: python-requests/2.32.5\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: keep-alive"
)


class Player(NamedTuple):
    """A registered player."""

    name: str
    id: int
    key: str


def basic_authorization(player: Player) -> str:
    """Return the value of HTTP's header."""
    return f"Basic {b64encode(f'{player.name}:{player.key}'.encode()).decode()}"


class Cost(NamedTuple):
    """The result of a run."""

    #: Turns a second.
    rate: float
    #: The server's processor time per turn, in milliseconds; NaN if the system does not say.
    milliseconds: float


class Side:
    """A server and its players."""

    def __init__(self, server: servers.Daemon) -> None:
        self.server = server
        self.wire = Connection(server.address)
        self.wire.ask("hello")
        self.players = [
            Player(name, reply["player"], reply["key"])
            for name in ("white-bot", "black-bot")
            for reply in [self.wire.ask("register", name=name)]
        ]

    def run(self, way: Callable[[Side, Sequence[int], int], None], games: int) -> Cost:
        """Create concurrent games and play them in one of the two ways."""
        played, turns = [new_game(self.wire, self.players) for _ in range(games)], max(2, TURNS // games)
        before, begun = self.server.cpu_seconds(), time.perf_counter()
        way(self, played, turns)
        seconds, after = time.perf_counter() - begun, self.server.cpu_seconds()
        used = float("nan") if before is None or after is None else after - before
        return Cost(turns * games / seconds, used / (turns * games) * 1e3)


def measure(rounds: int, against: str | None = None) -> None:
    """Print turns a second over HTTP and over TCP, and their cost, with few and with many concurrent games.

    :param against: the folder of another checkout of gmd, whose server plays the same games.
    """
    with ExitStack() as stack:
        sides = [stack.enter_context(_side(checkout)) for checkout in ([None] if against is None else [None, against])]
        for games in AT_ONCE:
            _compare(sides, games, rounds)


@contextmanager
def _side(checkout: str | None) -> Iterator[Side]:
    with tempfile.TemporaryDirectory() as data, servers.gmd(data, checkout=checkout) as server:
        side = Side(server)
        yield side
        side.wire.close()


def _compare(sides: Sequence[Side], games: int, rounds: int) -> None:
    http: list[list[Cost]] = [[] for _ in sides]
    tcp: list[list[Cost]] = [[] for _ in sides]
    for number in range(-1, rounds):
        for at, side in enumerate(sides):
            by_http, by_tcp = side.run(_http_turns, games), side.run(_tcp_turns, games)
            if number >= 0:  # the first round is a warm-up
                http[at].append(by_http)
                tcp[at].append(by_tcp)
    print(f"{games} game{'s' * (games > 1)} at once: {_text(http[0], HTTP_REQUESTS)}, by reconchess's HTTP requests; ")
    ratio = median(one.rate / other.rate for one, other in zip(http[0], tcp[0], strict=True))
    print(f"  {_text(tcp[0], TCP_REQUESTS)}, over TCP (sense; then move, with wait behind it); ratio {ratio:.2f}")
    if len(sides) > 1:
        both = [
            median(one.milliseconds / other.milliseconds for one, other in zip(*of, strict=True)) for of in (http, tcp)
        ]
        print(
            f"  the other checkout: {_text(http[1], HTTP_REQUESTS)}, by HTTP; {_text(tcp[1], TCP_REQUESTS)}, over TCP; "
            f"this one's processor time is {both[0]:.2f} of the other's by HTTP, {both[1]:.2f} over TCP"
        )


def _text(costs: Sequence[Cost], requests: int) -> str:
    rate, milliseconds = (median(values) for values in zip(*costs, strict=True))
    return (
        f"{rate:.0f} whole turns a second, {milliseconds:.2f} ms of the server's processor time a turn, "
        f"{milliseconds / requests * 1e3:.0f} us a request of {requests}"
    )


def new_game(wire: Connection, players: Sequence[Player]) -> int:
    """Create a game that both players have joined."""
    white, black = players
    options = {"variant": "rbc", "clock": {"initial": 86_400, "increment": 0}, "reversible_moves": None, "brief": True}
    seats = {"player_white": white.id, "player_black": black.id}
    game_id: int = wire.ask("new_game", **seats, **options, player=white.id, key=white.key)["game_id"]
    wire.ask("join", game_id=game_id, player=black.id, key=black.key, brief=True)
    wire.ask("state", game_id=game_id, player=white.id, key=white.key, brief=True)
    return game_id


def _http_turns(side: Side, games: Sequence[int], turns: int) -> None:
    """Take turns in all games at the same time."""
    sides = [[Connection(side.server.http) for _ in games] for _ in side.players]
    headers = [f"Authorization: {basic_authorization(each)}" for each in side.players]
    for turn, uci in zip(range(turns), cycle(MOVES), strict=False):
        wires, header = sides[turn % 2], headers[turn % 2]
        requests: list[tuple[str, str | None]] = [(what, None) for what in LOOKS]
        requests += [("sense", json.dumps({"square": SQUARE_NUMBER})), ("seconds_left", None)]
        requests += [("move", json.dumps({"requested_move": {"type": "Move", "value": uci}})), ("end_turn", "{}")]
        for what, body in requests:
            for game_id, wire in zip(games, wires, strict=True):
                for piece in _request(game_id, what, body, header):
                    wire.send(piece)
            for wire in wires:
                wire.response()
    _close(sides)


def _request(game_id: int, what: str, body: str | None, header: str) -> list[bytes]:
    """Return a request's bytes, in the pieces that the library requests sends: the head, and then the body."""
    line = f"{'GET' if body is None else 'POST'} /api/games/{game_id}/{what} HTTP/1.1"
    head = f"{line}\r\nHost: here\r\n{HEADERS}\r\n{header}\r\n"
    if body is None:
        return [f"{head}\r\n".encode()]
    return [f"{head}Content-Length: {len(body)}\r\n\r\n".encode(), body.encode()]


def _tcp_turns(side: Side, games: Sequence[int], turns: int) -> None:
    """Take turns in all games at the same time."""
    sides = [[Connection(side.server.address) for _ in games] for _ in side.players]
    for player, wires in zip(side.players, sides, strict=True):
        for wire in wires:
            wire.ask("hello", player=player.id, key=player.key)
    for turn, uci in zip(range(turns), cycle(MOVES), strict=False):
        wires = sides[turn % 2]
        for game_id, wire in zip(games, wires, strict=True):
            if turn < 2:  # no wait was sent with a move yet
                wire.send(_wait(game_id))
        for wire in wires:
            assert wire.reply()["state"]["phase"] == "sense"
        for game_id, wire in zip(games, wires, strict=True):
            wire.send(frame({"kind": "sense", "game_id": game_id, "square": SQUARE, "brief": True}))
        for wire in wires:
            wire.reply()
        for game_id, wire in zip(games, wires, strict=True):
            wire.send(frame({"kind": "move", "game_id": game_id, "move": uci, "brief": True}) + _wait(game_id))
        for wire in wires:
            wire.reply()
    _close(sides)


def _wait(game_id: int) -> bytes:
    return frame({"kind": "wait", "game_id": game_id, "actions": True, "brief": True})


def _close(sides: Sequence[Sequence[Connection]]) -> None:
    for wires in sides:
        for wire in wires:
            wire.close()
