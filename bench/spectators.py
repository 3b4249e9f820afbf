"""The delays of other clients while a change of one game wakes thousands of waiting clients."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

from . import servers
from .games import shuffle
from .load import HELLO, Address, count_frames, frame, move, some
from .progress import steps

#: The number of waiting clients. A server has 10,000 slots for connections.
WAITERS = 9_000
#: Connections opened before their replies are read.
A_STEP = 100
#: Moves of another game that are timed before the change; seconds of timing after it; and seconds between two moves.
BEFORE = 500
AFTER_SECONDS = 10.0
PAUSE_SECONDS = 0.002

#: The game that is waited for; the game whose moves are timed; and the players of the latter.
WATCHED, OTHER, OTHERS = 1, 2, (3, 4)


@dataclass(frozen=True)
class Scene:
    """A kind of wait, and the action that wakes the waiting clients."""

    name: str
    wait: dict[str, object]
    act: dict[str, object]


SCENES = (
    Scene("a move, spectators", {"game_id": WATCHED, "ply": 0}, {"kind": "move", "player": 1, "move": "e4"}),
    Scene(
        "an end, spectators",
        {"game_id": WATCHED, "ply": 0},
        {"kind": "end_game", "player": 1, "termination": "resignation_white"},
    ),
    Scene("a move, waits with any", {"player": 2, "any": True}, {"kind": "move", "player": 1, "move": "e4"}),
)


@dataclass
class Seen:
    """The result of a scene, in seconds."""

    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    mover: float = 0.0
    opponent: float = 0.0
    last: float = 0.0


def measure() -> None:
    """Print, for each scene, the delays of another game's moves, and when each kind of client was woken."""
    titles = "other's median ms", "worst before ms", "worst after ms", "mover ms", "opponent ms", "last waiter s"
    print(f"{f'{WAITERS:,} wait; woken by':26}" + "".join(f"{title:>19}" for title in titles))
    for scene in SCENES:
        seen = _play(scene)
        middle = sorted(seen.before)[len(seen.before) // 2]
        row = middle, max(seen.before), max(seen.after), seen.mover, seen.opponent
        print(f"{scene.name:26}" + "".join(f"{seconds * 1e3:>19.1f}" for seconds in row) + f"{seen.last:>19.2f}")


def _play(scene: Scene) -> Seen:
    seen = Seen()
    with servers.gmd(":memory:", "--max-wait", "600") as server, ExitStack() as stack:
        connect = partial(_connected, server.address)
        mover, opponent, other = (stack.enter_context(connect()) for _ in range(3))
        for players in ((1, 2), OTHERS):
            _ask(mover, {"kind": "new_game", "player_white": players[0], "player_black": players[1]})
        waiters = [stack.enter_context(connected) for connected in _waiting(server.address, scene.wait)]
        opponent.sendall(frame({"kind": "wait", "player": 2, "game_id": WATCHED}))
        _settle(other)
        _time(scene, seen, mover, opponent, other, waiters)
    return seen


def _time(
    scene: Scene,
    seen: Seen,
    mover: socket.socket,
    opponent: socket.socket,
    other: socket.socket,
    waiters: list[socket.socket],
) -> None:
    moves = iter(enumerate(shuffle(10_000)))
    for _ in range(BEFORE):
        seen.before.append(_one_move(other, moves))
    begun = time.perf_counter()
    mover.sendall(frame({**scene.act, "game_id": WATCHED}))
    while (passed := time.perf_counter() - begun) < AFTER_SECONDS:
        seen.after.append(_one_move(other, moves))
        time.sleep(PAUSE_SECONDS)
        seen.mover = seen.mover or (passed if _has_come(mover) else 0.0)
        seen.opponent = seen.opponent or (passed if _has_come(opponent) else 0.0)
        seen.last = seen.last or (passed if _has_come(waiters[0]) and all(map(_has_come, waiters)) else 0.0)
    for waiter in waiters:
        _reply(waiter)


def _waiting(address: Address, wait: dict[str, object]) -> Iterator[socket.socket]:
    request = HELLO + frame({"kind": "wait", **wait})
    for _ in steps(range(WAITERS // A_STEP), f"{WAITERS:,} begin to wait"):
        some_more = [socket.create_connection(address) for _ in range(A_STEP)]
        for connection in some_more:
            connection.sendall(request)
        for connection in some_more:
            _reply(connection)
            yield connection


@contextmanager
def _connected(address: Address) -> Iterator[socket.socket]:
    with socket.create_connection(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _ask(connection, {"kind": "hello", "protocol": 2})
        yield connection


def _settle(connection: socket.socket) -> None:
    """Wait until the server is idle: until fifty pings in a row are quick."""
    quick = 0
    while quick < 50:
        begun = time.perf_counter()
        _ask(connection, {"kind": "ping"})
        quick = quick + 1 if time.perf_counter() - begun < 0.002 else 0


def _one_move(connection: socket.socket, moves: Iterator[tuple[int, str]]) -> float:
    begun = time.perf_counter()
    connection.sendall(move(OTHER, *next(moves), OTHERS))
    if b'"error":"' in _reply(connection):
        raise RuntimeError("the server refused a move")
    return time.perf_counter() - begun


def _ask(connection: socket.socket, request: dict[str, object]) -> None:
    connection.sendall(frame(request))
    _reply(connection)


def _reply(connection: socket.socket) -> bytes:
    buffer = bytearray()
    while not count_frames(buffer)[0]:
        buffer += some(connection)
    return bytes(buffer)


def _has_come(connection: socket.socket) -> bool:
    poll = select.poll()  # select() knows no descriptor beyond 1,023
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))
