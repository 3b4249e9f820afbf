"""Attacks that make the daemon work: requests that cost much, and many of them."""

from __future__ import annotations

import os
import select
import socket
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from itertools import count

from bench.load import HELLO, frame, session

from .target import MOVES, Talk, Target, loaded_game, opened, read_what_is_there, send

#: The length in half-moves that an attacker tries to give a game.
PLIES = 12_000


def histories(target: Target) -> Iterator[None]:
    """Request the history of the longest possible blind game, forty times at once, again and again."""
    request = frame({"kind": "history", "game_id": _long_game(target)})
    yield
    connections: list[socket.socket] = []
    while True:
        connections += opened(40 - len(connections), target, HELLO + request)
        for connection in select.select(connections, [], [], 1.0)[0]:
            if not read_what_is_there(connection):
                connections.remove(connection)
            else:
                send(connection, request)


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


def long_games(target: Target) -> Iterator[None]:
    """Create games of many plies, one after the other, and wait for each."""
    talk = Talk(target)
    yield
    while True:
        request = frame({"kind": "wait", "player": 2, "game_id": loaded_game(talk, 10_000)})
        opened(1, target, HELLO + request)


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


def listings(target: Target) -> Iterator[None]:
    """List games on a thousand connections without pause."""
    request = frame({"kind": "games", "limit": 100})
    with suppress(OSError):
        session(target.tcp, [HELLO, *[frame({"kind": "new_game", "player_white": 1, "player_black": 2})] * 300], 64)
    yield
    _ask_without_pause(target, HELLO + request, request)


def settings(target: Target) -> Iterator[None]:
    """Change the settings of one player on a thousand connections without pause."""
    made = Talk(target).patiently(kind="register", name=f"setter-{os.getpid()}")
    requests = [
        frame({"kind": "settings", "player": made["player"], "key": made["key"], "max_games": games})
        for games in range(1, 51)
    ]
    yield
    _ask_without_pause(target, HELLO + requests[0], b"".join(requests))


def _ask_without_pause(target: Target, first: bytes, request: bytes) -> None:
    """Send a request on each of a thousand connections, and again whenever there is a reply."""
    connections = opened(1_000, target, first)
    polled = {connection.fileno(): connection for connection in connections}
    poll = select.epoll()
    for number in polled:
        poll.register(number, select.EPOLLIN)
    while True:
        for number, _ in poll.poll(1.0):
            if read_what_is_there(polled[number]):
                send(polled[number], request)
            else:
                del polled[number]
        for connection in opened(min(10, 1_000 - len(polled)), target, first):
            polled[connection.fileno()] = connection
            poll.register(connection.fileno(), select.EPOLLIN)


def spectators(target: Target) -> Iterator[None]:
    """Wait on nine thousand connections for one game, and make moves in it."""
    talk = Talk(target)
    game_id = talk.patiently(kind="new_game", player_white=1, player_black=2)["game_id"]
    connections = opened(9_000, target, HELLO)
    yield
    for ply in count():
        request = frame({"kind": "wait", "game_id": game_id, "ply": ply, "timeout": 60, "brief": True})
        for connection in connections:
            read_what_is_there(connection)
            send(connection, request)
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
            read_what_is_there(connection)
            turn = {"player": 2 - ply % 2, "game_id": game_id}
            send(connection, frame({"kind": "wait", "timeout": 60, "brief": True, **turn}))
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
