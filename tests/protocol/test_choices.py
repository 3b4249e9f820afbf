"""An error about a word lists the valid words, wherever the field stands."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec
import pytest
from msgspec import Struct

from gm_protocol.choices import choices_at, with_choices
from gm_protocol.codec import InvalidRequest, decode_request


class Inner(Struct):
    color: Literal["white", "black"] | None = None


class Outer(Struct):
    inner: Inner | None = None
    many: list[Inner] = []
    named: dict[str, Inner] = {}
    plain: int = 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"inner": {"color": "red"}}, "'red' is none of white, black - at `$.inner.color`"),
        ({"many": [{}, {"color": "red"}]}, "'red' is none of white, black - at `$.many[1].color`"),
        ({"named": {"a": {"color": "red"}}}, "'red' is none of white, black - at `$.named[...].color`"),
        ({"plain": "red"}, "Expected `int`, got `str` - at `$.plain`"),
    ],
)
def test_error_in_a_nested_field_lists_the_choices(value: Any, expected: str) -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.json.decode(json.dumps(value), type=Outer)
    assert with_choices(raised.value, Outer) == expected


def test_field_without_words_has_no_choices() -> None:
    assert choices_at(Outer, ".plain") == choices_at(Outer, ".nowhere.color") == choices_at(int, "") == []
    assert choices_at(Literal["a", "b"], "") == ["a", "b"]


def refusal(**fields: Any) -> str:
    with pytest.raises(InvalidRequest) as refused:
        decode_request(json.dumps({"kind": "new_game", "player_white": 1, "player_black": 2, **fields}).encode())
    assert refused.value.error.code == "bad_request"
    return str(refused.value.error)


SHAPES = (
    'give {"initial": seconds, "increment": seconds}, {"first_move": seconds, "per_move": seconds}, '
    'such a text as "180+2", or null'
)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"variant": "chess9600"}, 'variant: "chess9600" is none of standard, chess960, crazyhouse, rbc, dark_chess'),
        ({"draws": "never"}, 'draws: "never" is none of claimed, automatic'),
        ({"illegal_move": 3}, "illegal_move: 3 is none of refuse, lose"),
        ({"clock": 180}, f"clock: 180 is no time control: {SHAPES}"),
        ({"clock": [180, 2]}, f"clock: [180, 2] is no time control: {SHAPES}"),
        ({"clock": {"initial": "3"}}, 'clock.initial: {"initial": "3"}: expected `float`, got `str`'),
    ],
)
def test_request_with_a_wrong_value_gets_the_valid_ones(fields: dict[str, Any], expected: str) -> None:
    assert refusal(**fields) == expected
