"""The content of a game's page and of its embedded form."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import get_args
from urllib.parse import urlencode

import chess

from gm_protocol.state import GameState, LastResult, side_of
from gmd.games.variants import VARIANTS
from gmd.http.pages import observations
from gmd.http.pages.counting import Counts, Kind, Known
from gmd.http.pages.lichess import analysis_address
from gmd.http.pages.looking import Look
from gmd.http.pages.picture_view import (
    VIEWS,
    View,
    board_data,
    last_sense,
    picture_of,
    present_or_past,
    sees_nothing,
    shaded,
    side_of_view,
)
from gmd.http.pages.replay import Position, ReconReplay, begins, captured, first_number, san_steps
from gmd.http.pages.words import believed, hinted, number_words, places_words, result_words, side_name

#: The most moves of both sides that a page lists at once.
MOVES_A_PAGE = 200
#: The names of the views, and the sizes of boards in pixels: alone, and beside others.
VIEW_NAMES: Mapping[View, str] = {"truth": "The truth", "white": "White’s view", "black": "Black’s view"}
ALONE, BESIDE = 480, 360


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a visitor wants to see of a game.

    :ivar ply: None for the latest one.
    :ivar view: in a finished game that had hidden something one view; None for all of them.
    :ivar flip: whether Black is at the bottom.
    :ivar usual_flip: the same for addresses that do not say.
    :ivar belief: in a finished game of reconnaissance blind chess, the pieces of which each side's belief is wanted.
    """

    ply: int | None = None
    view: View | None = None
    flip: bool = False
    usual_flip: bool = False
    belief: Kind | None = None

    def query(self, ply: int | None) -> str:
        """Return the query of an address that shows another ply in the same way; with its "?", or empty."""
        flip = int(self.flip) if self.flip != self.usual_flip else None
        fields = {"ply": ply, "view": self.view, "flip": flip, "belief": self.belief}
        query = urlencode({name: value for name, value in fields.items() if value is not None})
        return f"?{query}" if query else ""


@dataclass(frozen=True, slots=True)
class Side:
    """A player of the game.

    :ivar name: None for an open seat.
    :ivar seconds: the time that is left; None where hidden, or without a clock.
    :ivar pieces: the pieces that it has captured, or in crazyhouse has in hand, as chess symbols.
    :ivar pieces_words: the same in words.
    """

    color: str
    player: int | None
    name: str | None
    seconds: float | None
    running: bool
    pieces: str
    pieces_words: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A move in the list: the ply that it leads to, in SAN, and what was asked for where that differs."""

    ply: int
    san: str
    current: bool
    asked: str = ""


@dataclass(frozen=True, slots=True)
class MoveRow:
    """A move of both sides."""

    number: int
    white: Cell | None
    black: Cell | None


@dataclass(frozen=True, slots=True)
class BoardView:
    """A board: its picture's address, what the picture shows, and in rbc what the side observed and could know.

    :ivar data: the same for scripts that draw the board (:func:`.board_data`).
    """

    title: str
    source: str
    words: str
    size: int
    observed: list[str]
    known: list[str]
    data: dict[str, object]


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to another view of the same ply.

    :ivar words: the name in words, where it is a symbol.
    """

    name: str
    query: str
    current: bool
    words: str = ""


@dataclass(frozen=True, slots=True)
class GameView:
    """What the page of a game shows.

    :ivar steps: links to other plies: their names, and the ply; None where there is none.
    :ivar earlier, later: the plies that lead to the other moves of a list that is too long for a page.
    :ivar fen: the position, as the visitor may see it; empty where nothing is seen.
    :ivar has_past: whether the history may be seen.
    :ivar lichess: the address of a finished game on lichess's analysis board; empty if the game had hidden something.
    """

    state: GameState
    wanted: Wanted
    ply: int
    last: int
    outcome: str
    over: bool
    sides: list[Side]
    boards: list[BoardView]
    choices: list[Choice]
    beliefs: list[Choice]
    steps: list[tuple[str, int | None]]
    rows: list[MoveRow]
    earlier: int | None
    later: int | None
    fen: str
    blind: bool
    has_past: bool
    lichess: str

    @property
    def counted(self) -> bool:
        """Whether the numbers of possible positions can be asked for."""
        return self.over and VARIANTS[self.state.variant].senses

    @property
    def path(self) -> str:
        """The address of the page."""
        return f"/games/{self.state.game_id}"

    @property
    def linked(self) -> str:
        """The query of a link to the same ply and view, whose picture other sites show; without the belief."""
        return replace(self.wanted, belief=None).query(self.wanted.ply)

    @property
    def frame(self) -> tuple[int, int]:
        """The width and the height in pixels of a frame that shows the game on another site without scroll bars."""
        return (1040, 520) if len(self.boards) > 1 else (420, 590)

    @property
    def flipped(self) -> str:
        """The query of the same ply with the board turned."""
        return replace(self.wanted, flip=not self.wanted.flip).query(self.wanted.ply)


