"""The server's own judgement of an opening, before the first game: its rules decide, as they will when it is played."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gm_protocol.codec import InvalidRequest, decode_request
from gm_protocol.errors import GmError
from gm_protocol.messages import NewGame
from gmd.games.events import Created
from gmd.games.notation import run_through
from gmd.games.variants import make_game, resolve


def check_opening(variant: str, fields: Mapping[str, Any], moves: Sequence[str]) -> None:
    """Check that a game can begin with an opening.

    :param fields: the fields of ``new_game`` without a PGN: those that all games of the match share, and the start.
    :param moves: the opening's moves from there, in UCI.
    :raises ValueError: the server refuses it, or its game is over before the first move.
    """
    asked = {"kind": "new_game", "player_white": None, "player_black": None, "variant": variant, **fields}
    try:
        request = decode_request(json.dumps(asked).encode())
        assert isinstance(request, NewGame)
        game = make_game(Created(None, None, resolve(request, {}, 0, strict=True), ""))
        if moves:
            run_through(game.load(moves))
    except (GmError, InvalidRequest) as error:
        raise ValueError(str(error)) from None
    if game.over:
        assert game.now.ending is not None
        words = game.now.ending.cause.value.words
        raise ValueError(f"no game can begin here, since the game is over: {words}")
