"""A whole turn of blind chess: as reconchess's client takes it, nine HTTP requests, and as a client of gmd's does."""

from __future__ import annotations

import json
import socket
import tempfile
import time
from base64 import b64encode
from collections.abc import Sequence
from itertools import cycle
from statistics import median
from typing import Any, NamedTuple

from . import servers
from .load import HEADER, Address, frame

#: Games played at once.
AT_ONCE = (1, 50)
#: Turns a run, of all games together.
TURNS = 200
#: Knights that go out and home again: there is no end to it.
MOVES = ("g1f3", "g8f6", "f3g1", "f6g8")
#: Each knight's window holds the same, whatever was played.
SQUARE, SQUARE_NUMBER = "e4", 28

#: What reconchess's play_turn sends, and its is_over before it.
LOOKS = (
    "game_status",
    "sense_actions",
    "move_actions",
    "opponent_move_results",
    "seconds_left",
)


class Player(NamedTuple):
    """A registered player."""

    name: str
    id: int
    key: str


class Wire:
    """A connection, of which whole replies are read."""

    def __init__(self, address: Address) -> None:
        self._socket = socket.create_connection(address)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def reply(self) -> Any:
        """The next reply of the game protocol."""
        return json.loads(self._file.read(HEADER.unpack(self._file.read(HEADER.size))[0]))

    def response(self) -> None:
        """Take the next response of HTTP's, which must be 200."""
        status, length = self._file.readline(), 0
        while (line := self._file.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        body = self._file.read(length)
        assert b" 200 " in status, body

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def ask(wire: Wire, kind: str, **fields: Any) -> Any:
    """A request and its reply, which must be no error."""
    wire.send(frame({"kind": kind, **fields}))
    reply = wire.reply()
    assert reply["error"] is None, reply
    return reply


def measure(rounds: int) -> None:
    """Print turns a second over HTTP and over TCP, with few games at once and with many, in one run."""
    with tempfile.TemporaryDirectory() as data:
        port = _free_port()
        with servers.gmd(data, "--http-port", str(port)) as daemon:
            wire = Wire(daemon.address)
            ask(wire, "hello")
            players = [
                Player(name, reply["player"], reply["key"])
                for name in ("white-bot", "black-bot")
                for reply in [ask(wire, "register", name=name)]
            ]
            for games in AT_ONCE:
                _compare(daemon.address, ("127.0.0.1", port), wire, players, games, rounds)
            wire.close()


def _compare(tcp: Address, http: Address, wire: Wire, players: Sequence[Player], games: int, rounds: int) -> None:
    rates: list[tuple[float, float]] = []
    for number in range(-1, rounds):
        pair = (
            _http_rate(http, [_new_game(wire, players) for _ in range(games)], players),
            _tcp_rate(tcp, [_new_game(wire, players) for _ in range(games)], players),
        )
        if number >= 0:  # the first round warms
            rates.append(pair)
    by_http, by_tcp = (median(rate) for rate in zip(*rates, strict=True))
    ratio = median(one / other for one, other in rates)
    print(
        f"{games} game{'s' * (games > 1)} at once: {by_http:.0f} whole turns a second by reconchess's nine HTTP "
        f"requests, {by_tcp:.0f} over TCP (sense; then move, with wait behind it), ratio {ratio:.2f}"
    )


def _new_game(wire: Wire, players: Sequence[Player]) -> int:
    """A game in which both are there."""
    white, black = players
    options = {"variant": "rbc", "clock": {"initial": 86_400, "increment": 0}, "reversible_moves": None, "brief": True}
    seats = {"player_white": white.id, "player_black": black.id}
    game_id: int = ask(wire, "new_game", **seats, **options, player=white.id, key=white.key)["game_id"]
    ask(wire, "join", game_id=game_id, player=black.id, key=black.key, brief=True)
    ask(wire, "state", game_id=game_id, player=white.id, key=white.key, brief=True)
    return game_id


def _http_rate(address: Address, games: Sequence[int], players: Sequence[Player]) -> float:
    """Turns a second, every game's taken at the same time."""
    sides = [[Wire(address) for _ in games] for _ in players]
    headers = [f"Authorization: Basic {b64encode(f'{each.name}:{each.key}'.encode()).decode()}" for each in players]
    turns = max(2, TURNS // len(games))
    begun = time.perf_counter()
    for turn, uci in zip(range(turns), cycle(MOVES), strict=False):
        wires, header = sides[turn % 2], headers[turn % 2]
        requests: list[tuple[str, str | None]] = [(what, None) for what in LOOKS]
        requests += [("sense", json.dumps({"square": SQUARE_NUMBER})), ("seconds_left", None)]
        requests += [("move", json.dumps({"requested_move": {"type": "Move", "value": uci}})), ("end_turn", "{}")]
        for what, body in requests:
            for game_id, wire in zip(games, wires, strict=True):
                wire.send(_request(game_id, what, body, header))
            for wire in wires:
                wire.response()
    seconds = time.perf_counter() - begun
    _close(sides)
    return turns * len(games) / seconds


def _request(game_id: int, what: str, body: str | None, header: str) -> bytes:
    line = f"{'GET' if body is None else 'POST'} /api/games/{game_id}/{what} HTTP/1.1\r\nHost: here\r\n{header}\r\n"
    return f"{line}Content-Length: {len(body)}\r\n\r\n{body}".encode() if body is not None else f"{line}\r\n".encode()


def _tcp_rate(address: Address, games: Sequence[int], players: Sequence[Player]) -> float:
    """Turns a second, every game's taken at the same time."""
    sides = [[Wire(address) for _ in games] for _ in players]
    for player, wires in zip(players, sides, strict=True):
        for wire in wires:
            ask(wire, "hello", player=player.id, key=player.key)
    turns = max(2, TURNS // len(games))
    begun = time.perf_counter()
    for turn, uci in zip(range(turns), cycle(MOVES), strict=False):
        wires = sides[turn % 2]
        for game_id, wire in zip(games, wires, strict=True):
            if turn < 2:  # before the first turn nothing was waited for
                wire.send(_wait(game_id))
        for wire in wires:
            assert wire.reply()["state"]["phase"] == "sense"
        for game_id, wire in zip(games, wires, strict=True):
            wire.send(frame({"kind": "sense", "game_id": game_id, "square": SQUARE, "brief": True}))
        for wire in wires:
            assert wire.reply()["error"] is None
        for game_id, wire in zip(games, wires, strict=True):
            wire.send(frame({"kind": "move", "game_id": game_id, "move": uci, "brief": True}) + _wait(game_id))
        for wire in wires:
            assert wire.reply()["error"] is None
    seconds = time.perf_counter() - begun
    _close(sides)
    return turns * len(games) / seconds


def _wait(game_id: int) -> bytes:
    return frame({"kind": "wait", "game_id": game_id, "actions": True, "brief": True})


def _close(sides: Sequence[Sequence[Wire]]) -> None:
    for wires in sides:
        for wire in wires:
            wire.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
