"""Keys: 256 random bits, shown once and stored as a digest.

A fast digest without salt is right for keys and would be wrong for passwords: nobody can guess one of 2**256 keys.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable

#: The size of a key, a nonce and a digest, in bytes.
SIZE = 32

#: Computes the stored form of a text.
Digest = Callable[[str], bytes]


def new_key() -> str:
    """Return a key as its owner sees it: 43 characters of A-Z, a-z, 0-9, - and _, of which the first is not -.

    A leading - would be taken for an option on the command line: ``gmcat --key -x...``.
    """
    while (key := _text(secrets.token_bytes(SIZE))).startswith("-"):
        pass
    return key


def new_nonce(token: str) -> bytes:
    """Return a nonce that, with a client's token, derives a key that does not begin with -."""
    while derived_key(nonce := secrets.token_bytes(SIZE), token).startswith("-"):
        pass
    return nonce


def derived_key(nonce: bytes, token: str) -> str:
    """Return the key derived from a server's nonce and a client's token: always the same.

    Without the nonce it is as hard to guess as a random key, however poor the token.
    """
    return _text(hmac.digest(nonce, token.encode(), "sha256"))


def digest(text: str) -> bytes:
    """Return the stored form of a key or a token."""
    return hashlib.sha256(text.encode()).digest()


def _text(key: bytes) -> str:
    return urlsafe_b64encode(key).rstrip(b"=").decode()
