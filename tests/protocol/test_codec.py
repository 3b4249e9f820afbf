"""Decoding of requests: any bytes are a request, or are refused with the reason."""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gm_protocol.base import PLAYER_NAME_RULE
from gm_protocol.codec import InvalidRequest, decode_request, echo_id, encode, error_reply, kind_of
from gm_protocol.errors import ERRORS, GmError, Stale, TooMany
from gm_protocol.messages import REQUESTS, AnyRequest, ClockOption, NewGame, Ping, Pong

#: Codes of the refusals of a body that is no request.
CODES = {"bad_json", "bad_request", "unknown_kind"}

#: Length of the longest error sentence, whatever the client sent.
MAX_SENTENCE = 400

NEW_GAME = b'{"kind":"new_game","player_white":1,"player_black":2'

field_names = st.sampled_from(
    sorted({name for request in REQUESTS.values() for name in request.__struct_encode_fields__} | {"kind", "other"})
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from([*REQUESTS, "white", "claimed", "chess960", "live", "draw_agreed"]),
    lambda values: (
        st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=8) | field_names, values, max_size=3)
    ),
    max_leaves=6,
)
pairs = st.lists(st.tuples(field_names, json_values), max_size=8)
kinds = st.sampled_from(list(REQUESTS))


def refusal_of(body: bytes, *, strict: bool = False) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        decode_request(body, strict=strict)
    return caught.value


def outcome_of(body: bytes) -> AnyRequest | tuple[str, str, str | None, int | str | None]:
    """Return the request, or the contents of the refusal."""
    try:
        return decode_request(body)
    except InvalidRequest as invalid:
        return invalid.error.code, str(invalid.error), invalid.kind, invalid.id


def of_pairs(members: list[tuple[str, Any]]) -> bytes:
    """Return an object with these members, including duplicates."""
    return f"{{{', '.join(f'{json.dumps(name)}: {json.dumps(value)}' for name, value in members)}}}".encode()


def check_is_request_or_refusal(body: bytes, strict: bool) -> None:
    try:
        check_request(decode_request(body, strict=strict))
    except InvalidRequest as refused:
        check_refusal(refused)


def check_request(request: AnyRequest) -> None:
    assert REQUESTS[kind_of(request)] is type(request)
    assert json.loads(encode(Pong(id=echo_id(request)))).get("id") == request.id


def check_refusal(refused: InvalidRequest) -> None:
    assert refused.error.code in CODES
    assert 0 < len(str(refused.error)) <= MAX_SENTENCE
    encode(error_reply(refused.error, refused.kind, refused.id))


@given(st.binary(), st.booleans())
def test_any_bytes_are_a_request_or_refused(body: bytes, strict: bool) -> None:
    check_is_request_or_refusal(body, strict)


@given(kinds, pairs, st.booleans())
def test_any_object_is_a_request_or_refused(kind: str, members: list[tuple[str, Any]], strict: bool) -> None:
    check_is_request_or_refusal(of_pairs([("kind", kind), *members]), strict)


@given(pairs, st.integers(0, 200), st.binary(max_size=4), st.integers(0, 4), st.booleans())
def test_any_damaged_object_is_a_request_or_refused(
    members: list[tuple[str, Any]], at: int, put: bytes, cut: int, strict: bool
) -> None:
    whole = of_pairs([("kind", "move"), *members])
    check_is_request_or_refusal(whole[:at] + put + whole[at + cut :], strict)


@pytest.mark.slow
@given(pairs, pairs)
@example([("kind", "new_game"), ("player_white", 1), ("player_black", 2)], [("kind", "ping")])
@example([("kind", "move"), ("game_id", "x"), ("move", 1)], [("move", "e4"), ("game_id", 1)])
@example([("kind", "ping"), ("id", [])], [("id", 5)])
def test_last_of_duplicate_keys_counts(members: list[tuple[str, Any]], more: list[tuple[str, Any]]) -> None:
    assert outcome_of(of_pairs(members + more)) == outcome_of(of_pairs(list(dict(members + more).items())))


