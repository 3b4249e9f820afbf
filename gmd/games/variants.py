"""The variants that the server plays, and the options of a game that a request asks for.

The only random choice, a Chess960 start number that nobody named, is an argument.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import chess

from gm_protocol.endings import Cause, Victory
from gm_protocol.errors import BadPgn, BadRequest, quote
from gm_protocol.messages import GameOptions, NewGame
from gmd.games.chess import CHESS960, CRAZYHOUSE, STANDARD
from gmd.games.dark import DARK
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Game
from gmd.games.rbc import RBC
from gmd.games.variant import Variant

#: The variants by their names on the wire, in the order of :data:`gm_protocol.options.Variant`.
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


def resolve(request: NewGame, headers: Mapping[str, str], drawn: int, *, strict: bool) -> GameOptions:
    """Return the options of the game that a request asks for.

    :param headers: the tags of its PGN; empty without one.
    :param drawn: the Chess960 start number (0 to 959) to use if neither request nor headers name one.
    :param strict: refuse a field that does not apply to the variant rather than ignore it.
    :raises BadRequest: fields are out of range, or contradict each other or the headers.
    :raises BadPosition: the FEN does not parse or is not a position of the variant.
    :raises BadPgn: the headers name a variant that this server does not have.
    """
    return _variant_of(request, headers).resolve(request, headers, drawn, strict=strict)


def _variant_of(request: NewGame, headers: Mapping[str, str]) -> Variant:
    """Return the variant that a request asks for. A header Standard decides nothing: programs write it to any game."""
    asked, header = request.variant, headers.get("Variant", "")
    if asked is not None and not VARIANTS[asked].loads_moves:
        return VARIANTS[asked]
    variant = STANDARD if header in ("", "?", "-") else named_in_pgn(header)
    if variant is None:
        loading = ", ".join(name for name, variant in VARIANTS.items() if variant.loads_moves)
        raise BadPgn(f"pgn: its Variant header {quote(header)} is none of {loading}")
    if not variant.loads_moves:
        raise BadPgn(f"pgn: its Variant header is {quote(header)}, and {variant.no_pgn}")
    if variant is STANDARD:
        return VARIANTS[asked] if asked is not None else CHESS960 if _castles_as_960(headers) else STANDARD
    if asked not in (None, variant.name):
        raise BadRequest(f"variant: {asked!r} contradicts the PGN's Variant header {quote(header)}")
    return variant


def _castles_as_960(headers: Mapping[str, str]) -> bool:
    """Return whether a PGN's FEN has castling rights that only Chess960 has, as python-chess finds them."""
    try:
        return chess.Board(headers.get("FEN", chess.STARTING_FEN)).has_chess960_castling_rights()
    except ValueError:  # the variant's reading of it says why
        return False
