"""Forms: read strictly, and only from our own pages.

A browser says where a form comes from, in ``Sec-Fetch-Site`` or ``Origin``; a page of another site cannot change that.
Beside it a form of somebody with a cookie has the visitor's token, which no other site can read. A script sends the
token in a header.
"""

from __future__ import annotations

import hmac
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from litestar import Request

from gm_protocol.choices import with_choices
from gm_protocol.errors import BadRequest, Unauthorized
from gmd.http.backend import backend_of
from gmd.http.pages.visit import Visit

#: The field with the visitor's token, and the header in which a script sends it.
CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
#: The most bytes and the most fields of a form: a long PGN, and more fields than any form of ours has.
MAX_BYTES, MAX_FIELDS = 300_000, 40
#: What a browser sends a form as.
URLENCODED = "application/x-www-form-urlencoded"

Form = TypeVar("Form")


class CrossSite(Unauthorized):
    """Raised for a form that comes from another site, or from a page that is out of date."""


async def read_form(request: Request[Any, Any, Any], visit: Visit, kind: type[Form]) -> Form:
    """Return a posted form as a struct, whose fields are texts or what msgspec makes of texts.

    An empty field counts as left out. Fields that the struct does not have are ignored.

    :raises CrossSite: the form is not from our own page.
    :raises BadRequest: it is not a form, or a field cannot be used.
    """
    check_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != URLENCODED:
        raise BadRequest(f"a form is sent as {URLENCODED}")
    body = await request.body()
    if len(body) > MAX_BYTES:
        raise BadRequest(f"the form is larger than {MAX_BYTES} bytes")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:  # UnicodeDecodeError is one
        raise BadRequest(f"the form cannot be read: it is {URLENCODED} in UTF-8 with {MAX_FIELDS} fields") from None
    fields = dict(pairs)
    _check_token(fields.pop(CSRF_FIELD, ""), visit)
    try:
        return msgspec.convert({name: value for name, value in fields.items() if value}, kind, strict=False)
    except msgspec.ValidationError as error:
        what, _, where = with_choices(error, kind).rpartition(" - at `$.")
        raise BadRequest(f"the field {where.rstrip('`')} cannot be used: {what}") from None


def check_script(request: Request[Any, Any, Any], visit: Visit) -> None:
    """Check that a request of a script comes from our own page.

    :raises CrossSite: it does not.
    """
    check_origin(request)
    _check_token(request.headers.get(CSRF_HEADER, ""), visit)


def check_origin(request: Request[Any, Any, Any]) -> None:
    """Check that a browser does not send a request for another site. Other programs send neither header.

    :raises CrossSite: it does.
    """
    headers, origins = request.headers, backend_of(request).origins
    site = headers.get("sec-fetch-site")
    if site == "none" or not origins.is_own(site, headers.get("origin"), headers.get("host", "").lower()):
        raise CrossSite("this form was sent from another site: open this server's own page and send it from there")


def _check_token(token: str, visit: Visit) -> None:
    if visit.visitor.csrf and not hmac.compare_digest(token.encode(), visit.visitor.csrf.encode()):
        raise CrossSite("this page is out of date, because you have signed in or out since: load it again")