def view_steps(
    look: Look, wanted: Wanted, names: Mapping[int, str], *, moves: bool, counts: Counts | None = None
) -> Generator[None, None, GameView]:
    """Return what a page shows, in steps.

    :param names: the players' names.
    :param moves: whether to list the moves.
    :param counts: what the players could know, if it is to be shown.
    """
    state, ply, last = look.state, look.ply(wanted.ply), look.state.ply_index
    position = yield from present_or_past(look, ply)
    recon = look.recon
    listed = (yield from _moves(look, ply)) if moves and look.past is not None else _Moves([])
    steps = [] if look.past is None else _links(ply, last)
    views = [wanted.view] if wanted.view or not look.has_views else list(VIEWS)
    return GameView(
        state=state,
        wanted=wanted,
        ply=ply,
        last=last,
        outcome=outcome_words(state),
        over=look.over,
        sides=[_side(look, color, position, names) for color in (chess.WHITE, chess.BLACK)],
        boards=[_board(look, recon, wanted, ply, view, position, counts, alone=len(views) == 1) for view in views],
        choices=_choices(wanted, ply) if look.has_views else [],
        beliefs=_beliefs(wanted, ply) if recon is not None else [],
        steps=steps,
        rows=listed.rows,
        earlier=listed.earlier,
        later=listed.later,
        fen="" if sees_nothing(look) else position.fen,
        blind=sees_nothing(look),
        has_past=look.past is not None,
        lichess=(yield from _lichess(look, ply, position)),
    )


def _lichess(look: Look, ply: int, position: Position) -> Generator[None, None, str]:
    if look.past is None or not look.over or look.variant.hides:
        return ""
    state = look.state
    moves = yield from san_steps(look.past.pgn, state.ply_index)
    return analysis_address(state.variant, state.start_fen, moves, ply, position.fen)


def outcome_words(state: GameState) -> str:
    """Return how a game stands or ended, in words."""
    if words := result_words(state.termination, state.variant):
        return words
    return "Waiting for a player" if state.phase == "open" else f"{state.turn.title()} to move"


def _links(ply: int, last: int) -> list[tuple[str, int | None]]:
    before, after = ply > 0, ply < last
    return [
        ("First", 0 if before else None),
        ("Previous", ply - 1 if before else None),
        ("Next", ply + 1 if after else None),
        ("Last", last if after else None),
    ]


def _choices(wanted: Wanted, ply: int) -> list[Choice]:
    every: list[tuple[str, View | None]] = [("All three", None), *((VIEW_NAMES[view], view) for view in VIEWS)]
    return [Choice(name, replace(wanted, view=view).query(ply), view == wanted.view) for name, view in every]


def _beliefs(wanted: Wanted, ply: int) -> list[Choice]:
    """Return links to the beliefs of both sides: none, of any piece, of each kind."""
    kinds: list[tuple[Kind | None, str, str]] = [(None, "Off", ""), ("any", "All pieces", "")]
    for kind in get_args(Kind)[1:]:
        piece = chess.Piece.from_symbol(kind)
        kinds.append((kind, chess.UNICODE_PIECE_SYMBOLS[kind], chess.piece_name(piece.piece_type).title()))
    return [
        Choice(name, replace(wanted, belief=kind).query(ply), kind == wanted.belief, words)
        for kind, name, words in kinds
    ]


# --- Players ----------------------------------------------------------------------------------------------------------


def _side(look: Look, color: chess.Color, position: Position, names: Mapping[int, str]) -> Side:
    state = look.state
    player = state.player_white if color else state.player_black
    clock = state.clock
    pieces = _pieces(look, color, position)
    return Side(
        side_name(color),
        player,
        None if player is None else names[player],
        None if clock is None else clock.white if color else clock.black,
        not look.over and state.phase != "open" and side_of(state.turn) == color,
        "".join(chess.UNICODE_PIECE_SYMBOLS[piece] for piece in pieces),
        pieces_words(pieces),
    )


def _pieces(look: Look, color: chess.Color, position: Position) -> str:
    """Return the pieces that a side has in hand, or else has captured, as far as the visitor may know."""
    if look.variant.drops:
        pocket = position.fen.partition("[")[2].partition("]")[0]
        return "".join(sorted((each for each in pocket if each.isupper() == color), key="QRBNPqrbnp".index))
    if look.hides and (look.seat == color or sees_nothing(look)):
        return ""
    lost = captured(look.state.start_fen, position.fen, not color)
    return lost if color else lost.upper()


def pieces_words(pieces: str) -> str:
    """Return pieces in words, as in "1 queen, 2 pawns"."""
    kinds = dict.fromkeys(pieces.lower())
    counts = {chess.piece_name(chess.Piece.from_symbol(kind).piece_type): pieces.lower().count(kind) for kind in kinds}
    return ", ".join(f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items())


# --- Boards -----------------------------------------------------------------------------------------------------------


