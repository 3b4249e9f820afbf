"""What clients read of a variant in the table is what the server does."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from gm_protocol.errors import BadRequest
from gm_protocol.messages import GameOptions, NewGame, Variant
from gm_protocol.options import VARIANT_TRAITS
from gmd.games.events import Created
from gmd.games.variants import VARIANTS, make_game, resolve


def options_of(variant: Any, **fields: Any) -> GameOptions:
    return resolve(NewGame(player_white=1, player_black=2, variant=variant, **fields), {}, 0, strict=True)


def is_accepted(variant: str, **fields: Any) -> bool:
    try:
        options_of(variant, **fields)
    except BadRequest:
        return False
    return True


def test_every_variant_has_its_traits() -> None:
    assert list(VARIANT_TRAITS) == list(VARIANTS) == list(get_args(Variant))


@pytest.mark.parametrize("name", VARIANT_TRAITS)
def test_new_game_accepts_the_fields_that_the_traits_name(name: str) -> None:
    traits = VARIANT_TRAITS[name]
    accepted = [field for field in ("max_moves", "max_turns") if is_accepted(name, **{field: 9})]
    assert accepted == [traits.length]
    assert is_accepted(name, draws="automatic") == traits.draws


@pytest.mark.parametrize("name", VARIANT_TRAITS)
def test_game_without_a_requested_clock_has_the_default_one(name: str) -> None:
    traits = VARIANT_TRAITS[name]
    assert options_of(name).clock == traits.clock
    assert (traits.clock_fields is None) == (traits.clock is None)


@pytest.mark.parametrize("name", VARIANT_TRAITS)
def test_game_has_a_history_for_reconchess_where_reconchess_plays_it(name: str) -> None:
    game = make_game(Created(1, 2, options_of(name), "2026-11-22T04:41:00Z"))
    assert (game.recon_history() is not None) == VARIANT_TRAITS[name].in_reconchess
