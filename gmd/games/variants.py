"""The variants that the server plays. To add one, write a module with its object, and add the object to this list."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

from gm_protocol.endings import Cause, Victory

from .chess_variants import CHESS960, CRAZYHOUSE, STANDARD
from .dark import DARK
from .events import AnyEvent, Created
from .game import Game
from .rbc_variant import RBC
from .variant import Variant

#: The variants by their names on the wire, in the order of :data:`gm_protocol.messages.Variant`.
VARIANTS: Mapping[str, Variant] = {variant.name: variant for variant in (STANDARD, CHESS960, CRAZYHOUSE, RBC, DARK)}


def make_game(created: Created) -> Game:
    """Return a new game of its variant, at its start position."""
    return VARIANTS[created.options.variant].make_game(created)


def replayed(game_id: int, events: Sequence[AnyEvent]) -> Generator[None, None, Game]:
    """Return a game from its stored events, in steps of one event; raise any exception if they do not apply.

    Unlike :func:`gmd.games.replay.replay` it checks nothing: the game's log has them, so the rules allowed them once.
    """
    created, *others = events
    assert isinstance(created, Created)
    game = make_game(created)
    game.id = game_id
    for event in others:
        yield
        game.apply(event)
    return game


def named_in_pgn(tag: str) -> Variant | None:
    """Return the variant of a PGN's Variant tag, in any case; None for one that is not played here."""
    return _BY_TAG.get(tag.lower())


def victory_in(name: str) -> Victory:
    """Return the cause of a victory by the rules in a variant; checkmate for an unknown variant."""
    return VARIANTS[name].victory if name in VARIANTS else Cause.CHECKMATE


_BY_TAG = {tag: variant for variant in VARIANTS.values() for tag in (variant.pgn_name.lower(), *variant.pgn_aliases)}
