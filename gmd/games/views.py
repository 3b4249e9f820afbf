"""What a viewer may see of a game. Nothing else builds a :class:`~gm_protocol.state.GameState`."""

from __future__ import annotations

import chess
from msgspec import UNSET

from gm_protocol.state import RESULTS, GameState

from .chess import ChessGame
from .facts import facts_of
from .game import Snapshot, seat_name
from .notation import write_pgn
from .setup import is_usual_start


def game_state(game: ChessGame, shown: Snapshot, thought: float, *, brief: bool) -> GameState:
    """The state of a game of open information: every viewer sees all of it.

    :param shown: the moment to show: the present, or an earlier one for a retried request.
    :param thought: seconds the clock of the side to move has been running; the clocks shown are always the present's.
    :param brief: leave out ``board``, ``access_map`` and ``pgn``.
    """
    facts = facts_of(shown.position)
    options = game.options
    over = shown.termination != "available_move"
    return GameState(
        board=UNSET if brief else facts.board,
        available_castles=facts.castles,
        passant_file=facts.passant_file,
        access_map=UNSET if brief else facts.access_map,
        ply_index=shown.ply,
        pgn=UNSET if brief else game.movetext[: shown.text_length],
        fen=f"{facts.fen_stem} {shown.halfmoves} {game.fullmove_at(shown.ply)}",
        draws=game.draws(shown),
        termination=shown.termination,
        in_check=facts.check,
        game_id=game.id,
        variant=options.variant,
        player_white=game.named[chess.WHITE],
        player_black=game.named[chess.BLACK],
        start_fen=options.fen,
        turn=seat_name(facts.turn),
        phase="over" if over else "move" if game.begun else "open",
        result=RESULTS[shown.termination],
        clock=None if game.clock is None else game.clock.show(game.turn, thought),
        draw_offered=shown.draw_offered,
        last_move=shown.last_move,
        pockets=UNSET if facts.pockets is None else facts.pockets,
    )


def actions(game: ChessGame, seat: chess.Color) -> list[str] | None:
    """The moves a seat may make now, in UCI; None off its turn, before the game has begun and after its end."""
    return game.facts.actions if game.may_act(seat) else None


_VARIANT_HEADERS = {"standard": "Standard", "chess960": "Chess960", "crazyhouse": "Crazyhouse"}


def _player(player: int | None) -> str:
    return "?" if player is None else str(player)


def full_pgn(game: ChessGame) -> str:
    """The whole game as PGN, with the seven tags every PGN has and those its rules need."""
    created = game.created
    result = RESULTS[game.now.termination]
    headers = {
        "Event": f"gmd game {game.id}",
        "Site": "?",
        "Date": created.created[:10].replace("-", "."),
        "Round": "-",
        "White": _player(game.named[chess.WHITE]),
        "Black": _player(game.named[chess.BLACK]),
        # A PGN's own result stands until the game is played on.
        "Result": created.result_header or result if result == "*" and game.now.ply == game.loaded else result,
        "Termination": game.now.termination,
    }
    if not is_usual_start(game.options):
        headers |= {"Variant": _VARIANT_HEADERS[game.options.variant], "SetUp": "1", "FEN": game.options.fen}
    return write_pgn(headers, game.movetext, headers["Result"])
