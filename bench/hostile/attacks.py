"""The attacks of a hostile client: ``python -m bench.hostile.attacks NAME HOST PORT HTTP_PORT``, until it is ended.

Each attack is a generator that yields once, after its preparation; the attack itself follows.
"""

from __future__ import annotations

import os
import random
import select
import socket
import ssl
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count

from bench.load import HEADER, HELLO, READ_SIZE, frame, session

from .target import Talk, Target, opened, raise_limits

Attack = Callable[[Target], Iterator[None]]

#: Knights that move out and back, without end.
MOVES = ("g1f3", "g8f6", "f3g1", "f6g8")
PING = frame({"kind": "ping"})
#: The length in half-moves that an attacker tries to give a game.
PLIES = 12_000
MEBIBYTE = 1 << 20


def histories(target: Target) -> Iterator[None]:
    """Request the history of the longest possible blind game, forty times at once, again and again."""
    request = frame({"kind": "history", "game_id": _long_game(target)})
    yield
    connections: list[socket.socket] = []
    while True:
        connections += opened(40 - len(connections), target, HELLO + request)
        for connection in select.select(connections, [], [], 1.0)[0]:
            if not _read_what_is_there(connection):
                connections.remove(connection)
            else:
                _send(connection, request)


def _long_game(target: Target) -> int:
    """Play the longest possible blind game, end it, and return its id."""
    options = {"variant": "rbc", "reversible_moves": None, "max_turns": None}
    game_id: int = Talk(target).patiently(kind="new_game", player_white=1, player_black=2, **options)["game_id"]
    frames = [HELLO]
    for ply in range(PLIES):
        turn = {"player": 1 + ply % 2, "game_id": game_id}
        frames.append(frame({"kind": "sense", "square": None, **turn}))
        frames.append(frame({"kind": "move", "move": MOVES[ply % 4], "brief": True, **turn}))
    frames.append(frame({"kind": "end_game", "player": 1, "game_id": game_id, "termination": "resignation_white"}))
    with suppress(OSError):
        session(target.tcp, frames, 64)
    return game_id


def pgns(target: Target) -> Iterator[None]:
    """Send PGNs of a mebibyte: one word, many variations, many moves."""
    texts = ("e4" * 500_000, "1. e4 " + "(1. d4 (1. c4 " * 60_000 + "))" * 60_000, "Nf3 Nf6 Ng1 Ng8 " * 60_000)
    requests = [
        frame({"kind": "game_from_pgn", "player_white": 1, "player_black": 2, "pgn": text, "brief": True})
        for text in texts
    ]
    yield
    while True:
        connections: list[socket.socket] = []
        for request in requests:
            with suppress(OSError):
                connections.append(target.connect(len(connections)))
                connections[-1].sendall(HELLO + request)
        select.select(connections, [], [], 0.5)
        for connection in connections:
            connection.close()


def invitations(target: Target) -> Iterator[None]:
    """Invite a registered player to games as fast as possible, and list the invitations."""
    talk = Talk(target)
    name = f"victim-{os.getpid()}"
    victim = talk.patiently(kind="register", name=name)
    offer = frame({"kind": "new_game", "player_white": 2, "player_black": victim["player"]})
    yield
    while True:
        with suppress(OSError):
            session(target.tcp, [HELLO, *[offer] * 500], 64)
        talk.ask(kind="invitations", player=victim["player"], key=victim["key"])


def games(target: Target) -> Iterator[None]:
    """Create games without end, with tokens, and register names."""
    yield
    for batch in count():
        frames = [HELLO]
        for number in range(500):
            token = f"{os.getpid()}-{batch}-{number}"
            frames.append(frame({"kind": "new_game", "player_white": 1, "player_black": 2, "token": token}))
        frames.append(frame({"kind": "register", "name": f"name-{batch}"}))
        with suppress(OSError):
            session(target.tcp, frames, 64)


def unread(target: Target) -> Iterator[None]:
    """Request replies on three hundred connections, and read only a little of them now and then."""
    game_id = Talk(target).patiently(kind="new_game", player_white=1, player_black=2)["game_id"]
    moves = [
        frame({"kind": "move", "player": 1 + ply % 2, "game_id": game_id, "move": MOVES[ply % 4]}) for ply in range(400)
    ]
    session(target.tcp, [HELLO, *moves], 64)
    request = frame({"kind": "state", "game_id": game_id}) * 64
    yield
    connections = opened(300, target, HELLO + request, small=True)
    while True:
        for connection in connections:
            with suppress(OSError):
                connection.recv(512)
            _send(connection, request)
        time.sleep(0.2)


def slow_readers(target: Target) -> Iterator[None]:
    """Request long states on three thousand connections, and read 150 kB from each every 20 seconds."""
    game_id = _loaded_game(Talk(target), 4_000)
    yield
    connections = opened(3_000, target, HELLO + frame({"kind": "state", "game_id": game_id}) * 1_280, small=True)
    while True:
        for connection in connections:
            with suppress(OSError):
                connection.recv(150_000)
        time.sleep(20.0)


