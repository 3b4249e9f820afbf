"""What a game's page needs to show the latest position to one kind of viewer, as one JSON object.

It is a pure function of what the viewer sees (:class:`.Look`). So it is the same for all viewers of a kind, who may
share one: it has nothing of a session. Scripts get it in the reply to what they send, and as events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import chess
import msgspec
from msgspec import UNSET, Struct, structs

from gm_protocol.state import COLOR_NAMES, FIFTY_MOVES, THREEFOLD, ClockState, Color, GameState, side_of
from gmd.games.notation import run_through
from gmd.games.rbc_knowledge import Observed
from gmd.games.variants import VARIANTS
from gmd.http.pages.drawing import Picture
from gmd.http.pages.game_view import Side, Wanted, outcome_words, players_of, view_steps
from gmd.http.pages.looking import Look
from gmd.http.pages.memory import Memory
from gmd.http.pages.observations import words_of
from gmd.http.pages.picture_view import picture_steps, seen, sees_nothing
from gmd.http.pages.rendering import part
from gmd.http.pages.replay import begins, first_number, placement_of
from gmd.http.pages.visit import Visit
from gmd.http.pages.words import side_name

#: How many sequence numbers each ply has: for the stages that a viewer may see within one.
STAGES = 16
#: The stages of a ply: the seats taken so far, a sense to be made, a move to be made, the end.
_OPEN, _SENSE, _MOVE, _OVER = 0, 4, 5, 15
#: The number before a move in a state's ``pgn``.
_NUMBER = re.compile(r"^[0-9]+\.+")


class LiveMove(Struct, frozen=True):
    """A move of the game: the ply that it leads to, and its number, side and SAN."""

    ply: int
    number: int
    color: Color
    san: str


class Remembered(Struct, frozen=True, array_like=True):
    """An enemy piece that the viewer has seen: its square, its letter in FEN, and how many turns ago."""

    square: str
    piece: str
    age: int


class LiveBoard(Struct, frozen=True):
    """The board, as the viewer sees it.

    :ivar placement: the first field of a FEN.
    :ivar last_move: in UCI.
    :ivar check: the square of a king in check.
    :ivar window: the squares of the viewer's latest sense.
    :ivar unseen: the squares that the viewer does not see, or in rbc has not seen in this turn.
    :ivar lost: in rbc the square on which the opponent has just captured.
    :ivar remembered: in rbc the enemy pieces that were seen in earlier turns.
    :ivar fen: the position as the viewer may see it; empty where nothing is seen.
    :ivar pockets: in crazyhouse the pieces in hand of White and of Black, as ``QNP`` and ``qnp``.
    """

    placement: str
    last_move: str | None
    check: str | None
    window: list[str]
    unseen: list[str]
    lost: str | None
    remembered: list[Remembered]
    orientation: Color
    fen: str = ""
    pockets: tuple[str, str] | None = None


class LiveTurn(Struct, frozen=True):
    """A turn of a player of rbc: its number, what the player observed in it, and the board as it knew it then."""

    number: int
    ply: int
    words: list[str]
    board: LiveBoard


class LiveClock(Struct, frozen=True):
    """The seconds that are left, None where hidden, and the side whose clock runs."""

    white: float | None
    black: float | None
    running: Color | None


class Can(Struct, frozen=True):
    """What a player can do now.

    :ivar phase: "open" before the game begins, "wait" off turn, else what is to be done.
    :ivar moves: the moves that it can make, or in rbc ask for, in UCI. Drops are "N@f3".
    :ivar senses: the squares that it can sense.
    :ivar skip: whether it can pass, or sense nothing.
    :ivar resign: whether it can resign.
    :ivar call_off: whether it can call the game off.
    :ivar draw: whether it can offer a draw with its move, has offered one, or can accept one.
    :ivar claim: why it can claim a draw.
    """

    phase: Literal["open", "wait", "sense", "move"]
    moves: list[str]
    senses: list[str]
    skip: bool
    resign: bool
    call_off: bool
    draw: Literal["offer", "offered", "accept"] | None
    claim: list[Literal["fifty_moves", "repetition"]]


class LiveView(Struct, frozen=True):
    """The latest position of a game, to one kind of viewer.

    :ivar seq: grows with every change that the viewer may see. It is computed from the state alone, so that it goes on
        after a restart.
    :ivar seat: the viewer's side; None for a spectator.
    :ivar html: the part of the page that changes (``live_part.html``), with the clocks left empty.
    :ivar moves: the moves after the ply from which they are wanted; empty where they are hidden.
    :ivar turns: in rbc the player's own turns since that ply, the present one among them.
    :ivar can: what the viewer can do; None for spectators, and once the game is over.
    """

    seq: int
    ply: int
    over: bool
    seat: Color | None
    html: str
    moves: list[LiveMove]
    turns: list[LiveTurn]
    board: LiveBoard
    clock: LiveClock | None
    can: Can | None


@dataclass(frozen=True, slots=True)
class LivePart:
    """What ``live_part.html`` shows.

    :ivar standing: how the game stands, in a sentence.
    :ivar observed: what the viewer observed.
    :ivar blind: whether the viewer sees no piece.
    """

    state: GameState
    seat: Color | None
    sides: list[Side]
    standing: str
    observed: list[str]
    blind: bool

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.state.phase == "over"

    @property
    def hid(self) -> bool:
        """Whether the game was one that hides something."""
        return VARIANTS[self.state.variant].hides


def live_view(look: Look, since: int | None, html: str) -> LiveView:
    """Return the live view of a game. It takes well below a millisecond: nothing is replayed for the present.

    :param look: as :func:`.look_live` returns it.
    :param since: the ply after which moves are wanted; None for no moves.
    :param html: ``live_part.html`` of :func:`part_of`; empty for the page, which has it.
    """
    state = look.state
    picture = run_through(picture_steps(look, state.ply_index, view=None))
    return LiveView(
        seq=seq_of(look),
        ply=state.ply_index,
        over=look.over,
        seat=_color(look.seat),
        html=html,
        moves=[] if since is None else moves_since(look, since),
        turns=turns_since(look, since),
        board=_board(look, picture),
        clock=_clock(look),
        can=can_of(look),
    )


def part_of(look: Look, names: Mapping[int, str]) -> LivePart:
    """Return what ``live_part.html`` shows."""
    view = run_through(view_steps(look, Wanted(), names, moves=False))
    observed = [sentence for board in view.boards for sentence in board.observed]
    return LivePart(look.state, _color(look.seat), view.sides, standing(look), observed, sees_nothing(look))


def seq_of(look: Look) -> int:
    """Return the sequence number of what a viewer sees. It never decreases while a game goes on."""
    state = look.state
    if look.over:
        stage = _OVER
    elif state.phase == "open":
        stage = _OPEN + sum(player is not None for player in (state.player_white, state.player_black))
    else:
        stage = _SENSE if state.phase == "sense" else _MOVE
    return state.ply_index * STAGES + stage


def ply_of_seq(seq: int) -> int:
    """Return the ply of a sequence number."""
    return seq // STAGES


def moves_since(look: Look, since: int) -> list[LiveMove]:
    """Return the moves after a ply, as far as the viewer may see them."""
    state = look.state
    if look.variant.hides or not isinstance(state.pgn, str):
        return []
    words = state.pgn.split()
    first, begin = first_number(state.start_fen), 0 if begins(state.start_fen) else 1
    return [
        LiveMove(
            ply,
            first + (ply - 1 + begin) // 2,
            COLOR_NAMES[(ply + begin) % 2],
            _NUMBER.sub("", words[ply - 1]),
        )
        for ply in range(since + 1, len(words) + 1)
    ]


def turns_since(look: Look, since: int | None) -> list[LiveTurn]:
    """Return the turns of a player of rbc after a ply, and the one before it, which may not have been complete then.

    :param since: None for the latest two.
    """
    if look.seat is None or not look.observed:
        return []
    state, seat = look.state, look.seat
    first_ply = int(begins(state.start_fen) != seat)
    wanted = state.ply_index if since is None else since
    turns, memory = list[LiveTurn](), Memory(placement_of(state.start_fen), seat, knows_all=True)
    for number, steps in enumerate(_by_turn(look.observed), 1):
        memory.learn(steps)
        ply = 2 * (number - 1) + first_ply + 1
        if ply >= wanted - 2:
            board = _board(look, seen(memory.sight()))
            turns.append(
                LiveTurn(number, ply, [words_of(step, seat) for step in steps], structs.replace(board, fen=""))
            )
    return turns


def _by_turn(observed: Sequence[Observed]) -> Iterator[list[Observed]]:
    """Yield what a player observed in each of its turns, which begin with the opponent's."""
    turn = list[Observed]()
    for each in observed:
        if each.step == "opponent" and turn:
            yield turn
            turn = []
        turn.append(each)
    yield turn


