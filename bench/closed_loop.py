"""Games move by move: each connection has one request under way, and plays both sides of one game."""

from __future__ import annotations

import json
import selectors
import socket
from collections.abc import Sequence
from typing import Any

from .load import HEADER, HELLO, READ_SIZE, Address, frame

SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")
#: Most moves of one game in a run, of several games on average: below the length at which the daemon ends games.
LONGEST = 1_200


class Player:
    """A connection.

    :ivar moves: how many moves of its game were answered.
    """

    def __init__(self, address: Address, game_id: int = 0, ply: int = 0) -> None:
        self.connection = socket.create_connection(address)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.game_id, self.moves = game_id, ply
        self._buffer = bytearray()
        self.ask_bytes(HELLO)

    def send(self) -> None:
        """Make the next move."""
        ply = self.moves
        request = {"kind": "move", "player": 1 + ply % 2, "game_id": self.game_id, "move": SHUFFLE[ply % 4], "ply": ply}
        self.connection.sendall(frame(request))

    def receive(self) -> bytes | None:
        """Read; return the reply if it is whole."""
        self._buffer += self.connection.recv(READ_SIZE)
        if len(self._buffer) < HEADER.size + (HEADER.unpack_from(self._buffer)[0] if self._buffer[3:] else 0):
            return None
        reply = bytes(self._buffer[HEADER.size :])
        self._buffer.clear()
        return reply

    def ask_bytes(self, data: bytes) -> bytes:
        """Send a frame, and return the reply."""
        self.connection.sendall(data)
        while (reply := self.receive()) is None:
            pass
        return reply

    def ask(self, kind: str, **fields: object) -> Any:
        """Ask, and return the reply."""
        reply = json.loads(self.ask_bytes(frame({"kind": kind, **fields})))
        assert reply["error"] is None, reply
        return reply

    def close(self) -> None:
        """Disconnect."""
        self.connection.close()


def new_games(address: Address, number: int) -> list[int]:
    """Make games, and return their ids."""
    maker = Player(address)
    ids = [maker.ask("new_game", player_white=1, player_black=2)["game_id"] for _ in range(number)]
    maker.close()
    return ids


def play(players: Sequence[Player], moves: int) -> int:
    """Play so many moves in total, on all connections at once; return how many there were."""
    selector = selectors.DefaultSelector()
    for player in players:
        selector.register(player.connection, selectors.EVENT_READ, player)
    for player in players:
        player.send()
    sent, answered = len(players), 0
    while answered < sent:
        for key, _ in selector.select():
            player = key.data
            reply = player.receive()
            if reply is None:
                continue
            assert reply.endswith((b'"error":null}',)), reply
            answered += 1
            player.moves += 1
            if sent < moves:
                player.send()
                sent += 1
    return answered
