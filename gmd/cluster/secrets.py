"""Secrets that all daemons of a cluster share, in the database: anybody who can read it is trusted."""

from __future__ import annotations

import secrets

from .connecting import connected

#: Bytes of a new secret.
SECRET_BYTES = 32


def shared_secret(url: str, name: str, first: bytes | None = None) -> bytes:
    """Return a secret; the first daemon that asks makes it. Block for a moment.

    :param url: the database's, as psycopg takes it.
    :param name: what it is for.
    :param first: the secret if there is none yet; None for a random one.
    :raises psycopg.Error: the database cannot be used.
    """
    with connected(url, "gmd secrets") as connection:
        connection.execute(
            "INSERT INTO secrets (name, value) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (name, first or secrets.token_bytes(SECRET_BYTES)),
        )
        found = connection.execute("SELECT value FROM secrets WHERE name = %s", (name,)).fetchone()
    assert found is not None
    return bytes(found[0])
