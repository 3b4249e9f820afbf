"""Defects that would show a player what is hidden from it, for tests that must find each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import chess
from msgspec import UNSET, UnsetType, structs

from gm_protocol.errors import IllegalMove, WrongPhase
from gm_protocol.state import Color, GameState, Phase
from gm_recon.board import ReconBoard
from gmd.games import dark, facts, position, rbc, views
from gmd.games import facts as fragments
from gmd.games import hidden as own_pieces
from gmd.games.commands import Play
from gmd.games.facts import facts_of
from gmd.games.game import Actions, Decision, Game, GameSummary, Snapshot
from gmd.games.hidden import HiddenGame
from gmd.games.rbc import RbcGame, ReconSnapshot
from gmd.games.rbc_knowledge import Observed
from gmd.handlers import game_requests as games
from gmd.handlers import game_requests as seated
from gmd.handlers import wait
from gmd.handlers.context import RequestContext
from gmd.play.arbiter import Arbiter
from gmd.play.live_games import LiveGame
from gmd.play.spectators import Spectators
from gmd.play.turns import Turns
from gmd.players.authenticator import Authenticator

#: The place in the daemon, its attribute, and the attribute's replacement.
Patch = tuple[Any, str, Any]


@dataclass(frozen=True)
class Leak:
    """A defect.

    :ivar variants: the games that it shows in.
    :ivar found_in: what is different: replies, the lines that the server runs, or the caches that all games share.
    :ivar first: for each variant, the seed of a pair of games in which replies differ; without any, 0.
    """

    patch: Patch
    variants: tuple[str, ...] = ("rbc",)
    found_in: tuple[str, ...] = ("replies",)
    first: tuple[int, ...] = ()


BOTH = ("rbc", "dark_chess")
DARK = ("dark_chess",)

_blind_state, _actions, _refuse_turn, _summary, _update, _viewer_of, _observed_in_play, _decide_play, _take = (
    views._blind_state,
    views.actions,
    RbcGame._refuse_turn,
    RbcGame.summary,
    Turns.update,
    games.viewer_of,
    views.observed_in_play,
    dark.DarkGame.decide_play,
    ReconBoard._take,
)


# --- In replies ------------------------------------------------------------------------------------------------------


def showing(**fields: Callable[[Any, Any, GameState], object]) -> Patch:
    """Return a patch of the views in which some fields show the truth."""

    def state(game: HiddenGame, shown: Snapshot, *others: Any, **options: Any) -> GameState:
        blind = _blind_state(game, shown, *others, **options)
        return structs.replace(blind, **{name: truth(game, shown, blind) for name, truth in fields.items()})

    return views, "_blind_state", state


def phase_first(game: RbcGame, command: Any, elapsed: float, phase: Phase) -> Decision | None:
    """Check the phase before the turn."""
    wrong = not game.over and game.now.phase != phase
    return Decision(refusal=WrongPhase("it is another phase")) if wrong else _refuse_turn(game, command, elapsed, phase)


def interrupt_all(arbiter: Arbiter, live: LiveGame) -> None:
    """Notify every waiter when a sense is durable."""
    for groups in (arbiter.watchers._by_game, arbiter.watchers._spectators):
        if live.game.id in groups:
            for subscription in groups[live.game.id]:
                subscription.interrupt()


def possible_first(game: RbcGame, viewer: views.Viewer) -> Actions:
    """Return the moves that may be requested, with those first that the true board allows."""
    sense, moves = _actions(game, viewer)
    legal = {move.uci() for move in chess.Board(game.recon.board.fen()).pseudo_legal_moves}
    return Actions(sense, moves and sorted(moves, key=lambda move: move not in legal))


def one_more_when_sensed(game: RbcGame) -> GameSummary:
    """Return a listing in which a sense counts as half a turn."""
    summary = _summary(game)
    return structs.replace(summary, ply_index=summary.ply_index + (game.now.phase == "move"))


def one_more_where_a_seat_was_open(game: RbcGame) -> GameSummary:
    """Return the same for games that began with an open seat alone."""
    return one_more_when_sensed(game) if game._kept_seats else _summary(game)


def limited(value: int | UnsetType | None, default: int | None = None) -> bool:
    """Return whether a limit was given that is not the default."""
    return value is not UNSET and value is not None and value != default


def near_the_limit(game: RbcGame, shown: ReconSnapshot, blind: GameState) -> int:
    """Return the draw that two more turns would make."""
    limit = game.options.reversible_moves
    return int(isinstance(limit, int) and shown.halfmoves + 2 >= limit)


def with_halfmoves(_: HiddenGame, shown: Snapshot, blind: GameState) -> str:
    """Return a FEN with the true half-move clock."""
    return str(blind.fen).replace(" 0 ", f" {shown.halfmoves} ")


def turns_in_which_something_moved(game: RbcGame, shown: ReconSnapshot, blind: GameState) -> str:
    """Return a FEN whose move number skips the turns in which nothing moved, where turns are limited."""
    made = sum(turn.taken is not None for turn in game.recon.turns[: shown.ply])
    number = game.fullmove_at(made) if limited(game.options.max_turns) else game.fullmove_at(shown.ply)
    return f"{str(blind.fen).rpartition(' ')[0]} {number}"


def check_first(turns: Turns, game: Game) -> None:
    """Order the games that wait for a player so that those where it is in check come first."""
    _update(turns, game)
    known = turns._players.get(game.players[game.turn] or 0)
    if known is not None and game.id in known.due and facts_of(game.now.position).check:
        known.due = {game.id: None, **known.due}


def everything_without_a_seat(
    game: Game, named: Color | None, context: RequestContext, both: views.Viewer
) -> views.Viewer:
    """Return a ``wait``'s viewer that sees everything if its player names no seat."""
    return views.Viewer.OVERSEER if named is None and context.player else _viewer_of(game, named, context, both)


