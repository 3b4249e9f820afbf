"""What only operators may read: anybody who shows the daemon's metrics token. Without a token everybody may."""

from __future__ import annotations

from hmac import compare_digest

from litestar.exceptions import NotAuthorizedException


def admit(authorization: str, token: str | None, path: str) -> None:
    """Check the header ``Authorization`` of a request.

    :param token: the daemon's ``metrics_token``; None lets everybody in.
    :raises NotAuthorizedException: the token is missing or wrong.
    """
    if token is None:
        return
    scheme, _, shown = authorization.partition(" ")
    shown = shown.strip() if scheme.lower() == "bearer" else ""
    if not compare_digest(shown.encode(), token.encode()):
        raise NotAuthorizedException(
            f"authorization: {path} needs the daemon's metrics_token; send Authorization: Bearer TOKEN",
            headers={"www-authenticate": "Bearer"},
        )