@pytest.mark.parametrize("clock", ['{"initial":"x","initial":3}', '{"bogus":1},"clock":{"initial":3}'])
def test_last_of_duplicate_keys_inside_a_field_counts(clock: str) -> None:
    request = decode_request(NEW_GAME + f',"clock":{clock}}}'.encode())
    assert isinstance(request, NewGame)
    assert isinstance(request.clock, ClockOption)
    assert request.clock.initial == 3


@given(st.integers(1, 9))
def test_nul_bytes_after_the_object_are_ignored(count: int) -> None:
    assert decode_request(b'{"kind":"ping","id":1}' + b"\0" * count) == Ping(id=1)
    assert decode_request(b'{"kind":"ping","id":1}\n' + b"\0" * count) == Ping(id=1)


@pytest.mark.parametrize(
    "body",
    [
        *(b"\0", b'\0{"kind":"ping"}', b'{"kind":"ping"}\0 \0', b'{"kind":\0"ping"}'),
        *(b"[]", b"1", b'"ping"', b"null", b'[{"kind":"ping"}]', b'{"kind":"ping"}{}', b"{", b""),
    ],
)
def test_body_that_is_not_one_object_is_bad_json(body: bytes) -> None:
    assert refusal_of(body).error.code == "bad_json"


def test_refusal_of_another_value_quotes_its_beginning() -> None:
    advice = 'the message must be one JSON object, such as {"kind": "ping"}, not '
    assert str(refusal_of(b'["ping"]').error) == advice + '["ping"]'
    assert str(refusal_of(b"[" + b"1," * 50_000 + b"1]").error) == advice + "[" + "1," * 39 + "1" + "..."


DEEP = 100_000


@pytest.mark.parametrize("strict", [False, True])
def test_too_deep_nesting_is_bad_json_anywhere(strict: bool) -> None:
    arrays, objects = b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP
    for body in (
        b'{"kind":"ping","other":%b}' % arrays,
        b'{"kind":"ping","other":%b}' % objects,
        b'{"kind":"ping","id":%b}' % arrays,
        b'{"kind":"wait","game_ids":%b}' % arrays,
        b'{"kind":%b}' % arrays,
        b'{"kind":"other","other":%b}' % arrays,
        NEW_GAME + b',"clock":%b}' % objects,
        b'{"other":%b' % (b"[" * DEEP),
        b'{"other":' * DEEP,
    ):
        refused = refusal_of(body, strict=strict)
        assert refused.error.code == "bad_json"
        assert str(refused.error) == "the message is nested too deep to read"
    for body in (b"[" * DEEP, arrays):
        assert refusal_of(body).error.code == "bad_json"


@pytest.mark.parametrize("before", [b'{"kind":"ping"', NEW_GAME, NEW_GAME + b',"brief":1', b'{"kind":"pong"'])
def test_nesting_near_the_depth_limit_is_answered_normally(before: bytes) -> None:
    def nested(depth: int) -> bytes:
        return before + b',"other":' + b"[" * depth + b"]" * depth + b"}"

    def too_deep(depth: int) -> bool:
        return "too deep" in str(outcome_of(nested(depth)))

    limit = bisect_left(range(DEEP), True, key=too_deep)
    for depth in range(max(0, limit - 20), limit + 20):
        check_is_request_or_refusal(nested(depth), strict=True)


