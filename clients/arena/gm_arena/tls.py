"""The command line's TLS options."""

from __future__ import annotations

import ssl

import click


def read_tls(tls: bool, ca: str | None) -> bool | ssl.SSLContext:
    """Return the ``tls`` argument for clients of :mod:`gm_client`.

    :param ca: a file of certificates to trust instead of the system's.
    :raises click.UsageError: the file cannot be used.
    """
    if ca is None:
        return tls
    if not tls:
        raise click.UsageError("--ca goes with --tls")
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise click.UsageError(f"--ca: {ca} holds no certificate in PEM") from None
    except OSError as error:
        raise click.UsageError(f"--ca: {ca}: {error.strerror}") from None
