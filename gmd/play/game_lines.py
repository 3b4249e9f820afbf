"""Lines in the daemon's own log for the start and the end of each game."""

from __future__ import annotations

from typing import Any

import chess

from gm_protocol.endings import result_of, termination_of
from gmd.games.game_note import GameNote
from gmd.logger import get_logger
from gmd.play.arbiter import Arbiter
from gmd.players.registry import Registry

logger = get_logger(__name__)


class GameLines:
    """Logs the id, players and variant of games: nothing else that clients sent, and nothing hidden."""

    def __init__(self, arbiter: Arbiter, registry: Registry) -> None:
        self._registry = registry
        arbiter.feed.when_begun(self._begun)
        arbiter.feed.when_over(self._over)

    def _begun(self, game: GameNote) -> None:
        logger.info("game began", **self._fields(game))

    def _over(self, game: GameNote) -> None:
        ending = game.ending
        how = {} if ending is None else {"reason": ending.words}
        ended = {"termination": termination_of(ending), "result": result_of(ending), "plies": game.ply}
        logger.info("game ended", **self._fields(game), **ended, **how)

    def _fields(self, game: GameNote) -> dict[str, Any]:
        """Return the fields of both lines. A player is its name, or its id if it has none; None for an empty seat."""
        white, black = (self._called(game.named[color]) for color in (chess.WHITE, chess.BLACK))
        return {"game_id": game.id, "variant": game.options.variant, "white": white, "black": black}

    def _called(self, player: int | None) -> str | int | None:
        account = None if player is None else self._registry.get(player)
        return player if account is None else account.name
