"""The variant ``rbc``: how a game of reconnaissance blind chess begins."""

from __future__ import annotations

from collections.abc import Mapping

import chess
from msgspec import UNSET

from gm_protocol.endings import Cause
from gm_protocol.errors import BadPosition, quote
from gm_protocol.messages import GameOptions, NewGame
from gm_recon import ReconBoard
from gm_recon.pgn import VARIANT

from .clock import check_clock
from .events import Created
from .rbc import RbcGame
from .variant import Variant, check_counters

#: The default, that of reconchess: a draw after 100 half-moves without a capture or pawn move.
RECON_REVERSIBLE_MOVES = 100

#: Fields of "new_game" that do not apply to reconnaissance blind chess. Draw offers would be signals between players.
_NOT_FOR_RECON = ("position", "seed", "draws", "max_moves", "illegal_move")


class RbcVariant(Variant):
    """Reconnaissance blind chess. No game begins with moves of a PGN: clients would not know what they have seen."""

    name = "rbc"
    title = "blind chess"
    heading = "Reconnaissance blind chess"
    abbreviation = "RBC"
    pgn_name = VARIANT
    pgn_aliases = frozenset({"reconnaissance chess", "rbc"})
    pgn_is_common = False
    loads_moves = False
    victory = Cause.KING_CAPTURE
    hides = True
    senses = True
    null_is_an_answer = True

    def resolve(self, request: NewGame, headers: Mapping[str, str], drawn: int, *, strict: bool) -> GameOptions:
        self.refuse_pgn(request)
        self.refuse(request, _NOT_FOR_RECON)
        clock = self.traits.clock if request.clock is UNSET else request.clock
        reversible = RECON_REVERSIBLE_MOVES if request.reversible_moves is UNSET else request.reversible_moves
        return GameOptions(
            variant=self.name,
            fen=_start_fen(chess.STARTING_FEN if request.fen is None else request.fen),
            clock=None if clock is None else check_clock(clock),
            reversible_moves=reversible,
            max_turns=request.max_turns,
        )

    def make_game(self, created: Created) -> RbcGame:
        return RbcGame(created)


def _start_fen(fen: str) -> str:
    try:
        board = ReconBoard(fen)
    except (ValueError, IndexError) as error:
        raise BadPosition(f"fen: {quote(fen)}: {str(error)[:120]}") from None
    check_counters(fen, board.halfmoves, board.fullmoves)
    return board.fen()


RBC = RbcVariant()
