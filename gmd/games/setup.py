"""The options of a game from a client's request: variant, start position, rules.

The code is pure: the only random choice, a Chess960 start number that nobody named, is an argument.
"""

from __future__ import annotations

from collections.abc import Mapping

from gm_protocol.errors import BadPgn, BadRequest, quote
from gm_protocol.messages import GameOptions, NewGame

from .variant import Variant
from .variants import VARIANTS, named_in_pgn


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
    asked, header = request.variant, headers.get("Variant")
    if header is None or (asked is not None and not VARIANTS[asked].loads_moves):
        return VARIANTS[asked or "standard"]
    variant = named_in_pgn(header)
    if variant is None:
        loading = ", ".join(name for name, variant in VARIANTS.items() if variant.loads_moves)
        raise BadPgn(f"pgn: its Variant header {quote(header)} is none of {loading}")
    if not variant.loads_moves:
        raise BadPgn(f"pgn: its Variant header is {quote(header)}, and {variant.no_pgn}")
    if asked not in (None, variant.name):
        raise BadRequest(f"variant: {asked!r} contradicts the PGN's Variant header {quote(header)}")
    return variant
