"""What a viewer may see of a game. Nothing else builds a :class:`~gm_protocol.state.GameState`.

This is what keeps reconnaissance blind chess blind. While a game of it is on, what is made here for a seat is made of
that seat's own pieces, of what it has been told of its own senses and moves, and of what both players know.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from enum import Enum
from typing import Any, NamedTuple, cast

import chess
import msgspec
from msgspec import UNSET, Raw

from gm_protocol.endings import result_of, termination_of
from gm_protocol.errors import NotAvailable
from gm_protocol.state import ClockState, GameState

from .facts import facts_of
from .game import Game, Snapshot, seat_name
from .hidden import HiddenGame
from .knowledge import Actions
from .notation import pgn_termination, run_through, time_control, write_pgn_steps
from .variants import VARIANTS


class Viewer(Enum):
    """Who looks at a game. Where everybody may see everything, it makes no difference."""

    BLACK = 0
    WHITE = 1
    #: Somebody without a seat, or who does not say which of its two it looks from.
    NOBODY = 2
    #: Somebody who is to see everything.
    OVERSEER = 3

    @property
    def seat(self) -> chess.Color | None:
        """The seat it looks from."""
        return _SEATS[self.value]

    def knows_of_sense(self, color: chess.Color) -> bool:
        """Whether it may know that a side has sensed."""
        return self is Viewer.OVERSEER or self.seat == color


_SEATS = (chess.BLACK, chess.WHITE, None, None)

# A GameState made of its fields' values in their order. Given by name, as GameState itself takes them, so many of them
# cost a microsecond or two more: some thirtieth of all that a new position costs.
# The last of them, which not every variant has, may be left out.
_FIELDS = msgspec.structs.fields(GameState)
_COMMON = [field.name for field in _FIELDS].index("pockets")
_state_of = cast(
    Callable[..., GameState],
    msgspec.defstruct(
        GameState.__name__,
        [
            *((field.name, field.type) for field in _FIELDS[:_COMMON]),
            *((field.name, field.type, field.default) for field in _FIELDS[_COMMON:]),
        ],
        bases=(GameState,),
        frozen=True,
        gc=False,
    ),
)

#: Who holds a seat, by its colour.
VIEWER_IN = (Viewer.BLACK, Viewer.WHITE)
#: Looking a member up in its class takes time.
NOBODY = Viewer.NOBODY


def game_state(game: Game, shown: Snapshot, elapsed: float, viewer: Viewer, *, brief: bool) -> GameState:
    """The state of a game as a viewer may see it.

    :param shown: the moment to show: the present, or an earlier one for a retried request.
    :param thought: seconds the clock of the side to move has been running; the clocks shown are always the present's.
    :param brief: leave out ``board``, ``access_map`` and ``pgn``.
    """
    if not game.open:
        return _hidden_state(cast(HiddenGame, game), shown, elapsed, viewer, brief=brief)
    # A game of open information: every viewer sees all of it.
    facts = facts_of(shown.position)
    options = game.options
    over = shown.ending is not None
    return _state_of(
        UNSET if brief else facts.board,
        facts.castles,
        facts.passant_file,
        UNSET if brief else facts.access_map,
        shown.ply,
        UNSET if brief else game.movetext[: shown.text_length],
        f"{facts.fen_stem} {shown.halfmoves} {game.fullmove_at(shown.ply)}",
        game.draws(shown),
        termination_of(shown.ending),
        facts.check,
        game.id,
        options.variant,
        game.named[chess.WHITE],
        game.named[chess.BLACK],
        options.fen,
        seat_name(facts.turn),
        "over" if over else "move" if game.begun else "open",
        result_of(shown.ending),
        None if game.clock is None else game.clock.show(game.turn, elapsed),
        shown.draw_offered,
        shown.last_move,
        UNSET if facts.pockets is None else facts.pockets,
    )


def _hidden_state(game: HiddenGame, shown: Snapshot, elapsed: float, viewer: Viewer, *, brief: bool) -> GameState:
    reveals = viewer is Viewer.OVERSEER or shown.ending is not None
    state = _revealed_state if reveals else _blind_state
    return state(game, shown, elapsed, viewer.seat, brief=brief)


def _blind_state(
    game: HiddenGame, shown: Snapshot, elapsed: float, seat: chess.Color | None, *, brief: bool
) -> GameState:
    """A game that hides something and is on, as a seat sees it, or somebody without one."""
    seen = game.seen_by(shown, seat)
    to_move = game.turn_at(shown.ply)
    turn = seat_name(to_move)
    return _state_of(
        UNSET if brief else seen.board,
        seen.castles,
        -1 if seen.passant == "-" else chess.FILE_NAMES.index(seen.passant[0]),
        UNSET if brief else seen.access_map,
        shown.ply,
        UNSET if brief else None,  # pgn
        f"{seen.placement} {turn[0]} {seen.castling} {seen.passant} 0 {game.fullmove_at(shown.ply)}",
        0,  # draws
        termination_of(shown.ending),
        False,  # in_check
        game.id,
        game.options.variant,
        game.named[chess.WHITE],
        game.named[chess.BLACK],
        game.options.fen,
        turn,
        "open" if not game.begun else game.phase_at(shown) if seat == to_move else None,
        result_of(shown.ending),
        _own_clock(game, elapsed, seat),
        False,  # draw_offered
        None,  # last_move
        UNSET,  # pockets
        *game.own_fields(shown, seat, seen),
    )


def _revealed_state(
    game: HiddenGame, shown: Snapshot, elapsed: float, seat: chess.Color | None, *, brief: bool
) -> GameState:
    """A game that hides something, with nothing hidden. A king may be missing from the board."""
    facts = game.facts_at(shown)
    return _state_of(
        UNSET if brief else facts.board,
        facts.castles,
        facts.passant_file,
        UNSET if brief else facts.access_map,
        shown.ply,
        UNSET if brief else game.movetext,
        f"{facts.fen_stem} {shown.halfmoves} {game.fullmove_at(shown.ply)}",
        0,  # draws
        termination_of(shown.ending),
        facts.check,
        game.id,
        game.options.variant,
        game.named[chess.WHITE],
        game.named[chess.BLACK],
        game.options.fen,
        seat_name(facts.turn),
        game.phase_at(shown) if game.begun or game.over else "open",
        result_of(shown.ending),
        None if game.clock is None else game.clock.show(game.turn, elapsed),
        False,  # draw_offered
        shown.last_move,
        UNSET,  # pockets
        *game.own_fields(shown, seat, None),
    )


def _own_clock(game: Game, elapsed: float, seat: chess.Color | None) -> ClockState | None:
    """The clocks with the others' seconds hidden."""
    if game.clock is None:
        return None
    clock = game.clock.show(game.turn, elapsed)
    return ClockState(clock.white if seat == chess.WHITE else None, clock.black if seat == chess.BLACK else None)


