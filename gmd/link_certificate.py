"""The certificate that a daemon shows the other daemons of its cluster, and the authority that signs those of all."""

from __future__ import annotations

import ssl

from gmd.config import Config, ConfigError
from gmd.tls import server_context


class LinkCertificate:
    """A daemon's certificate for links with its key, and the authority that signs those of all, in PEM files.

    :ivar server: the SSL context of connections that come in, and ``client`` of those to other daemons.
    """

    def __init__(self, cert: str, key: str, authority: str) -> None:
        """:param authority: the file of the authority's own certificate.
        :raises ConfigError: the files cannot be used; the message names the setting and the file.
        """
        self._files = cert, key, authority
        self.server, self.client = _contexts(*self._files)

    def reload(self) -> None:
        """Read the files again, for new connections.

        :raises ConfigError: they cannot be used; the previous ones stay in use.
        """
        self.server, self.client = _contexts(*self._files)


def link_certificate_of(config: Config) -> LinkCertificate | None:
    """Load what the settings ``link_cert``, ``link_key`` and ``link_ca`` name; None if none is given.

    :raises ConfigError: one of them is missing, or cannot be used.
    """
    files = {"link_cert": config.link_cert, "link_key": config.link_key, "link_ca": config.link_ca}
    missing = [name for name, file in files.items() if not file]
    if len(missing) == len(files):
        return None
    if missing:
        given = next(name for name, file in files.items() if file)
        raise ConfigError(f"{given}: {files[given]!r} goes with {missing[0]}, which is not given")
    return LinkCertificate(config.link_cert or "", config.link_key or "", config.link_ca or "")


def _contexts(cert: str, key: str, authority: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the contexts for both sides. All daemons are gmd's: nothing older than TLS 1.3 is needed."""
    server = server_context(cert, key, "link")
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_cert_chain(cert, key)
    client.check_hostname = False
    for context in (server, client):
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(authority)
        except ssl.SSLError as error:
            raise ConfigError(f"link_ca: {authority} holds no certificate in PEM") from error
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ConfigError(f"link_ca: {authority} cannot be read: {reason}") from error
    return server, client
