"""Keys: 256 random bits, shown once and kept as a digest.

A digest without salt and without delay is right for them, and wrong for passwords: nobody guesses one of 2**256.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable

#: Bytes of a key, of a nonce and of a digest.
SIZE = 32

#: Makes of a text what is kept of it.
Digest = Callable[[str], bytes]


def new_key() -> str:
    """A key as its owner is shown it: 43 characters of A-Z, a-z, 0-9, - and _, the first of them no -.

    One that began so would be taken for an option where it is typed behind one: ``gmcat --key -x...``.
    """
    while (key := _text(secrets.token_bytes(SIZE))).startswith("-"):
        pass
    return key


def new_nonce(token: str) -> bytes:
    """What a key is derived from that is to belong to a client's token; the key does not begin with -, either."""
    while derived_key(nonce := secrets.token_bytes(SIZE), token).startswith("-"):
        pass
    return nonce


def derived_key(nonce: bytes, token: str) -> str:
    """The key that belongs to a client's token and a nonce of the server's: always the same.

    It is as good as a random one to whoever does not know the nonce, however poor the token.
    """
    return _text(hmac.digest(nonce, token.encode(), "sha256"))


def digest(text: str) -> bytes:
    """What is kept of a key, or of a token."""
    return hashlib.sha256(text.encode()).digest()


def _text(key: bytes) -> str:
    return urlsafe_b64encode(key).rstrip(b"=").decode()