def _board(look: Look, picture: Picture) -> LiveBoard:
    pockets = look.state.pockets
    return LiveBoard(
        placement=picture.placement,
        last_move=picture.last_move,
        check=None if picture.check is None else chess.square_name(picture.check),
        window=_names(picture.window),
        unseen=_names(picture.unseen),
        lost=None if picture.lost is None else chess.square_name(picture.lost),
        remembered=[Remembered(chess.square_name(square), symbol, age) for square, symbol, age in picture.remembered],
        orientation=COLOR_NAMES[look.seat is not chess.BLACK],
        fen="" if sees_nothing(look) else look.state.fen,
        pockets=(pockets.white, pockets.black) if pockets else None,
    )


def _clock(look: Look) -> LiveClock | None:
    state = look.state
    if state.clock is None:
        return None
    runs = not look.over and state.phase != "open"
    return LiveClock(state.clock.white, state.clock.black, state.turn if runs else None)


def can_of(look: Look) -> Can | None:
    """Return what a player can do now; None for spectators, and once the game is over."""
    state = look.state
    if look.seat is None or look.over:
        return None
    is_open, on_turn = state.phase == "open", side_of(state.turn) == look.seat
    draw: Literal["offer", "offered", "accept"] | None = None
    if not is_open and not look.variant.hides:
        draw = "offer" if on_turn else None
        if state.draw_offered:
            draw = "accept" if on_turn else "offered"
    claims: list[Literal["fifty_moves", "repetition"]] = []
    if on_turn and not is_open:
        claims += ["fifty_moves"] if state.draws & FIFTY_MOVES else []
        claims += ["repetition"] if state.draws & THREEFOLD else []
    return Can(
        phase="open" if is_open else "wait" if not on_turn else "sense" if state.phase == "sense" else "move",
        moves=look.moves or [],
        senses=look.senses or [],
        skip=look.variant.senses and on_turn and not is_open,
        resign=not is_open,
        call_off=is_open,
        draw=draw,
        claim=claims,
    )


