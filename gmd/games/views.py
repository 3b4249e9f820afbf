"""The views of a game. No other module builds a :class:`~gm_protocol.state.GameState`.

This module keeps reconnaissance blind chess blind. While a game is in progress, a seat's view is made only from that
seat's own pieces, the results of its own senses and moves, and facts that both players know.

What all spectators of a game are shown is encoded once for them. A seat's view is neither shared nor cached: the time
of a reply would reveal whether the view was made before.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeVar, cast

import chess
import msgspec
from msgspec import UNSET, Raw, structs

from gm_protocol.codec import encode
from gm_protocol.endings import SHOWN_TO_VERSION_1, Cause, result_of, termination_of
from gm_protocol.errors import NotAvailable
from gm_protocol.messages import GameRow
from gm_protocol.state import ClockState, GameState
from gmd.games.game import Actions, Game, Snapshot, seat_name
from gmd.games.hidden import HiddenGame
from gmd.games.notation import pgn_termination, run_through, time_control, write_pgn_steps
from gmd.games.rbc import RbcGame
from gmd.games.rbc_knowledge import Observations, Observed
from gmd.games.rbc_record import record_steps
from gmd.games.variants import VARIANTS


class Viewer(Enum):
    """The viewer of a game. In a game of open information all viewers see the same."""

    BLACK = 0
    WHITE = 1
    #: A viewer without a seat, or with both seats who does not name one.
    NOBODY = 2
    #: A viewer who may see everything.
    OVERSEER = 3

    @property
    def seat(self) -> chess.Color | None:
        """The viewer's seat; None without one."""
        return _SEATS[self.value]

    def knows_of_sense(self, color: chess.Color) -> bool:
        """Return whether the viewer may know that a side has sensed."""
        return self is Viewer.OVERSEER or self.seat == color


_SEATS = (chess.BLACK, chess.WHITE, None, None)

# A GameState made from its fields' values in their order. Passing so many by name, as GameState itself takes them,
# costs a microsecond or two more: about a thirtieth of the cost of a new position.
# The last fields, which not every variant has, may be left out.
_FIELDS = msgspec.structs.fields(GameState)
_COMMON = [field.name for field in _FIELDS].index("pockets")
assert _COMMON == 21, "a field of all variants needs its value in _revealed_state and in _blind_state, in its place"
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

#: A state of a game, or its row in a list.
Shown = TypeVar("Shown", GameState, GameRow)

#: The viewer of each seat, by its colour.
VIEWER_IN = (Viewer.BLACK, Viewer.WHITE)
#: A constant, because looking up a member of an Enum takes time.
NOBODY = Viewer.NOBODY


def game_state(game: Game, shown: Snapshot, elapsed: float, viewer: Viewer, *, brief: bool) -> GameState:
    """Return the state of a game as a viewer may see it.

    :param shown: the moment to show: the present, or an earlier one for a retried request.
    :param elapsed: seconds for which the clock of the side to move has been running; the clocks are always the
        present's.
    :param brief: leave out ``board``, ``access_map`` and ``pgn``.
    """
    reveals = game.open or viewer is Viewer.OVERSEER or shown.ending is not None
    if reveals:
        return _revealed_state(game, shown, elapsed, viewer.seat, brief=brief)
    return _blind_state(cast(HiddenGame, game), shown, elapsed, viewer.seat, brief=brief)


def for_version_1(shown: Shown) -> Shown:
    """Return a state or a row as a version 1 session is shown it: with a termination that its clients know."""
    known = SHOWN_TO_VERSION_1.get(shown.termination)
    return shown if known is None else structs.replace(shown, termination=known)


