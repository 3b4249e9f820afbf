"""What daemons send each other over links: frames of the protocol with bodies in MessagePack.

A connection begins with the handshake: :class:`Greeting`, :class:`Nonce`, :class:`Proof` from the side that has
connected, :class:`Proof` from the other. Behind it the side that has connected sends asks and notes, and the other one
answers and acknowledges. There a frame is an array of envelopes: those that are posted in one turn of the event
loop share it, and are decoded at once.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct

from gm_protocol.errors import ERRORS, GmError, Internal
from gm_protocol.framing import HEADER_SIZE

#: The version of the links. Daemons of different versions do not speak to each other.
LINK_VERSION = 1
#: The role of a connection that carries the frames below; connections of other roles carry something else.
LINK = "link"
#: Bytes of a nonce, and the most bytes of a frame of the handshake.
NONCE_BYTES = 32
MAX_HANDSHAKE_FRAME = 256
#: The most bytes of a frame behind the handshake: a history of twenty thousand plies, and more.
MAX_FRAME = 64 << 20
#: The most bytes of an envelope in it: an answer with more is refused, and the link goes on.
MAX_BODY = MAX_FRAME - 1_024
#: The most bytes of a frame with several envelopes, which the other side decodes at once.
FULL_FRAME = 65_536


class LinkMessage(Struct, array_like=True, frozen=True, gc=False):
    """The base of all messages that go over links as asks, answers or notes. A subclass is known by its name.

    Fields are sent in their order: a new field goes to the end and has a default.
    """

    known: ClassVar[dict[str, type[LinkMessage]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        LinkMessage.known[cls.__name__] = cls


class Done(LinkMessage, frozen=True, gc=False):
    """The answer to an ask that has nothing to say but that it was done."""


# --- The handshake ----------------------------------------------------------------------------------------------------


class Greeting(Struct, array_like=True, frozen=True):
    """The first message of the side that connects.

    :ivar daemon: its id.
    :ivar to: the daemon that it wants to reach.
    :ivar role: what the connection is for behind the handshake.
    """

    version: int
    daemon: int
    to: int
    nonce: bytes
    role: str = LINK


class Nonce(Struct, array_like=True, frozen=True):
    """The other side's nonce."""

    nonce: bytes


class Proof(Struct, array_like=True, frozen=True):
    """The proof of a side that it has the secret: :func:`proof_of`."""

    proof: bytes


def proof_of(secret: bytes, side: str, prover: int, verifier: int, own: bytes, other: bytes, role: str = LINK) -> bytes:
    """Return the proof that a side knows the secret: an HMAC of who it is, whom it speaks to, and both nonces.

    The name of the side keeps each side's proof from being sent back to it as the other's.

    :param side: ``connects`` or ``listens``.
    :param own: the nonce of the prover, and ``other`` that of the verifier.
    :param role: of the connection: a proof for one role is none for another.
    """
    names = f"gmd {role} {LINK_VERSION} {side} {prover} {verifier} ".encode()
    return hmac.new(secret, names + own + other, hashlib.sha256).digest()


# --- Behind the handshake ---------------------------------------------------------------------------------------------


#: The body of a message: the message itself where it is sent, and its bytes where it is received.
_Body = TypeVar("_Body", bound="LinkMessage | Raw")


class Ask(Struct, Generic[_Body], array_like=True, tag=1, gc=False):
    """A message that is to be answered.

    :ivar id: one more than that of the ask before, on this connection.
    :ivar name: of the message's type; ``body`` is the message.
    """

    id: int
    name: str
    body: _Body


class Answer(Struct, Generic[_Body], array_like=True, tag=2, gc=False):
    """The answer to an ask, in any order."""

    id: int
    name: str
    body: _Body


class Refusal(Struct, array_like=True, tag=3, gc=False):
    """The answer to an ask that was refused with an error of the protocol."""

    id: int
    code: str
    error: str
    retry_after: float | None = None


class Interrupt(Struct, array_like=True, tag=4, gc=False):
    """The wish to have an ask answered now, whatever the answer; if its answer is on its way this has no effect."""

    id: int


class Notes(Struct, array_like=True, tag=5, gc=False):
    """Messages that are not answered, in their order.

    :ivar number: of the first of them; the others have the numbers behind it.
    :ivar after_gap: whether notes before these were dropped.
    :ivar notes: names and bodies.
    """

    number: int
    notes: list[tuple[str, Raw]]
    after_gap: bool = False


class Acknowledged(Struct, array_like=True, tag=6, gc=False):
    """The receipt of all notes up to a number."""

    number: int


class Beat(Struct, array_like=True, tag=7, gc=False):
    """A sign of life."""


#: What a frame has one or more of.
Envelope = Ask[Raw] | Answer[Raw] | Refusal | Interrupt | Notes | Acknowledged | Beat

encode: Any = msgspec.msgpack.Encoder().encode
decode_envelopes = msgspec.msgpack.Decoder(list[Envelope]).decode

#: The head of a frame: its length, and the number of its envelopes as the head of an array in MessagePack.
_HEAD = struct.Struct(">iBI")
_ARRAY = 0xDD


def frames_of(envelopes: Sequence[bytes], size: int) -> bytes:
    """Return encoded envelopes in frames, as a rule in one.

    :param size: the bytes of all envelopes.
    """
    if size <= FULL_FRAME:
        return _frame(envelopes, size)
    frames, first, size = [], 0, 0
    for index, envelope in enumerate(envelopes):
        if size and size + len(envelope) > FULL_FRAME:
            frames.append(_frame(envelopes[first:index], size))
            first, size = index, 0
        size += len(envelope)
    frames.append(_frame(envelopes[first:], size))
    return b"".join(frames)


def _frame(envelopes: Sequence[bytes], size: int) -> bytes:
    return _HEAD.pack(_HEAD.size - HEADER_SIZE + size, _ARRAY, len(envelopes)) + b"".join(envelopes)


class Codec:
    """Decoders of messages by the names of their types, each made when it is first used."""

    def __init__(self) -> None:
        self._decoders: dict[str, msgspec.msgpack.Decoder[LinkMessage]] = {}

    def decode(self, name: str, body: Raw) -> LinkMessage:
        """Decode a message.

        :raises KeyError: this daemon does not know the type.
        :raises msgspec.DecodeError: the body is not of that type.
        """
        decoder = self._decoders.get(name)
        if decoder is None:
            decoder = self._decoders[name] = msgspec.msgpack.Decoder(LinkMessage.known[name])
        return decoder.decode(body)


def refusal_of(ask: int, error: GmError) -> Refusal:
    """Return an error as it goes over a link."""
    return Refusal(ask, error.code, str(error), error.retry_after)


def error_of(refusal: Refusal) -> GmError:
    """Return the error of the protocol that came over a link."""
    kind = ERRORS.get(refusal.code, Internal)
    error = kind.__new__(kind)  # not all take the same arguments
    Exception.__init__(error, refusal.error)
    error.retry_after = refusal.retry_after
    return error