def standing(look: Look) -> str:
    """Return how a game stands, in a sentence to this viewer."""
    state = look.state
    if look.over:
        return f"{outcome_words(state)}."
    if state.phase == "open":
        is_free = None in (state.player_white, state.player_black)
        return "Waiting for a second player." if is_free else "Waiting for the invitation to be accepted."
    if side_of(state.turn) != look.seat:
        return f"{side_name(side_of(state.turn))} to move{', in check' if state.in_check else ''}."
    if state.phase == "sense":
        return "Your turn: choose the square around which to sense."
    return "Your turn: you are in check." if state.in_check else "Your turn to move."


def _names(squares: frozenset[int]) -> list[str]:
    return [chess.square_name(square) for square in sorted(squares)]


def _color(side: chess.Color | None) -> Color | None:
    return None if side is None else COLOR_NAMES[side]


def live_view_for(visit: Visit, look: Look, since: int | None) -> LiveView:
    """Return the live view of a game. It is the same for all viewers of a kind.

    :param look: as :func:`.look_live` returns it.
    :param since: the ply after which moves are wanted; None for no moves.
    """
    html = part(visit.site, "live_part.html", view=part_of(look, names_for(visit, look)), clocks=False)
    return live_view(look, since, html)


def names_for(visit: Visit, look: Look) -> dict[int, str]:
    """Return the names of a game's players."""
    return {player: visit.name_of(player) or "" for player in players_of(look.state)}


__all__ = ["MOST_MOVES", "STAGES", "key_of", "payload", "seq_of"]

#: The most moves in an event. A page that lacks more is loaded again.
MOST_MOVES = 400


def key_of(look: Look) -> bytes:
    """Return a value that differs whenever the viewer sees another thing, apart from the time on the clocks.

    A viewer who sees nothing of the game gets only its players and its end.
    """
    state = look.state
    if sees_nothing(look):
        return msgspec.json.encode((state.player_white, state.player_black))
    clock = None if state.clock is None else ClockState(None, None)
    return msgspec.json.encode(structs.replace(state, clock=clock, board=UNSET, access_map=UNSET, pgn=UNSET))


def payload(visit: Visit, look: Look, since: int | None) -> bytes:
    """Return the JSON of a game as a viewer sees it.

    :param since: the ply after which the reader wants the moves; None for no moves.
    """
    wanted = since if since is not None and look.state.ply_index - since <= MOST_MOVES else None
    return msgspec.json.encode(live_view_for(visit, look, wanted))