def test_invalid_utf8_is_bad_json_anywhere_even_in_skipped_fields() -> None:
    body = b'{"kind":"ping","other":"text"}'
    for at in (0, 5, 12, 21, 28):
        refused = refusal_of(body[:at] + b"\xff" + body[at:])
        assert str(refused.error) == f"the message is not UTF-8: byte {at} is wrong"
    for text in (b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x28\xa1"):
        assert refusal_of(b'{"kind":"ping","other":"' + text + b'"}').error.code == "bad_json"
        assert refusal_of(b'{"kind":"ping","' + text + b'":1}').error.code == "bad_json"


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400, "9" * 5000, "-" + "9" * 5000, "0." + "1" * 5000])
def test_numbers_of_any_size_are_skipped_in_unknown_fields(number: str) -> None:
    assert decode_request(f'{{"kind":"ping","other":{number}}}'.encode()) == Ping()


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400])
def test_number_beyond_a_double_is_refused_with_its_field(number: str) -> None:
    refused = refusal_of(f'{{"kind":"wait","game_id":1,"timeout":{number}}}'.encode())
    assert refused.error.code == "bad_request"
    assert str(refused.error).startswith("timeout: " + number[:80])


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30, 10**4000])
def test_player_beyond_64_bits_is_refused_with_its_field(number: int) -> None:
    for name in ("player", "player_white", "player_black"):
        refused = refusal_of(
            json.dumps({"kind": "new_game", "player_white": 1, "player_black": 2, name: number}).encode()
        )
        assert refused.error.code == "bad_request"
        assert str(refused.error).startswith(f"{name}: {str(number)[:80]}")


def test_text_that_no_report_may_have_is_refused_with_its_rule() -> None:
    title = {"title": "a\nb", "form": "match", "variant": "rbc", "status": "running"}
    refused = refusal_of(json.dumps({"kind": "contest", "token": "t" * 16, "report": title}).encode())
    assert str(refused.error).endswith(": a text has no line breaks, other control characters, or marks of direction")
    refused = refusal_of(json.dumps({"kind": "hello", "name": "a\nb"}).encode())
    assert str(refused.error) == f'name: "a\\nb": {PLAYER_NAME_RULE}'


def test_players_are_64_bit_numbers_and_ids_and_seeds_may_be_larger() -> None:
    for number in (2**63 - 1, -(2**63), 0, 2**53 + 1):
        assert decode_request(json.dumps({"kind": "ping", "player": number}).encode()).player == number
    for number in (2**64, -(2**80), 10**300):
        request = decode_request(NEW_GAME + f',"seed":{number},"id":{number}}}'.encode())
        assert isinstance(request, NewGame)
        assert request.seed == request.id == number
        assert json.loads(encode(Pong(id=echo_id(request)))) == {"id": number, "error": None}


def test_too_long_id_is_refused() -> None:
    refused = refusal_of(b'{"kind":"ping","id":%b}' % (b"9" * 5000))
    assert (refused.error.code, refused.kind, refused.id) == ("bad_request", "ping", None)


@pytest.mark.parametrize(
    ("rest", "code", "kind"),
    [
        ({"kind": "move", "game_id": "x", "move": "e4"}, "bad_request", "move"),
        ({"kind": "move"}, "bad_request", "move"),
        ({"kind": "pong"}, "unknown_kind", None),
        ({"kind": ["ping"]}, "bad_request", None),
        ({"kind": None}, "bad_request", None),
        ({}, "bad_request", None),
    ],
)
def test_refusal_has_the_id_and_the_kind_of_its_request(rest: dict[str, Any], code: str, kind: str | None) -> None:
    for request_id in ("a", "", "\u265e", "\0", 0, -5, 2**70):
        refused = refusal_of(json.dumps(rest | {"id": request_id}).encode())
        assert (refused.error.code, refused.kind, refused.id) == (code, kind, request_id)