def _revealed_state(game: Game, shown: Snapshot, elapsed: float, seat: chess.Color | None, *, brief: bool) -> GameState:
    """Return the full state of a game. In a game that hides something, a king may be missing from the board."""
    facts = game.facts_at(shown)
    options = game.options
    return _state_of(
        UNSET if brief else facts.board,
        facts.castles,
        facts.passant_file,
        UNSET if brief else facts.access_map,
        shown.ply,
        UNSET if brief else game.movetext_at(shown),
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
        game.phase_at(shown) if game.begun or shown.ending is not None else "open",
        result_of(shown.ending),
        None if game.clock is None else game.clock.show(game.turn, elapsed),
        shown.draw_offered,
        shown.last_move,
        UNSET if facts.pockets is None else facts.pockets,
        *game.own_fields(shown, seat, None),
    )


def _blind_state(
    game: HiddenGame, shown: Snapshot, elapsed: float, seat: chess.Color | None, *, brief: bool
) -> GameState:
    """Return the state of a game that hides something, as seen from a seat (or None) while it is in progress."""
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


def _own_clock(game: Game, elapsed: float, seat: chess.Color | None) -> ClockState | None:
    """Return the clocks with only the seat's own time shown."""
    if game.clock is None:
        return None
    clock = game.clock.show(game.turn, elapsed)
    return ClockState(clock.white if seat == chess.WHITE else None, clock.black if seat == chess.BLACK else None)


def clock_shown(game: Game, elapsed: float, viewer: Viewer) -> ClockState | None:
    """Return the clocks that a viewer is shown now; ``elapsed`` is as for :func:`game_state`."""
    reveals = game.open or viewer is Viewer.OVERSEER or game.over
    if not reveals:
        return _own_clock(game, elapsed, viewer.seat)
    return None if game.clock is None else game.clock.show(game.turn, elapsed)


def actions(game: Game, viewer: Viewer) -> Actions:
    """Return the actions that a viewer has now; none off its turn, before the game begins, and after its end."""
    if game.over or viewer.seat != game.turn or not game.begun:
        return Actions()
    return game.actions()


def observations(game: Game, seat: chess.Color) -> Observations | None:
    """Return everything that a seat of a game of rbc has learnt so far; None for a game of another variant."""
    return game.observations(seat) if isinstance(game, RbcGame) else None


def observed_in_play(game: Game, seat: chess.Color) -> tuple[int, Sequence[Observed]]:
    """Return what a seat of a game of rbc has learnt while it was in progress, and the ply up to which.

    A turn that captured a king is left out: everybody is shown everything after it.
    """
    assert isinstance(game, RbcGame), "only games of rbc have observations"
    observed, ending = game.observations(seat), game.now.ending
    if ending is not None and ending.cause is Cause.KING_CAPTURE:
        return game.now.ply - 1, observed.without_last()
    return game.now.ply, observed


class History(NamedTuple):
    """The full history of a game."""

    pgn: str
    #: The move taken in each turn, in UCI; in rbc :data:`~gmd.games.rbc.PASS` for none.
    moves: list[str]
    #: In rbc the game as reconchess saves it, as encoded JSON (:class:`msgspec.Raw`).
    record: dict[str, Any] | None = None


#: A function from a player's id to its name; None for a player without a name.
NameOf = Callable[[int], str | None]


def _nameless(_player: int) -> None:
    return None


def history(game: Game, name_of: NameOf = _nameless) -> Generator[None, None, History]:
    """Return a generator of the full history of a game as it is now, for every viewer; it yields now and then.

    :raises NotAvailable: the game is in progress and hides something.
    """
    check_history(game)
    if game.open:
        return _open_history(game.moves, pgn_steps(game, name_of))
    return _hidden_history(game, name_of)


def check_history(game: Game) -> None:
    """Check that a game's history may be shown.

    :raises NotAvailable: the game is in progress and hides something.
    """
    if not game.open and not game.over:
        raise NotAvailable(f"game_id: game {game.id} is not over: its history is shown once it is over")


def _open_history(moves: list[str], pgn: Generator[None, None, str]) -> Generator[None, None, History]:
    return History((yield from pgn), moves)


