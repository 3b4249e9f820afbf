"""Keys can be typed on a command line."""

from __future__ import annotations

from gmd.players import keys


def test_key_never_begins_like_an_option() -> None:
    """One random text in 64 would begin with a hyphen, so 2,000 keys would show it."""
    made = [keys.new_key() for _ in range(2_000)]
    derived = [keys.derived_key(keys.new_nonce(str(number)), str(number)) for number in range(2_000)]
    assert {len(key) for key in made + derived} == {43}
    assert [key for key in made + derived if key.startswith("-")] == []
    assert len(set(made)) == len(set(derived)) == 2_000