def observed_with_whole_board(game: Game, seat: chess.Color) -> tuple[int, Sequence[Observed]]:
    """Return what a seat has observed, as if its sense in this turn had shown the whole board.

    The positions that follow from it always have the true one, so that no request fails.
    """
    ply, observed = _observed_in_play(game, seat)
    if not observed or observed[-1].step != "sense":
        return ply, observed
    board = cast(RbcGame, game).recon.board.as_chess()
    return ply, [*observed[:-1], Observed("sense", [(square, board.piece_at(square)) for square in chess.SQUARES])]


def refused_with_the_position(game: dark.DarkGame, command: Play, elapsed: float) -> Decision:
    """Refuse with an error that names the position, as that of chess does."""
    decision = _decide_play(game, command, elapsed)
    if not isinstance(decision.refusal, IllegalMove):
        return decision
    return Decision(refusal=IllegalMove(f"move: {command.text!r} is not legal in {game._board.epd()}"))


# --- In the lines that run, or in caches ------------------------------------------------------------------------------


def state_with_facts(game: Any, shown: Any, *args: Any, **fields: Any) -> Any:
    """Make the facts of the true position for a seat, in the cache that open games share."""
    facts.facts_of(position.settled(shown.position))
    return _blind_state(game, shown, *args, **fields)


def taking_with_a_look(self: ReconBoard, square: chess.Square) -> None:
    """Look at a taken piece more closely if it is no pawn."""
    if not self._pawns[self.turn] >> square & 1:
        self.fen()
    _take(self, square)


def lanes(board: chess.Board) -> bytes:
    """Return, for each square, the pieces that attack it, as an open game's map has them."""
    return b"".join(
        sum(1 << source for source in chess.SQUARES if board.attacks_mask(source) >> target & 1).to_bytes(8, "little")
        for target in chess.SQUARES
    )