def _board(
    look: Look,
    recon: ReconReplay | None,
    wanted: Wanted,
    ply: int,
    view: View | None,
    position: Position,
    counts: Counts | None,
    *,
    alone: bool,
) -> BoardView:
    state, size = look.state, ALONE if alone else BESIDE
    shows_past = look.over or ply != state.ply_index
    side = side_of_view(view)
    belief = None if counts is None or side is None else wanted.belief
    known = counts.known_at(ply, side) if counts is not None and side is not None else None
    seen = Wanted(None, view if look.has_views or look.hides else None, wanted.flip, belief=belief)
    query = seen.query(ply if shows_past else None)
    title = (
        VIEW_NAMES[view or "truth"] if look.has_views else "Your view" if look.hides and look.seat is not None else ""
    )
    return BoardView(
        title,
        f"/games/{state.game_id}.svg{query}{'&' if query else '?'}size={size}",
        _board_words(look, ply, position, title),
        size,
        _observed(look, recon, ply, view),
        _known_words(counts, known, ply, side, wanted.belief),
        board_data(shaded(picture_of(look, ply, view, position), known, wanted.belief), flip=wanted.flip),
    )


def _board_words(look: Look, ply: int, position: Position, title: str) -> str:
    """Return a picture in words, for those who do not see it."""
    if sees_nothing(look):
        return "Board: hidden until the game is over"
    what = f"Board after ply {ply}" if ply else "Board at the start"
    move = f", last move {position.last_move}" if position.last_move and title in ("", VIEW_NAMES["truth"]) else ""
    return f"{what}{f', {title.lower()}' if title else ''}{move}"


def _observed(look: Look, recon: ReconReplay | None, ply: int, view: View | None) -> list[str]:
    if recon is not None:
        return [] if view in (None, "truth") else recon.observed(ply, view == "white")
    if not look.hides or look.seat is None or not look.variant.senses:
        return []
    state, sentences = look.state, list[str]()
    if isinstance(state.last_result, LastResult):
        result = state.last_result
        capture = None if result.capture_square is None else chess.parse_square(result.capture_square)
        sentences.append(observations.moved(result.requested_move, result.taken_move, capture))
    if side_of(state.turn) == look.seat and state.ply_index:
        capture = chess.parse_square(state.opponent_capture) if isinstance(state.opponent_capture, str) else None
        sentences.append(observations.lost(capture))
    if (sense := last_sense(look)) is not None:
        enemies = [(at, piece) for at, piece in sense.cells if piece is not None and piece.isupper() != look.seat]
        is_new = side_of(state.turn) == look.seat and state.phase == "move"
        sentences.insert(len(sentences) if is_new else 0, observations.sensed(sense.square, enemies))
    return sentences


def _known_words(
    counts: Counts | None, known: Known | None, ply: int, side: chess.Color | None, kind: Kind | None
) -> list[str]:
    """Return what a side could know, in sentences."""
    if counts is None or side is None or kind is None:
        return []
    if known is None:
        return [f"{side_name(side)}’s positions are not followed so far."]
    sentences = [believed(known.count, exact=known.exact)]
    if kind != "any":
        sentences.append(f"{side_name(not side)}’s {_plural(kind)}: {places_words(known.shares(kind))}.")
    turn = counts.turn(ply + 1)
    if turn is not None and turn.side == side and turn.hint is not None:
        sentences.append(f"The next sense left {number_words(turn.after)}.")
        tells_less = turn.left is None or turn.left > 1.05 * turn.hint.left
        best = hinted(turn.hint.square, turn.hint.left, known.count, exact=known.exact)
        sentences.append(best if tells_less else "No other would have told more on average.")
    return sentences


def _plural(kind: Kind) -> str:
    name = chess.piece_name(chess.Piece.from_symbol(kind).piece_type)
    return name if kind in "kq" else f"{name}s"


# --- Moves ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Moves:
    """A part of the list of moves, and the plies that lead to the parts before and after it."""

    rows: list[MoveRow]
    earlier: int | None = None
    later: int | None = None


def _moves(look: Look, ply: int) -> Generator[None, None, _Moves]:
    """Return the part of the list of moves that has a ply, in steps."""
    assert look.past is not None
    plies, offset = look.state.ply_index, 0 if begins(look.state.start_fen) else 1  # Black's first move: half a row
    at = max(0, ply - 1 + offset) // 2 // MOVES_A_PAGE * MOVES_A_PAGE
    first, end = max(1, 2 * at - offset + 1), min(plies, 2 * (at + MOVES_A_PAGE) - offset)
    names = yield from san_steps(look.past.pgn, end)
    cells: list[Cell | None] = [None] * (offset if at == 0 else 0)
    cells += [_cell(look.recon, number, names[number - 1], ply) for number in range(first, end + 1)]
    cells += [None] * (len(cells) % 2)
    number = first_number(look.state.start_fen) + at
    rows = [MoveRow(number + index, *pair) for index, pair in enumerate(zip(cells[::2], cells[1::2], strict=True))]
    return _Moves(rows, first - 1 if at else None, end + 1 if end < plies else None)


def _cell(recon: ReconReplay | None, number: int, san: str, ply: int) -> Cell:
    asked = recon.asked(number) if recon is not None and recon.asked_otherwise(number) else None
    text = san if san != "--" else "no move" if asked else "pass"
    return Cell(number, text, number == ply, asked or "")


def players_of(state: GameState) -> list[int]:
    """Return the players of a game."""
    return [player for player in (state.player_white, state.player_black) if player is not None]