def clock_shown(game: Game, elapsed: float, viewer: Viewer) -> ClockState | None:
    """The clocks that the present state of a game has for a viewer; ``thought`` as for :func:`game_state`."""
    reveals = game.open or viewer is Viewer.OVERSEER or game.over
    if not reveals:
        return _own_clock(game, elapsed, viewer.seat)
    return None if game.clock is None else game.clock.show(game.turn, elapsed)


def actions(game: Game, viewer: Viewer) -> Actions:
    """What a viewer may do in its seat now; nothing off its turn, before the game has begun, and after its end."""
    if game.over or viewer.seat != game.turn or not game.begun:
        return Actions()
    return game.actions()


class History(NamedTuple):
    """The whole of a game."""

    pgn: str
    #: What moved in each turn, in UCI; in rbc :data:`~gmd.games.rbc.PASS` where nothing did.
    moves: list[str]
    #: In rbc the game as reconchess saves it: the JSON (:class:`msgspec.Raw`), which is encoded once.
    record: dict[str, Any] | None = None


#: The name of a player, by its id; None where it has none.
NameOf = Callable[[int], str | None]


def _nameless(_player: int) -> None:
    return None


def history(game: Game, name_of: NameOf = _nameless) -> Generator[None, None, History]:
    """The whole of a game as it is now, for everybody, in steps: what is returned yields now and then.

    :raises NotAvailable: it is on, and hides something.
    """
    check_history(game)
    if game.open:
        return _open_history(game.moves, pgn_steps(game, name_of))
    return _hidden_history(game, name_of)


def check_history(game: Game) -> None:
    """See to it that a game's history may be shown.

    :raises NotAvailable: it is on, and hides something.
    """
    if not game.open and not game.over:
        raise NotAvailable(f"game_id: game {game.id} is on: its history is shown once it is over")


def _open_history(moves: list[str], pgn: Generator[None, None, str]) -> Generator[None, None, History]:
    return History((yield from pgn), moves)


def _hidden_history(game: Game, name_of: NameOf) -> Generator[None, None, History]:
    white, black = (player_text(game.named[color], name_of) for color in (chess.WHITE, chess.BLACK))
    record = yield from game.record(white, black)
    pgn = yield from pgn_steps(game, name_of)
    yield
    return History(pgn, game.moves, None if record is None else cast(dict[str, Any], Raw(record)))


def player_text(player: int | None, name_of: NameOf = _nameless) -> str:
    """A player as a game's record names it: by its name, or else by its id."""
    return "?" if player is None else name_of(player) or str(player)


def full_pgn(game: Game, name_of: NameOf = _nameless) -> str:
    """The whole game as PGN, at once: see :func:`pgn_steps`."""
    return run_through(pgn_steps(game, name_of))


def pgn_steps(game: Game, name_of: NameOf = _nameless) -> Generator[None, None, str]:
    """The whole game as it is now as PGN, in steps, with the seven tags every PGN has and those its rules need.

    What PGN has no tag or no word for has a tag of ours: the id of a player who has a name, and our termination.

    Of a game that hides something it is the whole truth, too: not for its players while it is on.
    """
    ours: str = result_of(game.now.ending)
    result = ours
    if result == "*" and game.now.ply == game.loaded:  # a PGN's own result stands until the game is played on
        result = game.created.result_header or result
    headers = {
        "Event": f"gmd game {game.id}",
        "Site": "?",
        "Date": game.created.created[:10].replace("-", "."),
        "Round": "-",
        "White": player_text(game.named[chess.WHITE], name_of),
        "Black": player_text(game.named[chess.BLACK], name_of),
        "Result": result,
        # To those who read its result a game that was decided elsewhere, and may be played on here, is terminated.
        "Termination": pgn_termination(game.now.ending) if result == ours else "normal",
        "GmdTermination": termination_of(game.now.ending),
    }
    for tag, player in (("GmdWhite", game.named[chess.WHITE]), ("GmdBlack", game.named[chess.BLACK])):
        if player is not None and name_of(player) is not None:
            headers[tag] = str(player)
    if game.options.clock is not None:
        headers["TimeControl"] = time_control(game.options.clock)
    variant = VARIANTS[game.options.variant]
    if not variant.is_usual(game.options):
        headers |= {"Variant": variant.pgn_name, "SetUp": "1", "FEN": game.options.fen}
    return _written(headers, game.pgn_text())


def _written(headers: dict[str, str], movetext: str | Generator[None, None, str]) -> Generator[None, None, str]:
    text = movetext if isinstance(movetext, str) else (yield from movetext)
    return (yield from write_pgn_steps(headers, text, headers["Result"]))
