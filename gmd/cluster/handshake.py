"""The handshake of a link: both sides prove that they have the cluster's secret before anything else is read."""

from __future__ import annotations

import hmac
import secrets
from typing import TypeVar

import msgspec
import trio

from gm_protocol.framing import HEADER, encode_frame

from .link_messages import (
    LINK,
    LINK_VERSION,
    MAX_HANDSHAKE_FRAME,
    NONCE_BYTES,
    Greeting,
    Nonce,
    Proof,
    encode,
    proof_of,
)

#: Seconds for the whole handshake.
HANDSHAKE_SECONDS = 5.0

_T = TypeVar("_T", Greeting, Nonce, Proof)


class HandshakeRefused(Exception):
    """An error: the other side is no daemon of this cluster, or is another one than was meant."""


class OtherVersion(HandshakeRefused):
    """A refusal of a daemon that speaks another version of the links. It has not proved who it is.

    :ivar daemon: the id that it gives.
    """

    def __init__(self, daemon: int, version: int) -> None:
        super().__init__(
            f"it speaks version {version} of the links, and this daemon version {LINK_VERSION}: requests between the "
            "two fail as moved; run the same version of gmd at all daemons"
        )
        self.daemon = daemon


async def greet(stream: trio.abc.Stream, secret: bytes, me: int, to: int, role: str = LINK) -> None:
    """Do the handshake on a connection to a daemon.

    :param role: what the connection is for.
    :raises HandshakeRefused: the other side does not prove that it is that daemon, or takes too long.
    :raises trio.BrokenResourceError: the connection broke.
    """
    with trio.move_on_after(HANDSHAKE_SECONDS):
        mine = secrets.token_bytes(NONCE_BYTES)
        await _send(stream, Greeting(LINK_VERSION, me, to, mine, role))
        theirs = _checked((await _receive(stream, Nonce)).nonce)
        await _send(stream, Proof(proof_of(secret, "connects", me, to, mine, theirs, role)))
        proof = await _receive(stream, Proof)
        _check(proof, proof_of(secret, "listens", to, me, theirs, mine, role))
        return
    raise HandshakeRefused(f"daemon {to} did not finish the handshake in {HANDSHAKE_SECONDS:g} seconds")


async def take_greeting(stream: trio.abc.Stream, secret: bytes, me: int) -> Greeting:
    """Do the handshake on a connection that has come in; return the proven greeting of the daemon at its other end.

    A client that cannot prove that it has the secret is sent a nonce at most.

    :raises HandshakeRefused: the other side is no daemon of this cluster, or takes too long.
    :raises trio.BrokenResourceError: the connection broke.
    """
    with trio.move_on_after(HANDSHAKE_SECONDS):
        greeting = await _receive(stream, Greeting)
        if greeting.version != LINK_VERSION:
            raise OtherVersion(greeting.daemon, greeting.version)
        if greeting.to != me:
            raise HandshakeRefused(f"it wants daemon {greeting.to}, and this one is {me}")
        mine, theirs = secrets.token_bytes(NONCE_BYTES), _checked(greeting.nonce)
        await _send(stream, Nonce(mine))
        proof = await _receive(stream, Proof)
        _check(proof, proof_of(secret, "connects", greeting.daemon, me, theirs, mine, greeting.role))
        await _send(stream, Proof(proof_of(secret, "listens", me, greeting.daemon, mine, theirs, greeting.role)))
        return greeting
    raise HandshakeRefused(f"it did not finish the handshake in {HANDSHAKE_SECONDS:g} seconds")


def _check(proof: Proof, expected: bytes) -> None:
    if not hmac.compare_digest(proof.proof, expected):
        raise HandshakeRefused("it does not have the cluster's secret")


def _checked(nonce: bytes) -> bytes:
    if len(nonce) != NONCE_BYTES:
        raise HandshakeRefused(f"its nonce has {len(nonce)} bytes, not {NONCE_BYTES}")
    return nonce


async def _send(stream: trio.abc.Stream, message: Greeting | Nonce | Proof) -> None:
    await stream.send_all(encode_frame(encode(message)))


async def _receive(stream: trio.abc.Stream, kind: type[_T]) -> _T:
    """Receive one small message, and no byte beyond it.

    :raises HandshakeRefused: something else came, or the connection ended.
    """
    (length,) = HEADER.unpack(await _exactly(stream, HEADER.size))
    if not 0 < length <= MAX_HANDSHAKE_FRAME:
        raise HandshakeRefused(f"its message has {length} bytes, not 1 to {MAX_HANDSHAKE_FRAME}")
    body = await _exactly(stream, length)
    try:
        return msgspec.msgpack.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # msgspec raises the latter for text that is not UTF-8
        raise HandshakeRefused(f"it sent no {kind.__name__}: {error}") from None


async def _exactly(stream: trio.abc.Stream, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = await stream.receive_some(size - len(data))
        if not more:
            raise HandshakeRefused("it ended the connection")
        data += more
    return data
