"""The cost of TLS for the server: processor time of a move in a session, and of a session, compared with plaintext."""

from __future__ import annotations

import socket
import ssl
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import trustme

from . import servers
from .games import warm_games
from .load import HEADER, NEW_GAME, Address, frame, move

PING = frame({"kind": "ping"})
HELLO = frame({"kind": "hello"})

KEYS = {"TLS, elliptic curve": trustme.KeyType.ECDSA, "TLS, RSA": trustme.KeyType.RSA}


def measure(requests: int, rounds: int) -> None:
    """Print a line for plaintext and for each kind of key.

    :param requests: moves of a session, and sessions of one ping each, in every round.
    """
    print(f"{'':20}{'a move us':>11}{'ratio':>7}{'a session us':>14}{'ratio':>7}{'moves a handshake costs':>26}")
    with tempfile.TemporaryDirectory() as directory:
        costs: dict[str, list[tuple[float, float]]] = {}
        for _ in range(rounds):
            costs.setdefault("plaintext", []).append(_costs(requests, [], None))
            for name, key in KEYS.items():
                with certificate(Path(directory), key) as (arguments, trust):
                    costs.setdefault(name, []).append(_costs(requests, arguments, trust))
    plain_move, plain_session = _medians(costs["plaintext"])
    for name, pairs in costs.items():
        a_move, a_session = _medians(pairs)
        print(
            f"{name:20}{a_move:>11.0f}{a_move / plain_move:>7.2f}{a_session:>14.0f}{a_session / plain_session:>7.2f}"
            f"{(a_session - plain_session) / plain_move:>26.1f}"
        )
    print("us: the server's processor time; moves on known positions, one at a time; a session is one ping, version 1")


def _medians(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


@contextmanager
def certificate(directory: Path, key: trustme.KeyType) -> Iterator[tuple[list[str], ssl.SSLContext]]:
    """Create a certificate; yield a daemon's arguments for it, and a context that trusts it."""
    authority = trustme.CA(key_type=key)
    leaf = authority.issue_cert("127.0.0.1", key_type=key)
    both = directory / f"{key.name}.pem"
    leaf.private_key_and_cert_chain_pem.write_to_path(both)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    yield ["--tls-cert", str(both), "--tls-key", str(both)], trust


def _costs(requests: int, arguments: Sequence[str], trust: ssl.SSLContext | None) -> tuple[float, float]:
    """Return the microseconds of a move and of a session."""
    with servers.gmd(":memory:", *arguments) as server:
        _moves(server.address, requests, trust, first_id=1)  # so that positions are known
        before = server.cpu_seconds() or 0.0
        _moves(server.address, requests, trust, first_id=1 + len(warm_games(requests)))
        between = server.cpu_seconds() or 0.0
        for _ in range(requests):
            with _connected(server.address, trust) as connection:
                _ask(connection, PING)
        after = server.cpu_seconds() or 0.0
    return (between - before) / requests * 1e6, (after - between) / requests * 1e6


def _moves(address: Address, requests: int, trust: ssl.SSLContext | None, first_id: int) -> None:
    with _connected(address, trust) as connection:
        _ask(connection, HELLO)
        for game_id, game in enumerate(warm_games(requests), first_id):
            _ask(connection, NEW_GAME)
            for ply, text in enumerate(game):
                _ask(connection, move(game_id, ply, text))


def _connected(address: Address, trust: ssl.SSLContext | None) -> socket.socket:
    connection = socket.create_connection(address)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection if trust is None else trust.wrap_socket(connection, server_hostname=address[0])


def _ask(connection: socket.socket, request: bytes) -> None:
    connection.sendall(request)
    buffer = b""
    while len(buffer) < HEADER.size or len(buffer) < HEADER.size + HEADER.unpack_from(buffer)[0]:
        data = connection.recv(1 << 16)
        if not data:
            raise ConnectionError("the server closed in the middle of the benchmark")
        buffer += data
    if not buffer.endswith(b'"error":null}'):
        raise ValueError(f"the server refused {request!r}: {buffer[-200:]!r}")
