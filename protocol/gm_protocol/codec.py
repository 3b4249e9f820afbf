"""Bytes to requests, replies to bytes."""

from __future__ import annotations

import re
from typing import cast

import msgspec
from msgspec import UNSET, Raw, UnsetType

from .errors import BadJson, BadRequest, GmError, UnknownKind, quote
from .messages import REQUESTS, AnyRequest, ErrorReply, NewGame, Request

_request_decoder = msgspec.json.Decoder(AnyRequest)
_object_decoder = msgspec.json.Decoder(dict[str, Raw])
_id_decoder = msgspec.json.Decoder(int | str | None)
_encoder = msgspec.json.Encoder()

#: Where msgspec says which field was wrong: "Expected `int`, got `str` - at `$.player`".
_AT_FIELD = re.compile(r"(?P<what>.*) - at `\$\.?(?P<path>[^`]*)`$", re.DOTALL)

encode = _encoder.encode


class InvalidRequest(Exception):
    """A well-framed body that is no valid request.

    :ivar error: what is wrong with it.
    :ivar kind: its ``kind``, where it has a known one.
    :ivar id: its ``id``, where it has a valid one.
    """

    def __init__(self, error: GmError, kind: str | None = None, id: int | str | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.kind = kind
        self.id = id


def decode_request(body: bytes, *, strict: bool = False) -> AnyRequest:
    """Read one request.

    :param body: a frame's body; NUL bytes after the object are ignored.
    :param strict: refuse unknown fields where a misspelt one would make another game than was meant, as version 2
        sessions do.
    :raises InvalidRequest: it is not JSON, not an object, of no known kind, or has a wrong field.
    """
    body = body.rstrip(b"\0")
    try:
        body.decode()  # msgspec does not look into the fields it skips
        try:
            request = _request_decoder.decode(body)
        except msgspec.ValidationError:
            request = _decode_carefully(body)
    except UnicodeDecodeError as error:
        raise InvalidRequest(BadJson(f"the message is not UTF-8: byte {error.start} is wrong")) from None
    except RecursionError:
        raise InvalidRequest(BadJson("the message is nested too deep to read")) from None
    except msgspec.DecodeError as error:
        raise InvalidRequest(BadJson(f"the message is not JSON: {error}")) from None
    if strict and isinstance(request, NewGame):
        _refuse_unknown_fields(body, request)
    return cast(AnyRequest, request)


def _decode_carefully(body: bytes) -> AnyRequest:
    """Decode what the fast way refused: with the last of duplicate keys, and saying what is wrong where it is."""
    try:
        fields = _object_decoder.decode(body)
    except msgspec.ValidationError:
        error = BadJson(f'the message must be one JSON object, such as {{"kind": "ping"}}, not {quote(body)}')
        raise InvalidRequest(error) from None
    request_id = _request_id(fields)
    kind = _kind(fields, request_id)
    unique = b"{%b}" % b",".join(b"%b:%b" % (encode(name), bytes(value)) for name, value in fields.items())
    try:
        return cast(AnyRequest, msgspec.json.decode(unique, type=REQUESTS[kind]))
    except msgspec.ValidationError as error:
        raise InvalidRequest(BadRequest(_explain(str(error), fields)), kind, request_id) from None


def _request_id(fields: dict[str, Raw]) -> int | str | None:
    try:
        return cast(int | str | None, _id_decoder.decode(fields.get("id", b"null")))
    except msgspec.ValidationError:
        return None


def _kind(fields: dict[str, Raw], request_id: int | str | None) -> str:
    if "kind" not in fields:
        raise InvalidRequest(BadRequest("kind: missing; every request names its kind"), id=request_id)
    try:
        kind = msgspec.json.decode(fields["kind"], type=str)
    except msgspec.ValidationError:
        value = quote(bytes(fields["kind"]).decode())
        raise InvalidRequest(BadRequest(f"kind: must be a string, not {value}"), id=request_id) from None
    if kind not in REQUESTS:
        error = UnknownKind(f"kind: {quote(kind)} is none of {', '.join(REQUESTS)}")
        raise InvalidRequest(error, id=request_id)
    return kind


def _explain(message: str, fields: dict[str, Raw]) -> str:
    """msgspec's message with the field in front and the value behind it."""
    match = _AT_FIELD.match(message)
    if match is None:
        return message
    what, path = match["what"], match["path"]
    what = what[:1].lower() + what[1:]
    value = fields.get(re.split(r"[.\[]", path)[0])
    return f"{path}: {what}" + (f" in {quote(bytes(value).decode())}" if value is not None else "")


def _refuse_unknown_fields(body: bytes, request: NewGame) -> None:
    known = {"kind", *request.__struct_encode_fields__}
    for name in _object_decoder.decode(body):
        if name not in known:
            kind = str(request.__struct_config__.tag)
            error = BadRequest(f"{quote(name)}: {kind} has no such field; it takes {', '.join(sorted(known))}")
            raise InvalidRequest(error, kind, request.id)


def error_reply(error: GmError, kind: str | None, request_id: int | str | None) -> ErrorReply:
    """The one translation of a refusal into what the client reads.

    :param kind: the refused request's kind; None where it is not known.
    """
    with_state = kind in {"new_game", "game_from_pgn", "move", "sense", "end_game"}
    with_game_id = kind in {"new_game", "game_from_pgn"}
    return ErrorReply(
        id=UNSET if request_id is None else request_id,
        game_id=None if with_game_id else UNSET,
        state=None if with_state else UNSET,
        retry_after=UNSET if error.retry_after is None else error.retry_after,
        code=error.code,
        error=str(error),
    )


def kind_of(request: Request) -> str:
    """The request's ``kind`` as the wire spells it."""
    return str(request.__struct_config__.tag)


def echo_id(request: Request) -> int | str | UnsetType:
    """What the reply carries as ``id``."""
    return UNSET if request.id is None else request.id