def long_games(target: Target) -> Iterator[None]:
    """Create games of many plies, one after the other, and wait for each."""
    talk = Talk(target)
    yield
    while True:
        request = frame({"kind": "wait", "player": 2, "game_id": _loaded_game(talk, 10_000)})
        opened(1, target, HELLO + request)


def _loaded_game(talk: Talk, plies: int) -> int:
    """Create a game with so many plies, and return its id."""
    pgn = "Nf3 Nf6 Ng1 Ng8 " * (plies // 4)
    made = talk.patiently(kind="game_from_pgn", player_white=1, player_black=2, pgn=pgn, brief=True)
    game_id: int = made["game_id"]
    return game_id


def short_frames(target: Target) -> Iterator[None]:
    """Send two thousand frames of a mebibyte, each short by ten bytes."""
    size = MEBIBYTE - 16
    yield
    _fill(target, 2_000, HEADER.pack(size) + b" " * (size - 10))


def small_frames(target: Target) -> Iterator[None]:
    """Open as many connections as possible, each with a part of a frame that counts as small."""
    yield
    _fill(target, 9_900, HEADER.pack(20_000) + b" " * 19_990)


def half_bodies(target: Target) -> Iterator[None]:
    """Send HTTP requests on 990 connections, each with half of a large body."""
    lines = (
        "POST /api/users/ HTTP/1.1",
        "Host: x",
        "Content-Type: application/json",
        f"Content-Length: {MEBIBYTE}",
    )
    yield
    _fill(target, 990, "\r\n".join([*lines, "", ""]).encode() + b" " * (MEBIBYTE // 2), http=True)


def unread_responses(target: Target) -> Iterator[None]:
    """Send pipelined HTTP requests, and read no responses."""
    yield
    _fill(target, 990, b"GET /schema/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 10_000, http=True)


def _fill(target: Target, size: int, data: bytes, *, http: bool = False) -> None:
    """Send the same data on so many connections, as far as they accept it, and replace those that are cut off."""
    sent = dict.fromkeys(opened(size, target, b"", http=http, small=True), 0)
    while True:
        sent |= dict.fromkeys(opened(min(10, size - len(sent)), target, b"", http=http, small=True), 0)
        for connection, done in list(sent.items()):
            try:
                sent[connection] += connection.send(data[done : done + READ_SIZE])
            except BlockingIOError:
                continue
            except OSError:
                connection.close()
                del sent[connection]
                continue
            if done == len(data) and not _read_what_is_there(connection):
                del sent[connection]
        time.sleep(0.01)


def half_heads(target: Target) -> Iterator[None]:
    """Open a thousand HTTP connections with request heads that never end, and replace them every few seconds."""
    yield
    while True:
        connections = opened(1_000, target, b"GET /healthz HTTP/1.1\r\nHost: ", http=True)
        for _ in range(5):
            time.sleep(1.0)
            for connection in connections:
                _send(connection, b"x")
        for connection in connections:
            connection.close()


def idle_sessions(target: Target) -> Iterator[None]:
    """Open ten thousand sessions that send a hello and nothing more."""
    yield
    connections = opened(10_000, target, HELLO)
    while connections:
        time.sleep(1.0)


def spectators(target: Target) -> Iterator[None]:
    """Wait on nine thousand connections for one game, and make moves in it."""
    talk = Talk(target)
    game_id = talk.patiently(kind="new_game", player_white=1, player_black=2)["game_id"]
    connections = opened(9_000, target, HELLO)
    yield
    for ply in count():
        request = frame({"kind": "wait", "game_id": game_id, "ply": ply, "timeout": 60, "brief": True})
        for connection in connections:
            _read_what_is_there(connection)
            _send(connection, request)
        time.sleep(0.5)
        talk.patiently(kind="move", player=1 + ply % 2, game_id=game_id, move=MOVES[ply % 4])


def many_games(target: Target) -> Iterator[None]:
    """Let sixteen sessions wait for each of 200 games, and move in all of them at once."""
    talk = Talk(target)
    game_ids = [talk.patiently(kind="new_game", player_white=1, player_black=2)["game_id"] for _ in range(200)]
    waiters = list(zip(opened(16 * len(game_ids), target, HELLO), game_ids * 16, strict=False))
    yield
    for ply in count():
        for connection, game_id in waiters:
            _read_what_is_there(connection)
            turn = {"player": 2 - ply % 2, "game_id": game_id}
            _send(connection, frame({"kind": "wait", "timeout": 60, "brief": True, **turn}))
        time.sleep(0.5)
        moves = [
            frame({"kind": "move", "player": 1 + ply % 2, "game_id": game_id, "move": MOVES[ply % 4], "brief": True})
            for game_id in game_ids
        ]
        opened(1, target, HELLO + b"".join(moves))


def flags(target: Target) -> Iterator[None]:
    """Let the flags of thousands of games fall at the same moment, again and again."""
    talk = Talk(target)
    yield
    while True:
        falls, batch = time.monotonic() + 10.0, 100
        while (left := falls - time.monotonic()) > 1.0:
            clock = {"initial": round(left, 3)}
            request = {"kind": "new_game", "player_white": 1, "player_black": 1, "brief": True, "clock": clock}
            made = talk.ask_all([request] * batch)
            talk.ask_all([{"kind": "state", "player": 1, "game_id": reply.get("game_id")} for reply in made])
        time.sleep(2.0)


def many_addresses(target: Target) -> Iterator[None]:
    """Send a ping from each of 9,000 addresses at the same moment, again and again."""
    connections = []
    for number in range(9_000):
        with suppress(OSError):
            connections.append(target.connect_from(f"127.1.{number // 200}.{1 + number % 200}"))
            _send(connections[-1], HELLO)
    yield
    while True:
        for connection in connections:
            _read_what_is_there(connection)
            _send(connection, PING)
        time.sleep(0.5)


def tls_pipelines(target: Target) -> Iterator[None]:
    """Send pipelined HTTP requests without pause on a hundred connections under TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connections = [context.wrap_socket(target.connect(number, http=True)) for number in range(100)]
    for connection in connections:
        connection.setblocking(False)
    yield
    while True:
        for connection in connections:
            with suppress(OSError):
                connection.recv(READ_SIZE)
            _send(connection, b"GET /api/version HTTP/1.1\r\nHost: x\r\n\r\n" * 300)
        time.sleep(0.001)


def chunks(target: Target) -> Iterator[None]:
    """Send HTTP bodies in chunks of one byte, on twenty connections."""
    head = b"POST /api/users/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield
    connections: list[socket.socket] = []
    while True:
        connections += opened(20 - len(connections), target, head, http=True)
        for connection in list(connections):
            try:
                connection.send(b"1\r\nx\r\n" * 10_000)
            except BlockingIOError:
                pass
            except OSError:
                connection.close()
                connections.remove(connection)
        time.sleep(0.01)


def passwords(target: Target) -> Iterator[None]:
    """Send wrong passwords from all addresses, over TCP and HTTP."""
    talks = [Talk(target, number) for number in range(20)]
    authorization = b64encode(b"nobody:wrong").decode()
    request = f"GET /api/users/me HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {authorization}\r\n\r\n".encode()
    yield
    while True:
        for number, talk in enumerate(talks):
            talk.ask(kind="hello", name=f"name-{number}", password="wrong")
            with suppress(OSError), target.connect(number, http=True) as connection:
                connection.sendall(request)


def churn(target: Target) -> Iterator[None]:
    """Open connections and close them at once, in the middle of a frame."""
    yield
    while True:
        for connection in opened(100, target, b"\0\0\0\7"):
            connection.close()


def junk(target: Target) -> Iterator[None]:
    """Send frames of random bytes, and of JSON that is deep, long or not a request."""
    rng = random.Random(0)
    texts = [b"[" * 5_000, b'{"kind": "' + b"x" * 100_000 + b'"}', b'{"kind":"state","game_id":' + b"9" * 4_000 + b"}"]
    yield
    while True:
        body = rng.choice([rng.randbytes(rng.randrange(2_000)), *texts])
        with suppress(OSError), target.connect(rng.randrange(4)) as connection:
            connection.sendall((HELLO + HEADER.pack(len(body)) + body) * 3)
            connection.recv(READ_SIZE)


def _send(connection: socket.socket, data: bytes) -> int:
    """Send as much as possible without blocking; return the number of bytes."""
    with suppress(OSError):
        return connection.send(data)
    return 0


def _read_what_is_there(connection: socket.socket) -> bool:
    """Read all that has arrived; return False if the connection has ended."""
    try:
        while connection.recv(READ_SIZE):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    connection.close()
    return False


ATTACKS: dict[str, Attack] = {
    attack.__name__.replace("_", "-"): attack
    for attack in (
        *(histories, pgns, invitations, games, unread, slow_readers, long_games, short_frames, small_frames),
        *(half_bodies, unread_responses, half_heads, idle_sessions, spectators, passwords, churn, junk),
        *(many_games, flags, many_addresses, tls_pipelines, chunks),
    )
}

#: The attacks on a daemon whose HTTP port has TLS.
UNDER_TLS = frozenset(["tls-pipelines"])


def main() -> None:
    """Attack until ended."""
    name, host, port, http_port = sys.argv[1:]
    raise_limits()
    attack = ATTACKS[name](Target((host, int(port)), (host, int(http_port))))
    next(attack)
    print("prepared", flush=True)
    next(attack)


if __name__ == "__main__":
    main()