SENTENCES = [
    ({}, "kind: missing; every request names its kind"),
    ({"kind": 1}, "kind: must be a string, not 1"),
    ({"kind": "Ping"}, "kind: 'Ping' is no kind; did you mean ping?"),
    ({"kind": "xyzzy"}, f"kind: 'xyzzy' is none of {', '.join(REQUESTS)}"),
    ({"kind": ""}, f"kind: '' is none of {', '.join(REQUESTS)}"),
    ({"kind": "move", "game_id": 1}, "move: missing; move needs it"),
    ({"kind": "move", "game_id": 1, "move": 4}, "move: 4: expected `str | null`, got `int`"),
    ({"kind": "move", "game_id": True, "move": "e4"}, "game_id: true: expected `int`, got `bool`"),
    ({"kind": "move", "game_id": 1.5, "move": "e4"}, "game_id: 1.5: expected `int`, got `float`"),
    ({"kind": "move", "game_id": -1, "move": "e4"}, "game_id: -1: expected `int` >= 0"),
    ({"kind": "move", "game_id": 1, "move": "e4", "seat": "red"}, 'seat: "red" is none of white, black'),
    ({"kind": "ping", "brief": 1}, "brief: 1: expected `bool`, got `int`"),
    ({"kind": "ping", "player": "1"}, 'player: "1": expected `int | null`, got `str`'),
    ({"kind": "ping", "id": 1.5}, "id: 1.5: expected `int | str | null`, got `float`"),
    ({"kind": "wait", "game_ids": [1, "x"]}, 'game_ids[1]: [1, "x"]: expected `int`, got `str`'),
    ({"kind": "wait", "game_id": 1, "timeout": -1}, "timeout: -1: expected `float` >= 0.0"),
    ({"kind": "games", "limit": 101}, "limit: 101: expected `int` <= 100"),
    ({"kind": "games", "status": "new"}, 'status: "new" is none of live, over, open'),
    (
        {"kind": "new_game", "player_whit": 1, "player_black": 2},
        "player_white: missing; new_game needs it; is 'player_whit' a misspelling?",
    ),
    ({"kind": "state", "gameid": 1}, "game_id: missing; state needs it; is 'gameid' a misspelling?"),
    ({"kind": "state", "square": 1}, "game_id: missing; state needs it"),
    (
        {"kind": "new_game", "player_white": 1, "player_black": 2, "clock": {"inital": 1}},
        'clock: {"inital": 1}: object contains unknown field `inital`',
    ),
    (
        {"kind": "end_game", "game_id": 1, "termination": "stalemate"},
        'termination: "stalemate" is none of taken_draw_white, taken_draw_black, resignation_white, '
        "resignation_black, draw_agreed",
    ),
]


@pytest.mark.parametrize(("request_", "sentence"), SENTENCES, ids=[sentence[:40] for _, sentence in SENTENCES])
def test_error_names_the_field_and_the_value(request_: dict[str, Any], sentence: str) -> None:
    assert str(refusal_of(json.dumps(request_).encode()).error) == sentence


@pytest.mark.parametrize(
    "field", [b'"variant":"%b"', b'"clock":{"%b":1}', b'"clock":"%b"', b'"kind":"%b"', b'"other%b":1', b'"id":["%b"]']
)
def test_error_is_short_however_long_the_value(field: bytes) -> None:
    refused = refusal_of(NEW_GAME + b"," + field % (b"x" * 100_000) + b"}", strict=True)
    assert len(str(refused.error)) <= MAX_SENTENCE


def test_unknown_field_is_ignored_except_in_a_strict_new_game() -> None:
    assert decode_request(b'{"kind":"ping","colour":"blue"}', strict=True) == Ping()
    misspelt = NEW_GAME + b',"varaint":"crazyhouse","id":7}'
    assert decode_request(misspelt) == NewGame(player_white=1, player_black=2, id=7)
    refused = refusal_of(misspelt, strict=True)
    assert (refused.error.code, refused.kind, refused.id) == ("bad_request", "new_game", 7)
    assert str(refused.error).startswith("'varaint': new_game has no such field; it takes brief, clock, ")


@given(kinds)
def test_error_reply_has_nulls_in_place_of_the_values_of_success(kind: str) -> None:
    reply = json.loads(encode(error_reply(GmError("no"), kind, None)))
    with_state = {"state": None} if kind in {"new_game", "game_from_pgn", "move", "sense", "end_game"} else {}
    with_game = {"game_id": None} if kind in {"new_game", "game_from_pgn"} else {}
    assert reply == {**with_game, **with_state, "code": "internal", "error": "no"}


def test_error_reply_has_id_and_retry_after() -> None:
    reply = json.loads(encode(error_reply(TooMany("later", 5.0), None, "x")))
    assert reply == {"id": "x", "code": "too_many", "retry_after": 5.0, "error": "later"}


def test_every_error_has_its_own_code() -> None:
    assert len(ERRORS) == len(GmError.__subclasses__()) == 20
    assert all(error.code == code for code, error in ERRORS.items())
    assert Stale("late", expected=4).expected == 4
