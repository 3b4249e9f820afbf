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
    """A key as its owner is shown it: 43 characters of A-Z, a-z, 0-9, - and _."""
    return _text(secrets.token_bytes(SIZE))


def new_nonce() -> bytes:
    """What a key is derived from."""
    return secrets.token_bytes(SIZE)


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
