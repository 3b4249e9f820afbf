"""Decoding of requests and encoding of replies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Self, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from .base import PLAYER_NAME, PLAYER_NAME_RULE, SECRET_FIELDS
from .choices import choices_at
from .contests import PLAIN_RULE
from .errors import MAX_QUOTED, BadJson, BadRequest, GmError, UnknownKind, quote
from .messages import REQUESTS, AnyRequest, ErrorReply, GameRequest, Request

#: Most fields of an object among which the wrong one is searched for: a search takes a microsecond a field.
MAX_FIELDS = 64
#: Longest kind or field name, in characters, that is compared with the known ones, which are all shorter.
MAX_WORD = 32
#: Unknown fields that are compared with a missing one: a comparison takes ten microseconds.
MAX_UNKNOWN = 8

#: Most bytes of a request without its PGN: more than any request needs. Decoding a mebibyte of fields or numbers would
#: block the event loop for twenty milliseconds.
MAX_BESIDE_PGN = 131_072

_request_decoder = msgspec.json.Decoder(AnyRequest)
_object_decoder = msgspec.json.Decoder(dict[str, Raw])
_id_decoder = msgspec.json.Decoder(int | str | None)
_encoder = msgspec.json.Encoder()

#: An msgspec error with the path of the wrong field: "Expected `int`, got `str` - at `$.player`".
_AT_FIELD = re.compile(r"(?P<what>.*) - at `\$\.?(?P<path>[^`]*)`", re.DOTALL)
_INDEX = re.compile(r"\[[^\]]*\]")
_MISSING = re.compile(r"Object missing required field `(\w+)`")
#: The forms of a clock on the wire, for errors.
CLOCK_SHAPES = (
    'give {"initial": seconds, "increment": seconds}, {"first_move": seconds, "per_move": seconds}, '
    'such a text as "180+2", or null'
)
#: The name of a secret field in JSON.
_SECRET = re.compile(rf'"(?:{"|".join(sorted(SECRET_FIELDS))})"')

encode = _encoder.encode


class _Outline(Struct):
    """The parts of a large request that are read first: its PGN, and the fields that its refusal repeats."""

    kind: Raw = Raw(b"")
    id: Raw = Raw(b"null")
    pgn: Raw = Raw(b"")


_outline_decoder = msgspec.json.Decoder(_Outline)


class InvalidRequest(Exception):
    """An error: the body of a frame is no valid request.

    :ivar error: what is wrong with it.
    :ivar kind: its ``kind``, if it has a known one.
    :ivar id: its ``id``, if it has a valid one.
    """

    def __init__(self, error: GmError, kind: str | None = None, id: int | str | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.kind = kind
        self.id = id

    def bare(self) -> Self:
        """Return the error without its traceback and context, to be kept: they refer to the code that has caught it."""
        self.__context__ = None
        return self.with_traceback(None)


def decode_request(body: bytes, *, strict: bool = False) -> AnyRequest:
    """Decode one request.

    :param body: a frame's body; NUL bytes after the object are ignored.
    :param strict: whether requests for a game with unknown fields are refused, as in version 2 sessions: a misspelt
        option would make a game other than the one that was meant.
    :raises InvalidRequest: it is not JSON, not an object, of an unknown kind, or has a wrong field.
    """
    body = body.rstrip(b"\0")
    try:
        if not body.isascii():
            body.decode()  # msgspec does not validate the fields that it skips
        if len(body) > MAX_BESIDE_PGN:
            _refuse_large(body)
        try:
            request: AnyRequest = _request_decoder.decode(body)
        except msgspec.ValidationError:
            request = _decode_carefully(body)
        if strict and isinstance(request, GameRequest):
            _refuse_unknown_fields(body, request)
    except UnicodeDecodeError as error:
        raise InvalidRequest(BadJson(f"the message is not UTF-8: byte {error.start} is wrong")) from None
    except RecursionError:
        raise InvalidRequest(BadJson("the message is nested too deep to read")) from None
    except msgspec.DecodeError as error:
        raise InvalidRequest(BadJson(f"the message is not JSON: {error}")) from None
    return request


def _refuse_large(body: bytes) -> None:
    """Refuse a request that is too large without its PGN.

    :raises InvalidRequest: it has more than MAX_BESIDE_PGN bytes besides its PGN.
    """
    try:
        outline = _outline_decoder.decode(body)
    except msgspec.ValidationError:  # it is no object; the decoder reports that later
        return
    text = bytes(memoryview(outline.pgn)[:1]) == b'"'  # a pgn that is no text counts as the other fields do
    beside = len(body) - (len(outline.pgn) if text else 0)
    if beside > MAX_BESIDE_PGN:
        fields = {"id": outline.id} | ({"kind": outline.kind} if outline.kind else {})
        request_id = _request_id(fields)
        kind = _kind(fields, request_id)
        error = BadRequest(f"the message has {beside} bytes besides its pgn; at most {MAX_BESIDE_PGN} are allowed")
        raise InvalidRequest(error, kind, request_id)


def _decode_carefully(body: bytes) -> AnyRequest:
    """Decode a request that the fast decoder refused: use the last of duplicate keys, and explain what is wrong."""
    try:
        fields = _object_decoder.decode(body)
    except msgspec.ValidationError:
        not_object = BadJson(f'the message must be one JSON object, such as {{"kind": "ping"}}, not {_as_sent(body)}')
        raise InvalidRequest(not_object) from None
    request_id = _request_id(fields)
    kind = _kind(fields, request_id)
    if len(fields) > MAX_FIELDS:
        error = BadRequest(f"the message has {len(fields)} fields, and one of them is wrong; no request has so many")
        raise InvalidRequest(error, kind, request_id)
    try:
        return cast(AnyRequest, msgspec.json.decode(_last_of_each(fields), type=REQUESTS[kind]))
    except msgspec.ValidationError as error:
        raise InvalidRequest(BadRequest(_explain(str(error), kind, fields)), kind, request_id) from None


def _last_of_each(fields: dict[str, Raw]) -> bytes:
    """Encode an object without its duplicate keys, and without those of the objects in it: no request is deeper."""
    values = {name: bytes(value) for name, value in fields.items()}
    for name, value in values.items():
        if value.startswith(b"{"):
            values[name] = _object(_object_decoder.decode(value))
    return _object(values)


def _object(values: Mapping[str, bytes | Raw]) -> bytes:
    return b"{%b}" % b",".join(b"%b:%b" % (encode(name), bytes(value)) for name, value in values.items())


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
        error = BadRequest(f"kind: must be a string, not {_as_sent(fields['kind'])}")
        raise InvalidRequest(error, id=request_id) from None
    if kind not in REQUESTS:
        raise InvalidRequest(UnknownKind(f"kind: {quote(kind)} {_meant_kind(kind)}"), id=request_id)
    return kind


def _meant_kind(kind: str) -> str:
    """Return the end of the sentence about an unknown kind: the kind that it resembles, or else all kinds."""
    meant = _closest(kind.lower(), REQUESTS)
    return f"is no kind; did you mean {meant}?" if meant else f"is none of {', '.join(REQUESTS)}"


def _closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that another one resembles; None if it resembles none, or is longer than all of them."""
    close = get_close_matches(word, known, n=1) if len(word) <= MAX_WORD else []
    return close[0] if close else None