LEAKS: dict[str, Leak] = {
    "the half-move clock": Leak(
        showing(fen=with_halfmoves),
        BOTH,
        first=(1, 11),
    ),
    "castling rights": Leak(
        showing(available_castles=lambda game, shown, _: game.facts_at(shown).castles),
        BOTH,
        first=(1, 2),
    ),
    "castling rights in the FEN": Leak(
        showing(fen=lambda game, shown, _: game.facts_at(shown).fen_stem.split()[2]), first=(1,)
    ),
    "en passant": Leak(showing(passant_file=lambda game, shown, _: game.facts_at(shown).passant_file)),
    "en passant in the FEN": Leak(showing(fen=lambda game, shown, _: game.facts_at(shown).fen_stem.split()[3])),
    "the position in the FEN": Leak(showing(fen=lambda game, shown, _: game.facts_at(shown).fen_stem), BOTH),
    "the order of errors": Leak((RbcGame, "_refuse_turn", phase_first)),
    "the words of a refusal": Leak((dark.DarkGame, "decide_play", refused_with_the_position), DARK, first=(1,)),
    "the size of a reply": Leak(
        showing(fen=lambda game, shown, blind: blind.fen + " " * len(game.facts_at(shown).fen_stem))
    ),
    "the listing of games": Leak((RbcGame, "summary", one_more_when_sensed), first=(2,)),
    "check": Leak(
        showing(in_check=lambda game, shown, _: game.facts_at(shown).check),
        BOTH,
        first=(5, 7),
    ),
    "draws": Leak(showing(draws=lambda _, shown, blind: int(shown.halfmoves >= 4)), first=(7,)),
    "the last move": Leak(showing(last_move=lambda _, shown, blind: shown.last_move), BOTH),
    "where a capture ended": Leak(
        showing(opponent_capture=lambda _, shown, blind: blind.opponent_capture and (shown.last_move or "")[2:]),
        first=(4,),
    ),
    "the phase off turn": Leak(showing(phase=lambda _, shown, blind: shown.phase)),
    "the movetext": Leak(showing(pgn=lambda game, shown, blind: game.movetext), BOTH),
    "the access map": Leak(showing(access_map=lambda game, shown, _: game.facts_at(shown).access_map), BOTH),
    "the order of moves": Leak((views, "actions", possible_first)),
    "a wait that ends at a sense": Leak((Arbiter, "_sense_durable", interrupt_all), first=(1,)),
    "a history before the end": Leak((views, "check_history", lambda game: None), BOTH),
    "everything, to nobody": Leak((Spectators, "may_oversee", lambda spectators, key: True)),
    "that a limit of half-moves is near": Leak(showing(draws=near_the_limit), first=(25,)),
    "the half-move clock, where it has another limit": Leak(
        showing(
            fen=lambda game, shown, blind: (
                with_halfmoves(game, shown, blind) if limited(game.options.reversible_moves, 100) else blind.fen
            )
        ),
        first=(7,),
    ),
    "the moves made, where turns are limited": Leak(showing(fen=turns_in_which_something_moved), first=(6,)),
    "check, where turns are limited": Leak(
        showing(in_check=lambda game, shown, _: limited(game.options.max_turns) and game.facts_at(shown).check),
        first=(10,),
    ),
    "the position, where a seat was open": Leak(
        showing(
            access_map=lambda game, shown, blind: (
                game.facts_at(shown).access_map if game._kept_seats else blind.access_map
            )
        )
    ),
    "everything, to who joins again": Leak((seated, "viewer_of", lambda *args, **options: views.Viewer.OVERSEER)),
    "the listing of games that were open": Leak((RbcGame, "summary", one_more_where_a_seat_was_open), first=(2,)),
    "the order of games": Leak((Turns, "update", check_first), first=(5,)),
    "everything, to who waits and names no seat": Leak((wait, "viewer_of", everything_without_a_seat)),
    "the position, to who asks for a belief": Leak((views, "observed_in_play", observed_with_whole_board), first=(2,)),
    "everything, to whoever is registered": Leak((Authenticator, "admit", lambda *args: None), first=(1,)),
    "the cache of own pieces that all games shared": Leak(
        (own_pieces, "show_own", lru_cache(4_096)(own_pieces.show_own)), found_in=("lines", "caches")
    ),
    "a belief made of the true position": Leak(
        (views, "observed_in_play", observed_with_whole_board), found_in=("lines",)
    ),
    "a look whether anything can capture en passant": Leak((rbc, "pack_unchecked", position.pack), found_in=("lines",)),
    "the facts of true positions": Leak((views, "_blind_state", state_with_facts), found_in=("lines",)),
    "a look at what is taken": Leak((ReconBoard, "_take", taking_with_a_look), found_in=("lines",)),
    "a look for en passant in Dark chess": Leak((dark, "pack_passing", position.pack), DARK, ("lines",)),
    "a search for a move of the opponent": Leak(
        (dark, "can_move", lambda board: any(board.legal_moves)), DARK, ("lines",)
    ),
    "a check of the opponent's castling rights": Leak(
        (dark.TrueBoard, "clean_castling_rights", dark.DarkBoard.clean_castling_rights), DARK, ("lines",)
    ),
    "moves read on the true board": Leak(
        (dark, "seen_board", lambda position, seat: dark._board_of(position)), DARK, ("lines",)
    ),
    "lists of squares that all games share": Leak(
        (own_pieces, "_access_json", lambda board: fragments.access_json(lanes(board))), found_in=("caches",)
    ),
    "castling rights that all games share": Leak(
        (own_pieces, "castling", fragments.kept_castling), found_in=("caches",)
    ),
    "the facts of true positions that all games share": Leak((rbc, "hidden_facts", facts_of), found_in=("caches",)),
}