def _hidden_history(game: Game, name_of: NameOf) -> Generator[None, None, History]:
    white, black = (player_text(game.named[color], name_of) for color in (chess.WHITE, chess.BLACK))
    turns = game.recon_history()
    record = None if turns is None else (yield from record_steps(turns, white, black))
    pgn = yield from pgn_steps(game, name_of)
    yield
    return History(pgn, game.moves, None if record is None else cast(dict[str, Any], Raw(record)))


def player_text(player: int | None, name_of: NameOf = _nameless) -> str:
    """Return a player's name in a game's record: its name, else its id, or "?" for nobody."""
    return "?" if player is None else name_of(player) or str(player)


def full_pgn(game: Game, name_of: NameOf = _nameless) -> str:
    """Return the whole game as PGN in one go; see :func:`pgn_steps`."""
    return run_through(pgn_steps(game, name_of))


def pgn_steps(game: Game, name_of: NameOf = _nameless) -> Generator[None, None, str]:
    """Return a generator of the PGN of the whole game as it is now, with the seven standard tags and those it needs.

    Tags of our own hold what PGN has no tag for: the id of a player who has a name, and our termination. An imported
    game has the tags of its PGN.

    It shows everything, even of a game that hides something: its players must not see it before the game is over.
    """
    ours: str = result_of(game.now.ending)
    result = ours
    if result == "*" and game.now.ply == game.loaded:  # a loaded PGN's own result holds until the first further move
        result = game.created.result_header or result
    tags = game.created.tags
    headers = {
        "Event": f"gmd game {game.id}",
        "Site": "?",
        "Date": game.created.created[:10].replace("-", "."),
        "Round": "-",
        "White": player_text(game.named[chess.WHITE], name_of),
        "Black": player_text(game.named[chess.BLACK], name_of),
        **tags,
        "Result": result,
        # A game with the result of a loaded PGN counts as terminated, although it may be continued here.
        "Termination": pgn_termination(game.now.ending) if result == ours else "normal",
        "GmdTermination": termination_of(game.now.ending),
    }
    for tag, player in (("White", game.named[chess.WHITE]), ("Black", game.named[chess.BLACK])):
        if player is not None and (tag in tags or name_of(player) is not None):
            headers[f"Gmd{tag}"] = str(player)
    if game.options.clock is not None:
        headers["TimeControl"] = time_control(game.options.clock)
    variant = VARIANTS[game.options.variant]
    if not variant.is_usual(game.options):
        headers |= {"Variant": variant.pgn_name, "SetUp": "1", "FEN": game.options.fen}
    return _written(headers, game.pgn_text())


def _written(headers: dict[str, str], movetext: str | Generator[None, None, str]) -> Generator[None, None, str]:
    text = movetext if isinstance(movetext, str) else (yield from movetext)
    return (yield from write_pgn_steps(headers, text, headers["Result"]))


#: Placeholder for the clocks, which change from one reply to the next. JSON escapes this byte, so it cannot occur.
_CLOCKS = b"\0"


class SharedView(NamedTuple):
    """The JSON of a game's state for a viewer without a seat, before and after the clocks.

    Without a clock, all of it is in ``front``.
    """

    front: bytes
    back: bytes

    def at(self, game: Game, elapsed: float, viewer: Viewer) -> GameState:
        """Return the present state as encoded JSON, under the type of a reply's field.

        :param elapsed: seconds for which the clock of the side to move has been running.
        """
        clock = b"" if game.clock is None else encode(clock_shown(game, elapsed, viewer))
        return cast(GameState, Raw(self.front + clock + self.back))


def shared_view(game: Game, viewer: Viewer, *, brief: bool) -> SharedView:
    """Return the present state of a game as a viewer without a seat may see it."""
    assert viewer.seat is None
    state = game_state(game, game.now, 0.0, viewer, brief=brief)
    if state.clock is not None:
        state = structs.replace(state, clock=cast(ClockState, Raw(_CLOCKS)))
    front, _, back = msgspec.json.encode(state).partition(_CLOCKS)
    return SharedView(front, back)
