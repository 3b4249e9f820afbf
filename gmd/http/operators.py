"""What only operators may read: anybody who shows the daemon's metrics token.

Without a token everybody may read a daemon's own metrics, but only this machine's users what concerns other daemons.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from hmac import compare_digest

from litestar.exceptions import NotAuthorizedException, PermissionDeniedException


def admit(authorization: str, token: str | None, path: str, *, asks_browsers: bool = False) -> None:
    """Check the header ``Authorization`` of a request.

    :param token: the daemon's ``metrics_token``; None lets everybody in.
    :param asks_browsers: whether the token may also be the password of HTTP Basic, for which browsers ask their user.
    :raises NotAuthorizedException: the token is missing or wrong.
    """
    if token is None:
        return
    scheme, _, shown = authorization.partition(" ")
    shown = shown.strip()
    if asks_browsers and scheme.lower() == "basic":
        shown = _password(shown)
    elif scheme.lower() != "bearer":
        shown = ""
    if not compare_digest(shown.encode(), token.encode()):
        advice = ", or give it as the password, with any name" if asks_browsers else ""
        raise NotAuthorizedException(
            f"authorization: {path} needs the daemon's metrics_token; send Authorization: Bearer TOKEN{advice}",
            headers={"www-authenticate": 'Basic realm="operators of gmd"' if asks_browsers else "Bearer"},
        )


def admit_to_page(authorization: str, token: str | None, path: str, *, is_private: bool) -> None:
    """Check a request for a page that shows other daemons: without a token it is for this machine's users only.

    :param is_private: whether only this machine's users reach the daemon's HTTP side.
    :raises NotAuthorizedException: the token is missing or wrong.
    :raises PermissionDeniedException: the daemon has no token, and others may reach it.
    """
    if token is None and not is_private:
        raise PermissionDeniedException(
            f"{path} shows the addresses of all daemons, so it needs a metrics_token where other machines reach HTTP; "
            "start the daemon with --metrics-token, or use gmd status"
        )
    admit(authorization, token, path, asks_browsers=True)


def _password(credentials: str) -> str:
    try:
        return b64decode(credentials, validate=True).decode().partition(":")[2]
    except (NotBase64, ValueError):
        return ""