def _explain(message: str, kind: str, fields: dict[str, Raw]) -> str:
    """Return msgspec's message with the field and its value in front."""
    if missing := _MISSING.fullmatch(message):
        return f"{missing[1]}: missing; {kind} needs it{_misspelt(missing[1], kind, fields)}"
    match = _AT_FIELD.fullmatch(message)
    name = re.split(r"[.\[]", match["path"])[0] if match else ""
    if match is None or name not in fields:
        return _cut(message)
    if name == "clock":
        return explain_clock(match["what"], match["path"], fields)
    what, path = match["what"], match["path"]
    if name in SECRET_FIELDS:
        return f"{path}: {what[:1].lower()}{_cut(what[1:])}"
    value = _as_sent(fields[name])
    if what.startswith("Expected `str` matching regex"):  # which few people read
        rule = PLAYER_NAME_RULE if repr(PLAYER_NAME) in what else PLAIN_RULE
        return f"{path}: {value}: {rule}"
    if choices := _choices(kind, path):
        return f"{path}: {value} is none of {', '.join(choices)}"
    return f"{path}: {value}: {what[:1].lower()}{_cut(what[1:])}"


def explain_clock(what: str, path: str, fields: Mapping[str, Raw]) -> str:
    """Return what is wrong with a clock, in words: msgspec's names of types do not describe one.

    :param what: msgspec's message.
    :param path: the wrong field, such as ``clock.initial``.
    :param fields: the fields of the request.
    """
    value = _as_sent(fields["clock"])
    if path == "clock" and what.startswith("Expected"):
        return f"clock: {value} is no time control: {CLOCK_SHAPES}"
    return f"{path}: {value}: {what[:1].lower()}{_cut(what[1:])}"


def _misspelt(missing: str, kind: str, fields: Iterable[str]) -> str:
    """Return the end of the sentence about a missing field: an unknown field that resembles it, if there is one."""
    known = {"kind", *REQUESTS[kind].__struct_encode_fields__}
    unknown = [name for name in fields if name not in known and len(name) <= MAX_WORD]
    given = _closest(missing, unknown[:MAX_UNKNOWN])
    return f"; is {quote(given)} a misspelling?" if given else ""


@cache  # finding the types of a struct's fields takes longer than the rest of a refusal
def _choices(kind: str, path: str) -> list[str]:
    """Return the allowed words at a path of a request; empty where it takes other values, too."""
    return choices_at(REQUESTS[kind], f".{_INDEX.sub('[]', path)}")


def _as_sent(value: bytes | Raw) -> str:
    """Return a JSON value as error sentences repeat it: cut to a maximal length, and without secrets."""
    text = bytes(value).decode()
    return "..." if _SECRET.search(text) else _cut(text)


def _cut(text: str) -> str:
    """Cut a text, which may hold some of the client's text, to a maximal length."""
    return text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."


def _refuse_unknown_fields(body: bytes, request: GameRequest) -> None:
    known = {"kind", *request.__struct_encode_fields__}
    for name in _object_decoder.decode(body):
        if name not in known:
            kind = str(request.__struct_config__.tag)
            error = BadRequest(f"{quote(name)}: {kind} has no such field; it takes {', '.join(sorted(known))}")
            raise InvalidRequest(error, kind, request.id)


def error_reply(error: GmError, kind: str | None, request_id: int | str | None) -> ErrorReply:
    """Return the reply for an error; all errors become replies here.

    :param kind: the refused request's kind; None if it is not known.
    """
    null = REQUESTS[kind].null_if_refused if kind in REQUESTS else frozenset()
    return ErrorReply(
        id=UNSET if request_id is None else request_id,
        game_id=None if "game_id" in null else UNSET,
        state=None if "state" in null else UNSET,
        retry_after=UNSET if error.retry_after is None else error.retry_after,
        code=error.code,
        error=str(error),
    )


def kind_of(request: Request) -> str:
    """Return a request's ``kind`` on the wire."""
    return str(request.__struct_config__.tag)


def echo_id(request: Request) -> int | str | UnsetType:
    """Return the ``id`` of the reply to a request; unset if the request has none."""
    return UNSET if request.id is None else request.id
